"""Reports of sites: which of two is the later one."""

from dataclasses import replace

import pytest

from fedbandit.wire.report import Report

EARLIER = Report(2, 1, 0.5, {"red": 1, "blue": 1}, {"rewards": 1})


@pytest.mark.parametrize(
    "later",
    [
        EARLIER,
        replace(EARLIER, decisions=3, arms={"red": 2, "blue": 1}),
        replace(EARLIER, decisions=3, arms={"red": 1, "blue": 1, "green": 1}),
        replace(EARLIER, rewards=2, reward_sum=-0.5, drift={"rewards": 1, "values": 1}),
    ],
)
def test_a_report_goes_on_from_one_whose_counts_are_not_greater(later):
    assert later.goes_on_from(EARLIER)


@pytest.mark.parametrize(
    "other",
    [
        replace(EARLIER, decisions=1),
        replace(EARLIER, rewards=0),
        replace(EARLIER, drift={}),
        replace(EARLIER, drift={"values": 1}),
        replace(EARLIER, arms={"red": 2}),
        replace(EARLIER, arms={"red": 0, "blue": 2}),
    ],
)
def test_it_does_not_where_any_count_is_less(other):
    assert not other.goes_on_from(EARLIER)
