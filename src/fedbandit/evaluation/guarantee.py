"""Intervals that hold whatever the rewards are, within bounds: empirical Bernstein (Maurer and Pontil 2009).

For n independent values of a range of width B with sample variance V, with probability 1 - delta,

    |mean - its expectation| <= sqrt(2 V ln(4 / delta) / n) + 7 B ln(4 / delta) / (3 (n - 1)).

Weights are at most W: a bound that is known of how choices were made, never the largest weight that was seen.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from fedbandit.core.arrays import Floats, Ints
from fedbandit.core.errors import InvalidInput
from fedbandit.evaluation.estimates import variance
from fedbandit.evaluation.terms import expected_by, terms_by

DELTA = 0.05


@dataclass(frozen=True)
class Guaranteed:
    """Intervals that hold the mean reward of the policy with probability 95 % at least, each by itself."""

    ips: tuple[float, float]
    dr: tuple[float, float]
    dr_rows: int  # the later half of the rows; the model is fitted on the others


def bernstein(values: Floats, width: float) -> tuple[float, float]:
    """Return the ends of the interval of the mean of values that lie in a range of a width."""
    count = len(values)
    spread = variance(count, float(values.sum()), float(values @ values))
    logarithm = math.log(4.0 / DELTA)
    half = math.sqrt(2.0 * spread * logarithm / count) + 7.0 * width * logarithm / (3.0 * (count - 1))
    return float(values.mean()) - half, float(values.mean()) + half


def guaranteed(
    vectors: Floats, choice: Ints, reward: Floats, weight: Floats, policy: Floats, rewards: tuple[float, float],
    largest: float,
) -> Guaranteed:  # fmt: skip
    """Return the intervals, for rewards between two ends and weights of at most `largest`.

    The model is fitted on the earlier half of the rows and looks at the later half, since terms that share a fit are
    not independent; what it expects is clipped to the range of rewards.
    """
    low, high = rewards
    _check(reward, weight, rewards, largest)
    later = np.arange(len(reward)) >= len(reward) // 2
    expected = np.clip(expected_by(vectors, choice, reward, ~later, later), low, high)
    terms = terms_by(expected, weight[later], choice[later], reward[later], policy[later])
    return Guaranteed(
        ips=bernstein(weight * reward, max(0.0, largest * high) - min(0.0, largest * low)),
        dr=bernstein(terms.doubly_robust, (high - low) * (1.0 + 2.0 * largest)),
        dr_rows=int(later.sum()),
    )


def _check(reward: Floats, weight: Floats, rewards: tuple[float, float], largest: float) -> None:
    low, high = rewards
    if not -math.inf < low < high < math.inf:
        raise InvalidInput(f"rewards {low:g} {high:g} are no range: give the least reward, then the largest")
    if reward.min() < low or reward.max() > high:
        raise InvalidInput(
            f"rewards of the log lie between {reward.min():g} and {reward.max():g}, but {low:g} {high:g} were given: "
            "give a range that holds all rewards that can be"
        )
    if not 0 < largest < math.inf:
        raise InvalidInput(f"largest_weight is {largest:g}: give a number above 0")
    if weight.max() > largest * (1 + 1e-9):
        raise InvalidInput(
            f"largest_weight is {largest:g}, but a row has the weight {weight.max():g}: give a bound that holds"
        )
