"""What is said where, and by whom."""

from __future__ import annotations

import pytest

from fedbandit.core.errors import InvalidInput
from fedbandit.transport.nats.subjects import SHARDS, Subjects

DEMO = Subjects("demo")


@pytest.mark.parametrize("site", [0, 1, SHARDS - 1, SHARDS, 12345])
def test_the_sender_is_read_from_the_subject(site):
    assert [DEMO.sender(each) for each in (DEMO.up(site), DEMO.ask(site), DEMO.report(site))] == [site] * 3


@pytest.mark.parametrize(
    "subject",
    [
        "fedbandit.demo.up.3.4",  # another shard than the site's
        "fedbandit.other.up.3.3",
        "fedbandit.demo.down.3",
        "fedbandit.demo.up.3.+3",
        "fedbandit.demo.up.3.03",
        "fedbandit.demo.up.3.³",
        "fedbandit.demo.ask.99999999999999999999",
        "fedbandit.demo.ask.",
        "",
    ],
)
def test_what_no_site_may_say_has_no_sender(subject):
    assert DEMO.sender(subject) is None


def test_every_site_has_a_stream():
    for clients in (1, 3, SHARDS, 100):
        streams = set(DEMO.streams(clients).values())
        assert {DEMO.up(site).rpartition(".")[0] + ".*" for site in range(clients)} == streams


@pytest.mark.parametrize("name", ["", "a.b", "a b", "a*", ">", "ä", "x" * 65])
def test_not_every_name_can_stand_in_a_subject(name):
    with pytest.raises(InvalidInput, match="cannot name a federation"):
        Subjects(name)
