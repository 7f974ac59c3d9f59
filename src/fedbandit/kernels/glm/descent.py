"""L-BFGS on a sum whose gradients come from afar: no function values, one gradient at a time.

The objective is a sum of logistic losses plus ridge/2 |theta|^2. Of its Hessian a bound is known before any gradient:
B = sum z z^T / 4 + ridge I. It serves twice. It is the first approximation of the Hessian (scaled by the latest
pair, as L-BFGS scales the identity). And it certifies a step s without function values: let the derivative along s be
-fall at its beginning and rise at its end. The derivative grows at a rate of at most M = s^T B s; the worst that
can happen between is that it climbs at that rate at once and stays, and then the objective has fallen iff
2 rise M < (fall + rise)^2. A step that is not certain is cut, by the secant of the derivative.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from fedbandit.core.arrays import Floats, Ints
from fedbandit.kernels.linear.ridge import dot, invert, multiply
from fedbandit.kernels.shared.compiled import compiled

PAIRS = 10  # steps that the memory holds
MOST_EVALUATIONS = 300  # then the best place so far is the answer, however good
TOLERANCE = 1e-13  # of the gradient, relative to its natural scale: the sum of |z|


class Search(NamedTuple):
    """Where a minimisation stands; its memory outlives it and warms up the next."""

    point: Floats  # (d,) the best place so far
    slope: Floats  # (d,) the gradient there
    trial: Floats  # (d,) where the gradient is asked for next, and in the end the answer
    steps: Floats  # (PAIRS, d) the latest steps
    changes: Floats  # (PAIRS, d) how the gradient changed over them
    products: Floats  # (PAIRS,) step . change
    bound: Floats  # (d, d) B
    bound_inverse: Floats  # (d, d)
    smallest: Floats  # (1,) a gradient of this norm ends the minimisation
    pairs: Ints  # (1,) pairs ever written; the latest PAIRS of them are kept
    evaluations: Ints  # (1,) gradients seen in this minimisation


def new_search(dimension: int) -> Search:
    """Return a search that stands at zero and remembers nothing.

    >>> new_search(2).trial
    array([0., 0.])
    """
    return Search(
        point=np.zeros(dimension),
        slope=np.zeros(dimension),
        trial=np.zeros(dimension),
        steps=np.zeros((PAIRS, dimension)),
        changes=np.zeros((PAIRS, dimension)),
        products=np.zeros(PAIRS),
        bound=np.zeros((dimension, dimension)),
        bound_inverse=np.zeros((dimension, dimension)),
        smallest=np.zeros(1),
        pairs=np.zeros(1, dtype=np.int64),
        evaluations=np.zeros(1, dtype=np.int64),
    )


@compiled
def begin(search: Search, gram: Floats, duels: int, ridge: float) -> None:
    """Begin a minimisation at `search.trial`, over duels whose sum z z^T is `gram`."""
    size = gram.shape[0]
    upper, lower = np.empty((size, size)), np.empty((size, size))
    trace = 0.0
    for i in range(size):
        trace += gram[i, i]
        for j in range(size):
            search.bound[i, j] = 0.25 * gram[i, j]
    invert(search.bound, ridge, search.bound_inverse, upper, lower)
    for i in range(size):
        search.bound[i, i] += ridge
    search.smallest[0] = TOLERANCE * math.sqrt(duels * trace)
    search.evaluations[0] = 0


@compiled
def is_descent(fall: float, rise: float, curvature: float) -> bool:
    """Tell whether a step certainly lowers the objective (see above); `curvature` is M."""
    return rise <= 0.0 or 2.0 * rise * curvature <= (fall + rise) ** 2


@compiled
def cut(fall: float, rise: float) -> float:
    """Return the share of a step to try after the whole of it went too far.

    The secant of the derivative crosses zero at fall / (fall + rise). Where one end is much steeper than the other
    that is next to an end, and cuts would go on for ever: the share stays between a tenth and a half.
    """
    return min(0.5, max(0.1, fall / (fall + rise)))


@compiled
def quasi_newton_step(search: Search) -> Floats:
    """Return minus the approximate inverse Hessian times the gradient: the two loops of L-BFGS."""
    size = search.point.size
    kept = min(search.pairs[0], PAIRS)
    newest = search.pairs[0] - 1
    step, rest, weights = np.empty(size), -search.slope, np.empty(PAIRS)
    for back in range(kept):
        at = (newest - back) % PAIRS
        weights[at] = dot(search.steps[at], rest) / search.products[at]
        rest -= weights[at] * search.changes[at]
    multiply(search.bound_inverse, rest, step)
    if kept:
        at = newest % PAIRS
        multiply(search.bound_inverse, search.changes[at], rest)
        step *= search.products[at] / dot(search.changes[at], rest)
    for back in range(kept - 1, -1, -1):
        at = (newest - back) % PAIRS
        step += (weights[at] - dot(search.changes[at], step) / search.products[at]) * search.steps[at]
    return step


@compiled
def advance(search: Search, loss_gradient: Floats, ridge: float) -> bool:
    """Take in the losses' gradient at `search.trial` and move the trial on; return whether it now is the answer.

    The answer is one step beyond the last gradient, which was already as small as was asked for.
    """
    gradient = loss_gradient + ridge * search.trial
    search.evaluations[0] += 1
    certain = True
    if search.evaluations[0] > 1:
        certain = take_step(search, gradient)
    if certain:
        search.point[:] = search.trial
        search.slope[:] = gradient
        search.trial[:] += quasi_newton_step(search)
        if dot(gradient, gradient) <= search.smallest[0] ** 2:
            return True
    if search.evaluations[0] >= MOST_EVALUATIONS:
        search.trial[:] = search.point
        return True
    return False


@compiled
def take_step(search: Search, gradient: Floats) -> bool:
    """Remember the step to the trial if it certainly descends; else cut it short and return False."""
    step = search.trial - search.point
    product = np.empty(step.size)
    multiply(search.bound, step, product)
    fall, rise = -dot(search.slope, step), dot(gradient, step)
    if not is_descent(fall, rise, dot(step, product)):
        search.trial[:] = search.point + cut(fall, rise) * step
        return False
    at = search.pairs[0] % PAIRS
    search.steps[at] = step
    search.changes[at] = gradient - search.slope
    search.products[at] = fall + rise
    search.pairs[0] += search.products[at] > 0.0
    return True
