"""Whether sums are plausible, in one look: most uploads are, and whoever takes them in looks at each."""

from __future__ import annotations

import math

import numpy as np

from fedbandit.core.arrays import Floats
from fedbandit.kernels.linear.ridge import factorise, trace_of
from fedbandit.kernels.shared.cholesky import backward, forward
from fedbandit.kernels.shared.compiled import compiled

TINY = float(np.finfo(np.float64).tiny)
ENOUGH, MOST_STEPS = 1e-12, 100  # how near the search comes, and after how many steps it ends in any case


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
def excess_of(
    gram: Floats, moment: Floats, observations: int, context: float, reward: float, slack: float
) -> float:  # fmt: skip
    """Return by how many observations (dV, db), with dV positive semi-definite, are beyond what so many can have.

    That is the most by which a rule of `Bounds.check_sums` is broken, in observations of length L: the trace by so many
    times L^2, the moment by so many times L R, or the two fit each other only with so many times L^2 added.

    >>> round(excess_of(1.5 * np.eye(2), np.zeros(2), 2, 1.0, 1.0, 1e-9), 6)
    1.0
    """
    trace, most = trace_of(gram), observations * (1.0 + slack)
    length = math.sqrt((moment * moment).sum())
    found = max(0.0, trace / context**2 - most, length / context / reward - most)
    if observations > 0 and math.isfinite(context) and math.isfinite(reward):
        lift = _missing(gram, moment / (reward * math.sqrt(observations)), slack * max(trace, TINY))
        found = max(found, lift / context**2)
    return found


@compiled
def _missing(gram: Floats, vector: Floats, least: float) -> float:
    """Return the m with which A + m I - v v^T is positive semi-definite and no more; 0 if `least` is enough.

    It solves h(m) = v^T (A + m I)^-1 v = 1. Since 1 / h is concave and rises, Newton's steps come near from below.
    """
    size = vector.size
    upper, solved = np.empty((size, size)), np.empty(size)
    lift = least
    for _ in range(MOST_STEPS):
        if math.isnan(factorise(gram, lift, upper)):
            return math.nan
        solved[:] = vector
        forward(upper, size, solved)
        height = (solved * solved).sum()
        if height <= 1.0 + ENOUGH:
            break
        backward(upper, size, solved)
        lift += (height * height - height) / (solved * solved).sum()
    return lift if lift > least else 0.0
