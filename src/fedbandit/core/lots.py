"""The lot of a turn: how one arm is chosen from several whose chances are known.

The lot is u = Phi(z), z the first standard normal of the turn, so u is uniform between 0 and 1. The chosen arm is the
first, in arm order, whose cumulative sum of chances exceeds u. Kernels compile `lot_of` and `arm_by_lot` as they are.
"""

from __future__ import annotations

import math

import numpy as np

from fedbandit.core.arrays import Floats
from fedbandit.core.interfaces import Clients, Decided


def lot_of(normal: float) -> float:
    """Return the place of a standard normal in its distribution.

    >>> lot_of(0.0)
    0.5
    """
    return 0.5 * math.erfc(-normal / math.sqrt(2.0))


def arm_by_lot(chances: Floats, lot: float) -> int:
    """Return the first arm whose cumulative chance exceeds the lot; where rounding leaves none, the last possible one.

    >>> [arm_by_lot(np.array([0.25, 0.0, 0.5, 0.25, 0.0]), lot) for lot in (0.0, 0.25, 0.74, 1.0)]
    [0, 2, 2, 3]
    """
    total = 0.0
    last = 0
    for arm in range(chances.size):
        total += chances[arm]
        if total > lot:
            return arm
        if chances[arm] > 0.0:
            last = arm
    return last


def choices_by_lot(chances: Floats, normals: Floats) -> Decided:
    """Return what the lots of some turns choose from the chances (m, K) of their arms, and how likely that was.

    >>> choices_by_lot(np.array([[0.25, 0.75], [1.0, 0.0]]), np.zeros(2)).propensity
    array([0.75, 1.  ])
    """
    lots = map(lot_of, normals.tolist())
    choices = np.array([arm_by_lot(each, lot) for each, lot in zip(chances, lots, strict=True)], dtype=np.int64)
    return Decided(choices, chances[np.arange(len(choices)), choices])


def propensity_without_lot(side: Clients) -> float:
    """Return how likely a choice was where no lot is drawn: 1 without randomness, unknown (nan) after a sample.

    The probability that a sample prefers an arm has no closed form, and the inverse of an estimate of it is biased.
    """
    return math.nan if side.draws else 1.0
