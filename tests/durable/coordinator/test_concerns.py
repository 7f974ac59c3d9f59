"""What calls for attention: the federation's concerns first, then those of each site, by name."""

from fedbandit.durable.coordinator.concerns import Concerns


def test_concerns_come_in_the_order_of_their_sites():
    concerns = Concerns()
    for site, kind in ((10, "a"), (2, "b"), (None, "c"), (2, "a"), (0, "z"), (None, "b")):
        concerns.note(kind, "look at it", now=1.0, site=site)
    assert [(each.site, each.kind) for each in concerns] == [
        (None, "b"), (None, "c"), (0, "z"), (2, "a"), (2, "b"), (10, "a"),
    ]  # fmt: skip


def test_a_concern_lasts_from_when_it_was_last_noticed():
    concerns = Concerns()
    for now in (0.0, 5.0):
        concerns.note("a", "look at it", now, lasts=10.0)
    concerns.tidy(15.0)
    assert [each.since for each in concerns] == [0.0]
    concerns.tidy(15.1)
    assert not list(concerns)
