"""What calls for attention: raised when the numbers say so, cleared when it is over, and told once each."""

from __future__ import annotations

import pytest

from fedbandit.durable.coordinator.concerns import Concerns
from fedbandit.durable.coordinator.outcome import Outcome, Verdict
from fedbandit.service.status.watch import Watch

ACCEPTED = Verdict(Outcome.ACCEPTED)
REFUSED = Verdict(Outcome.REFUSED, "gram is -1")
PUT_OFF = Verdict(Outcome.NOT_YET, "upload 9 is ahead of 3")


def kinds(watch):
    return [(each.kind, each.site) for each in watch.concerns]


def test_a_refused_upload_is_a_concern_for_an_hour_though_others_are_accepted():
    watch = Watch()
    watch.uploaded(4, REFUSED, now=10.0)
    watch.uploaded(4, ACCEPTED, now=11.0)
    watch.uploaded(4, REFUSED, now=100.0)
    watch.look({}, now=100.0 + 3600.0)
    (concern,) = watch.concerns
    assert (concern.kind, concern.site, concern.since) == ("uploads-refused", 4, 10.0)
    assert (
        concern.text
        == "an upload of site 4 was refused, and what it told is lost; see what this site sends: gram is -1"
    )
    watch.look({}, now=101.0 + 3600.0)
    assert kinds(watch) == []


def test_uploads_that_must_wait_for_more_than_a_minute_are_a_concern_until_one_is_accepted():
    watch = Watch()
    for second in (0, 30, 60):
        watch.uploaded(4, PUT_OFF, now=float(second))
    assert kinds(watch) == []
    watch.uploaded(4, PUT_OFF, now=61.0)
    assert kinds(watch) == [("uploads-put-off", 4)]
    watch.uploaded(5, ACCEPTED, now=62.0)
    assert kinds(watch) == [("uploads-put-off", 4)]
    watch.uploaded(4, ACCEPTED, now=63.0)
    assert kinds(watch) == []


def test_uploads_that_must_wait_now_and_then_and_are_accepted_in_between_are_no_concern():
    watch = Watch()
    for second in range(1000):
        watch.uploaded(4, ACCEPTED if second % 50 == 49 else PUT_OFF, now=float(second))
        assert kinds(watch) == []


def test_a_site_that_gave_up_sending_what_must_wait_is_no_concern_after_an_hour():
    watch = Watch()
    watch.uploaded(4, PUT_OFF, now=0.0)
    watch.uploaded(4, PUT_OFF, now=100.0)
    watch.look({}, now=100.0 + 3600.0)
    assert kinds(watch) == [("uploads-put-off", 4)]
    watch.look({}, now=101.0 + 3600.0)
    assert kinds(watch) == []


def test_a_large_backlog_is_a_concern_until_it_is_not():
    watch = Watch()
    watch.waiting(4, 999, now=1.0)
    assert kinds(watch) == []
    watch.waiting(4, 1000, now=2.0)
    assert kinds(watch) == [("backlog", 4)]
    watch.waiting(4, 999, now=3.0)
    assert kinds(watch) == []
    assert (watch.backlog(4), watch.backlog(5)) == (999, None)


def test_a_backlog_that_grows_with_every_question_is_a_concern_until_it_shrinks():
    watch = Watch()
    for question in range(5):
        watch.waiting(4, 30 + question, now=float(question))
    assert kinds(watch) == []
    watch.waiting(4, 60, now=9.0)
    assert kinds(watch) == [("backlog", 4)]
    assert "has 60 uploads that are not acknowledged, more with every question" in next(iter(watch.concerns)).text
    watch.waiting(4, 61, now=10.0)
    assert kinds(watch) == [("backlog", 4)]
    watch.waiting(4, 61, now=11.0)
    assert kinds(watch) == []


def test_a_few_uploads_more_with_every_question_are_how_a_busy_site_works():
    watch = Watch()
    for uploads in range(20):
        watch.waiting(4, uploads, now=float(uploads))
    assert kinds(watch) == []
    watch.waiting(4, 20, now=20.0)
    assert kinds(watch) == [("backlog", 4)]


@pytest.mark.parametrize(
    ("observations", "heaviest"),
    [
        ({0: 9900, 1: 90, 2: 110}, 0),
        ({0: 10, 1: 10, 2: 10, 3: 2000, 4: 10}, 3),
        ({0: 1100, 1: 100}, 0),
        ({0: 1001, 1: 0}, 0),
        ({0: 998, 1: 1, 2: 1}, 0),
        ({0: 997, 1: 1, 2: 1}, None),
        ({0: 1000}, None),
        ({0: 1000, 1: 1000}, None),
        ({0: 1000, 1: 100}, None),
        ({0: 1001, 1: 100}, 0),
        ({0: 4400, 1: 4500, 2: 100, 3: 100, 4: 100}, None),
        ({0: 5000, 1: 1000, 2: 1000, 3: 1000}, None),
        ({0: 5000, 1: 4000, 2: 1, 3: 1, 4: 1}, 0),
        ({0: 4000, 1: 5000, 2: 1000, 3: 1}, None),
        ({}, None),
    ],
)
def test_a_site_outweighs_the_others_with_over_half_of_all_and_ten_times_their_median(observations, heaviest):
    watch = Watch()
    assert watch.share(0) is None
    watch.look(observations, now=1.0)
    assert kinds(watch) == ([] if heaviest is None else [("one-site-outweighs", heaviest)])


def test_a_site_that_no_longer_outweighs_the_others_is_no_concern():
    watch = Watch()
    watch.look({0: 5000, 1: 90, 2: 110}, now=1.0)
    assert "site 0 made 96% of all 5200 observations" in next(iter(watch.concerns)).text
    watch.look({0: 5000, 1: 6000, 2: 7000, 3: 0, 4: -5}, now=2.0)
    assert kinds(watch) == []
    assert [watch.share(site) for site in range(6)] == [5 / 18, 6 / 18, 7 / 18, 0.0, 0.0, 0.0]


def test_each_concern_is_told_once_when_it_is_raised_and_once_when_it_is_over():
    concerns = Concerns()
    watch = Watch(concerns)
    concerns.note("broker-cannot-store", "the broker is away", now=1.0)
    watch.uploaded(4, REFUSED, now=2.0)
    assert [(each.concern.kind, each.is_over) for each in watch.changes()] == [
        ("broker-cannot-store", False), ("uploads-refused", False),
    ]  # fmt: skip
    watch.uploaded(4, REFUSED, now=3.0)
    assert watch.changes() == []
    concerns.clear("broker-cannot-store")
    assert [(each.concern.text, each.is_over) for each in watch.changes()] == [("the broker is away", True)]
    assert watch.changes() == []
