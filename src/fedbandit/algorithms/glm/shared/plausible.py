"""How large the parts of a gradient or a Hessian can be, for arms and rewards in bounds: what no honest client exceeds.

The loss of one observation (x, y) has the gradient (mu(x^T theta) - y) x and the Hessian mu'(x^T theta) x x^T. With
|x| <= L and |y| <= R the margin is at most L |theta|, so that

    logistic   |mu - y| <= 1 + R                      mu' <= 1/4
    identity   |mu - y| <= L |theta| + R              mu' = 1
    poisson    |mu - y| <= e^(L |theta|) + R          mu' <= e^(L |theta|)
"""

from __future__ import annotations

import math

from fedbandit.core.arrays import Floats
from fedbandit.core.bounds import Bounds
from fedbandit.kernels.glm.links import IDENTITY, LARGEST, LOGISTIC


def largest_residual(link: int, model: Floats, bounds: Bounds) -> float:
    """Return the largest |mu(x^T theta) - y|.

    >>> import numpy as np
    >>> largest_residual(IDENTITY, np.array([3.0, 4.0]), Bounds(context=2.0, reward=1.0))
    11.0
    """
    if link == LOGISTIC:
        return 1.0 + bounds.reward
    margin = _largest_margin(model, bounds)
    return bounds.reward + (margin if link == IDENTITY else math.exp(min(margin, LARGEST)))


def largest_slope(link: int, model: Floats, bounds: Bounds) -> float:
    """Return the largest mu'(x^T theta)."""
    if link == LOGISTIC:
        return 0.25
    return 1.0 if link == IDENTITY else math.exp(min(_largest_margin(model, bounds), LARGEST))


def _largest_margin(model: Floats, bounds: Bounds) -> float:
    length = math.sqrt(float(model @ model))
    return bounds.context * length if length else 0.0
