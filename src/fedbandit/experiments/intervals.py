"""How sure a difference is: paired over seeds, with a 95 % interval.

Runs of one seed share their world: parameters, arms, noise and who arrives when. So two series are compared seed by
seed, and what all runs of a seed have in common (a hard world, a lucky one) cancels. The interval of a mean difference
is Student's, mean ± t(0.975, n - 1) s / sqrt(n) over the n seeds: seeds are few, and their deviation s is itself only
estimated. Pairing is right also where two worlds differ, since differences of distinct seeds are independent.
What is no mean, such as a cost at equal regret, has the jackknife's error: the estimate is made again without each
seed in turn, in all series at once.

One seed has no interval: its difference is taken as it is, and the evidence says so.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from enum import StrEnum
from functools import cache
from typing import NamedTuple

import numpy as np

from fedbandit.core.arrays import Floats, Ints

CONFIDENCE = 0.95


def plain(value: float, digits: int = 4, sign: str = "") -> str:
    """Return a number with so many digits that matter, and never as a power of ten because it is large.

    >>> plain(1234567.8), plain(0.123456), plain(178.0, 2, "+")
    ('1,234,568', '0.1235', '+178')
    """
    return f"{value:{sign},.0f}" if 10**digits <= abs(value) < math.inf else f"{value:{sign}.{digits}g}"


class Part(StrEnum):
    """What one comparison says of a claim."""

    HOLDS = "holds"
    LEVEL = "level"
    FAILS = "does not hold"


class Difference(NamedTuple):
    """A difference, half the width of its interval, and the number of seeds it is from (none: nothing to compare)."""

    value: float
    margin: float
    seeds: int

    def below_zero(self, or_equal: bool = False) -> Part:
        """Return whether the difference is below zero: its whole interval is, none of it is, or it cannot be told.

        >>> Difference(-3.0, 1.0, 10).below_zero(), Difference(-3.0, 4.0, 10).below_zero()
        (<Part.HOLDS: 'holds'>, <Part.LEVEL: 'level'>)
        """
        high = self.value + self.margin
        if high < 0 or (or_equal and high == 0):
            return Part.HOLDS
        return Part.FAILS if self.value - self.margin > 0 else Part.LEVEL

    def turned(self) -> Difference:
        """Return the difference the other way round."""
        return self._replace(value=-self.value)

    def shown(self) -> str:
        """Return the difference as it stands in the evidence.

        >>> Difference(2.345, 0.5, 10).shown(), Difference(2.345, 0.0, 1).shown()
        ('+2.345 ± 0.5', '+2.345')
        """
        return plain(self.value, sign="+") + (f" ± {plain(self.margin, 2)}" if self.seeds > 1 else "")


NOTHING = Difference(math.nan, math.nan, 0)


def paired(ours: Floats, theirs: Floats) -> Difference:
    """Return the mean of ours - theirs over the seeds that both know, with its interval.

    >>> paired(np.array([1.0, 2.0, 3.0]), np.array([2.0, 3.0, 4.0]))
    Difference(value=-1.0, margin=0.0, seeds=3)
    """
    shared = min(len(ours), len(theirs))
    differences = ours[:shared] - theirs[:shared]
    differences = differences[np.isfinite(differences)]
    seeds = len(differences)
    if seeds == 0:
        return NOTHING
    error = float(differences.std(ddof=1)) / math.sqrt(seeds) if seeds > 1 else 0.0
    return Difference(float(differences.mean()), _student(seeds) * error, seeds)


def jackknifed(estimate: Callable[[Ints], Floats], seeds: int) -> list[Difference]:
    """Return estimates from all seeds, each with an interval of the jackknife's error.

    `estimate` is given the numbers of the seeds to use. An estimate that cannot be made without some seed has an
    endless interval.
    """
    everyone = np.arange(seeds)
    whole = estimate(everyone)
    margins = np.zeros(len(whole))
    if seeds > 1:
        without = np.array([estimate(np.delete(everyone, seed)) for seed in everyone])
        error = np.sqrt((seeds - 1) / seeds * ((without - without.mean(axis=0)) ** 2).sum(axis=0))
        margins = np.where(np.isfinite(error), _student(seeds) * error, np.inf)
    return [Difference(float(value), float(margin), seeds) for value, margin in zip(whole, margins, strict=True)]


@cache
def _student(seeds: int) -> float:
    """Return how many standard errors the interval of a mean over so many seeds reaches to either side."""
    if seeds < 2:
        return 0.0
    from scipy.special import stdtrit  # only judging pays for the import

    return float(stdtrit(seeds - 1, 0.5 + CONFIDENCE / 2))
