"""Counts over time: nothing is lost within a span, and memory stays bounded."""

from __future__ import annotations

import pytest

from fedbandit.service.status.history import SPANS, WIDTHS, History


@pytest.mark.parametrize("span", SPANS)
def test_every_span_holds_all_that_happened_in_it(span):
    history = History()
    for second in range(600):
        history.add(10_000_000.0 + second, "uploads")
    assert sum(bucket["sums"]["uploads"] for bucket in history.buckets(10_000_599.0, span)) == 600


def test_what_is_older_than_the_span_is_not_shown():
    history = History()
    history.add(0.0, "uploads")
    history.add(10_000.0, "uploads")
    assert [bucket["at"] for bucket in history.buckets(10_001.0, 600)] == [10_000]
    assert sum(bucket["sums"]["uploads"] for bucket in history.buckets(10_001.0, 86_400)) == 2


def test_buckets_begin_at_multiples_of_their_width_in_order():
    history = History()
    for second in range(0, 20_000, 37):
        history.add(float(second), "uploads")
    for span, width in WIDTHS.items():
        begins = [bucket["at"] for bucket in history.buckets(20_000.0, span)]
        assert begins == sorted(set(begins))
        assert all(begin % width == 0 for begin in begins)


def test_memory_does_not_grow_with_time():
    history = History()
    for day in range(100):
        for minute in range(0, 1440, 5):
            history.add(day * 86_400.0 + minute * 60.0, "uploads")
    for span in SPANS:
        assert len(history.rings[span]) <= span // WIDTHS[span] + 1


def test_a_clock_that_goes_back_loses_nothing():
    history = History()
    history.add(1000.0, "uploads")
    history.add(900.0, "uploads")
    assert history.buckets(1000.0, 600) == [{"at": 1000, "sums": {"uploads": 2.0}}]


def test_sums_stop_before_they_are_no_numbers():
    history = History()
    for amount in (1.7e308, 1.7e308, float("inf")):
        history.add(1000.0, "rewards", amount)
        history.add(1000.0, "losses", -amount)
    history.add(2000.0, "rewards")
    assert history.buckets(1001.0, 7200)[0]["sums"] == {"rewards": 1e300, "losses": -1e300}


def test_the_spans_that_can_be_chosen():
    assert WIDTHS == {600: 5, 7200: 60, 86400: 720, 2592000: 21600}
