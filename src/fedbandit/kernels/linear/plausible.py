"""Whether sums are plausible, in one look: most uploads are, and whoever takes them in looks at each."""

from __future__ import annotations

import math

import numpy as np

from fedbandit.core.arrays import Floats
from fedbandit.kernels.linear.ridge import factorise
from fedbandit.kernels.shared.compiled import compiled


@compiled
def are_plausible(
    gram: Floats, moment: Floats, observations: int, context: float, reward: float, slack: float
) -> bool:  # fmt: skip
    """Tell whether (dV, db) keep all that `Bounds.check_sums` asks of the sums over so many observations.

    What is not plausible here may still be, by a hair: it is for `Bounds.check_sums` to say, and why not.
    """
    size = moment.size
    trace, square = 0.0, 0.0
    for i in range(size):
        trace += gram[i, i]
        square += moment[i] * moment[i]
        for j in range(i):
            if gram[i, j] != gram[j, i]:
                return False
    most = observations * context * (1.0 + slack)
    if observations < 1 or not trace <= most * context or not math.sqrt(square) <= most * reward:
        return False
    rest = np.empty((size, size))
    scale = 1.0 / (observations * reward * reward)
    for i in range(size):
        weight = moment[i] * scale
        for j in range(i, size):
            rest[i, j] = gram[i, j] - weight * moment[j]
    return not math.isnan(factorise(rest, slack * trace, rest))


@compiled
def trace_of(matrix: Floats) -> float:
    """Return the trace.

    >>> trace_of(np.eye(3))
    3.0
    """
    total = 0.0
    for i in range(matrix.shape[0]):
        total += matrix[i, i]
    return total
