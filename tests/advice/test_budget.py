"""Budgets as people write them."""

import pytest

import fedbandit as fb
from fedbandit.advice.budget import bytes_a_day


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("10 MB/day", 1e7),
        ("1.5 kB/hour", 36_000),
        ("7GB / week", 1e9),
        ("500 B/day", 500),
        (".5 MB/day", 5e5),
        (12, 12),
    ],
)
def test_a_budget_is_bytes_a_day(text, wanted):
    assert bytes_a_day(text) == pytest.approx(wanted)


@pytest.mark.parametrize(
    "text", ["", "10", "10 MB", "MB/day", "-1 MB/day", "10 MiB/day", "10 Mb/day", "1e6 B/day", None, True]
)
def test_anything_else_is_refused_with_an_example(text):
    with pytest.raises(fb.InvalidInput, match=r"cannot be read: write a number with B, kB, MB or .* as in '10 MB/day'"):
        bytes_a_day(text)


@pytest.mark.parametrize("text", ["0 MB/day", 0, -3, float("inf"), float("nan")])
def test_a_budget_is_greater_than_nothing(text):
    with pytest.raises(fb.InvalidInput, match="is not greater than 0"):
        bytes_a_day(text)
