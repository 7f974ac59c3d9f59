"""Inverse link functions of generalised linear models: the mean reward mu(z) of a margin z, and its slope.

The batched forms work on lanes of margins. They take the exponential apart so that every loop is element by element
on floats or on integers alone: 2^k r with k = round(x / log 2) and e^r from its Taylor polynomial (|r| < 0.35, degree
13, within two units in the last place). The processor's vector instructions then do it, and no library's `exp` decides
the last bit.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from fedbandit.core.arrays import Floats, Ints
from fedbandit.kernels.shared.compiled import compiled

LOGISTIC, IDENTITY, POISSON = 0, 1, 2
LANES = 64  # a fixed number, so that loops over it need no remainder
MARGIN, MEAN, SCRATCH = 0, 1, 2
LARGEST = 700.0  # beyond it e^x leaves the range of a float
_PER_LOG2 = 1.4426950408889634
_LOG2_HIGH, _LOG2_LOW = 6.93145751953125e-1, 1.42860682030941723212e-6
_TO_INTEGER = 6755399441055744.0  # 1.5 * 2^52: adding it leaves the rounded number in the lowest bits


@compiled
def mean(link: int, margin: float) -> float:
    """Return mu(z): 1 / (1 + e^-z), z, or e^z."""
    if link == LOGISTIC:
        if margin >= 0.0:
            return 1.0 / (1.0 + math.exp(-margin))
        tail = math.exp(margin)
        return tail / (1.0 + tail)
    return margin if link == IDENTITY else math.exp(min(margin, LARGEST))


@compiled
def slope(link: int, mean_reward: float) -> float:
    """Return mu'(z), given mu(z)."""
    if link == LOGISTIC:
        return mean_reward * (1.0 - mean_reward)
    return 1.0 if link == IDENTITY else mean_reward


class Lanes(NamedTuple):
    """Working space for LANES margins side by side; `bits` is the same memory, read as integers."""

    numbers: Floats  # (3, LANES): margins, means, and a row of scratch
    bits: Ints


@compiled
def lanes() -> Lanes:
    """Return working space."""
    numbers = np.zeros((3, LANES))
    return Lanes(numbers, numbers.view(np.int64))


@compiled
def means(link: int, work: Lanes) -> None:
    """Write mu(z) of the margins to the row of means."""
    margin, value, power = work.numbers[MARGIN], work.numbers[MEAN], work.numbers[SCRATCH]
    value_bits, power_bits = work.bits[MEAN], work.bits[SCRATCH]
    if link == IDENTITY:
        value[:] = margin
        return
    if link == LOGISTIC:
        for s in range(LANES):  # e^-|z| cannot overflow
            value[s] = -min(LARGEST, abs(margin[s]))
    else:
        for s in range(LANES):
            value[s] = max(-LARGEST, min(LARGEST, margin[s]))
    for s in range(LANES):
        power[s] = value[s] * _PER_LOG2 + _TO_INTEGER
    for s in range(LANES):
        k = power[s] - _TO_INTEGER
        r = (value[s] - k * _LOG2_HIGH) - k * _LOG2_LOW
        total = 1.6059043836821613e-10  # 1 / 13!, and so on down to 1 / 0!
        total = total * r + 2.08767569878681e-09
        total = total * r + 2.505210838544172e-08
        total = total * r + 2.755731922398589e-07
        total = total * r + 2.7557319223985893e-06
        total = total * r + 2.48015873015873e-05
        total = total * r + 1.984126984126984e-04
        total = total * r + 1.388888888888889e-03
        total = total * r + 8.333333333333333e-03
        total = total * r + 4.1666666666666664e-02
        total = total * r + 1.6666666666666666e-01
        total = total * r + 0.5
        total = total * r + 1.0
        value[s] = total * r + 1.0
    for s in range(LANES):
        value_bits[s] += power_bits[s] << 52  # times 2^k
    if link == LOGISTIC:
        for s in range(LANES):
            tail = value[s]
            above = 1.0 / (1.0 + tail)
            value[s] = above if margin[s] >= 0.0 else tail * above
