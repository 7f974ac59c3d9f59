"""Two groups of decisions compared at any time: literal terms, and how often the interval is ever wrong."""

from __future__ import annotations

import numpy as np
import pytest

from fedbandit.logs.comparison import FEWEST, LEVEL, TUNED_FOR, Comparison


def literal(groups, rewards, share):
    """The terms as they are written, with the mean of all rewards before each; their mean and interval."""
    means = np.concatenate([[0.0], np.cumsum(rewards)[:-1] / np.arange(1, len(rewards))])
    terms = (rewards - means) * np.where(groups, -1 / share, 1 / (1 - share))
    count, rho = len(terms), np.sqrt((-2 * np.log(LEVEL) + np.log(-2 * np.log(LEVEL)) + 1) / TUNED_FOR)
    grown = count * rho**2 + 1
    width = terms.std(ddof=1) * np.sqrt(2 * grown / (count**2 * rho**2) * np.log(np.sqrt(grown) / LEVEL))
    return terms.mean(), terms.mean() - width, terms.mean() + width


@pytest.mark.parametrize("share", [0.1, 0.5])
def test_terms_and_interval_are_those_that_are_written(share):
    rng = np.random.default_rng(3)
    groups, rewards = rng.random(900) < share, rng.normal(2.0, 1.0, 900)
    comparison = Comparison(share)
    for group, reward in zip(groups.tolist(), rewards.tolist(), strict=True):
        comparison.add(group, reward)
    assert (comparison.difference, *comparison.interval) == pytest.approx(literal(groups, rewards, share), rel=1e-9)


def test_nothing_is_told_of_few_rewards():
    comparison = Comparison(0.5)
    assert np.isnan(comparison.difference)
    for row in range(2 * FEWEST - 1):
        comparison.add(row % 2 == 0, float(row % 7))
    assert comparison.interval == (-np.inf, np.inf)
    comparison.add(False, 1.0)
    assert np.isfinite(comparison.interval).all()


def ever_outside(rng, share, difference, rows):
    """Whether the truth was ever outside of the interval in a run with rewards of 0 and 1, looked at after each."""
    groups = rng.random(rows) < share
    rewards = (rng.random(rows) < np.where(groups, 0.3, 0.3 + difference)).astype(float)
    comparison = Comparison(share)
    for group, reward in zip(groups.tolist(), rewards.tolist(), strict=True):
        comparison.add(group, reward)
        low, high = comparison.interval
        if not low <= difference <= high:
            return True
    return False


@pytest.mark.parametrize(("share", "difference"), [(0.5, 0.0), (0.1, 0.0), (0.2, 0.3)])
def test_the_truth_is_hardly_ever_outside_however_often_one_looks(share, difference):
    rng = np.random.default_rng(11)
    outside = sum(ever_outside(rng, share, difference, rows=1500) for _ in range(100))
    assert outside <= 9  # 5 are expected at most, in all times to come; 9 is two deviations more


def test_a_difference_is_found():
    rng = np.random.default_rng(5)
    comparison = Comparison(0.3)
    for _ in range(3000):
        is_control = bool(rng.random() < 0.3)
        comparison.add(is_control, float(rng.random() < (0.3 if is_control else 0.5)))
    low, high = comparison.interval
    assert 0 < low < 0.2 < high < 0.4
