"""Real numbers as whole ones modulo 2^64, so that a mask hides them perfectly and sums of them are exact.

A number is clipped, multiplied by 2^24 and rounded. Multiples of 2^-24 whose sum is below 2^29 come back as they were.
"""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from fedbandit.core.arrays import Floats

Words: TypeAlias = NDArray[np.uint64]

FRACTION = 24  # bits after the point
_UNIT = 2.0**FRACTION


def largest(clients: int) -> float:
    """Return how far from zero a number of one of so many clients may be; the sum of all then fits into the ring.

    >>> largest(clients=4) == 2.0**36
    True
    """
    return 2.0 ** (62 - FRACTION) / clients


def to_ring(values: Floats, clients: int) -> Words:
    """Return numbers as words: those farther from zero than fits are clipped, all are rounded to multiples of 2^-24.

    >>> to_ring(np.array([0.5, -1.0]), clients=3).tolist() == [2**23, 2**64 - 2**24]
    True
    """
    most = largest(clients)
    whole: Words = np.rint(np.clip(values, -most, most) * _UNIT).astype(np.int64).view(np.uint64)
    return whole


def from_ring(words: Words) -> Floats:
    """Return the numbers that a sum of words stands for.

    >>> from_ring(to_ring(np.array([0.5]), clients=3) + to_ring(np.array([-1.25]), clients=3))
    array([-0.75])
    """
    return words.view(np.int64).astype(np.float64) / _UNIT
