"""Intervals of paired differences, against the statistics written out."""

import math

import numpy as np
import pytest
from scipy import stats

from fedbandit.experiments.intervals import Difference, Part, jackknifed, paired

RNG = np.random.default_rng(5)


@pytest.mark.parametrize("seeds", [2, 3, 5, 10, 30])
def test_the_interval_is_student_s_of_the_differences_written_out(seeds):
    world = RNG.normal(scale=100.0, size=seeds)
    ours, theirs = world + RNG.normal(3.0, 1.0, seeds), world + RNG.normal(2.0, 1.0, seeds)
    differences = [a - b for a, b in zip(ours, theirs, strict=True)]
    mean = sum(differences) / seeds
    variance = sum((each - mean) ** 2 for each in differences) / (seeds - 1)
    margin = stats.t.ppf(0.975, seeds - 1) * math.sqrt(variance / seeds)
    found = paired(ours, theirs)
    assert found == pytest.approx((mean, margin, seeds), rel=1e-9)
    low, high = stats.ttest_rel(ours, theirs).confidence_interval(0.95)
    assert (found.value - found.margin, found.value + found.margin) == pytest.approx((low, high), rel=1e-9)


def test_what_runs_of_a_seed_have_in_common_cancels():
    worlds, own = np.array([0.0, 1000.0, 5000.0]), np.array([1.0, 1.1, 0.9])
    assert paired(worlds + own, worlds).below_zero() is Part.FAILS
    shuffled = worlds[::-1]
    assert paired(worlds + own, shuffled).below_zero() is Part.LEVEL


def test_the_interval_has_the_true_difference_in_it_95_times_of_100():
    covered = sum(
        abs(found.value - 1.0) <= found.margin
        for found in (paired(RNG.normal(1.0, 1.0, 4), np.zeros(4)) for _ in range(2000))
    )
    assert 0.935 <= covered / 2000 <= 0.965


@pytest.mark.parametrize(
    ("ours", "theirs", "difference"),
    [
        ([1.0, 2.0], [1.0, 2.0], Difference(0.0, 0.0, 2)),
        ([1.0, 2.0], [2.0, 3.0], Difference(-1.0, 0.0, 2)),
        ([1.0], [3.0], Difference(-2.0, 0.0, 1)),
        ([1.0, math.nan, 3.0], [2.0, 5.0, 4.0], Difference(-1.0, 0.0, 2)),
        ([1.0, 2.0, 9.0], [2.0, 3.0], Difference(-1.0, 0.0, 2)),
    ],
    ids=["identical runs", "no variance", "one seed", "a seed that one does not know", "seeds that one does not have"],
)
def test_only_what_both_know_is_compared(ours, theirs, difference):
    assert paired(np.array(ours), np.array(theirs)) == difference


@pytest.mark.parametrize(("ours", "theirs"), [([], []), ([math.nan, 1.0], [1.0, math.nan]), ([math.inf], [1.0])])
def test_where_no_seed_is_known_to_both_there_is_nothing_to_compare(ours, theirs):
    assert paired(np.array(ours), np.array(theirs)).seeds == 0


@pytest.mark.parametrize(
    ("difference", "part", "part_or_equal"),
    [
        (Difference(-2.0, 1.0, 5), Part.HOLDS, Part.HOLDS),
        (Difference(2.0, 1.0, 5), Part.FAILS, Part.FAILS),
        (Difference(-1.0, 1.5, 5), Part.LEVEL, Part.LEVEL),
        (Difference(1.0, 1.5, 5), Part.LEVEL, Part.LEVEL),
        (Difference(0.0, 0.0, 5), Part.LEVEL, Part.HOLDS),
        (Difference(-1.0, math.inf, 5), Part.LEVEL, Part.LEVEL),
    ],
)
def test_a_difference_is_below_zero_where_its_whole_interval_is(difference, part, part_or_equal):
    assert difference.below_zero() is part
    assert difference.below_zero(or_equal=True) is part_or_equal
    turned = {Part.HOLDS: Part.FAILS, Part.FAILS: Part.HOLDS, Part.LEVEL: Part.LEVEL}
    assert difference.turned().below_zero() is turned[part]


def test_of_a_mean_the_jackknife_gives_student_s_interval():
    values = RNG.normal(size=7)
    (found,) = jackknifed(lambda seeds: np.array([values[seeds].mean()]), 7)
    assert found == pytest.approx(paired(values, np.zeros(7)), rel=1e-9)


def test_of_a_ratio_the_jackknife_is_the_one_written_out():
    above, below = RNG.normal(10, 1, 6), RNG.normal(5, 1, 6)
    without = [np.delete(above, k).mean() / np.delete(below, k).mean() for k in range(6)]
    middle = sum(without) / 6
    error = math.sqrt(5 / 6 * sum((each - middle) ** 2 for each in without))
    (found,) = jackknifed(lambda seeds: np.array([above[seeds].mean() / below[seeds].mean()]), 6)
    assert found == pytest.approx((above.mean() / below.mean(), stats.t.ppf(0.975, 5) * error, 6), rel=1e-9)


def test_an_estimate_that_needs_a_seed_has_an_endless_interval():
    found = jackknifed(lambda seeds: np.array([1.0 if 2 in seeds else math.nan]), 3)
    assert found == [Difference(1.0, math.inf, 3)]


def test_one_seed_has_no_interval():
    assert jackknifed(lambda seeds: np.array([4.0 + len(seeds)]), 1) == [Difference(5.0, 0.0, 1)]
    assert Difference(5.0, 0.0, 1).shown() == "+5"
