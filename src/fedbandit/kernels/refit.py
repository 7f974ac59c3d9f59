"""Ridge maximum likelihood of one client's kept data: Newton's method with an inverse curvature kept from before.

The minimiser of sum_s m(x_s^T theta) - y_s x_s^T theta + (ridge / 2) |theta|^2 moves little when one observation comes,
and so does the curvature: its inverse is carried along by rank-one updates and computed afresh only when the steps
stop shrinking fast. A refit then costs two or three gradients.

Steps are damped for generalised self-concordant losses, |m'''| <= m'' (Sun and Tran-Dinh 2019): with s = arm_bound
|step| the factor log(1 + s) / s never overshoots, and full steps converge once s is small.
"""

from __future__ import annotations

import math

import numpy as np

from fedbandit.core.arrays import Floats
from fedbandit.kernels.compiled import compiled
from fedbandit.kernels.kept_data import Kept, curvature_of, gradient_of
from fedbandit.kernels.ridge import dot, invert, multiply

_FULL = 0.125  # below this length steps are not damped
_SMALL = 1e-9  # the step that is taken as the last
_SLOW = 0.125  # steps that shrink by less ask for a fresh curvature
_MOST_STEPS = 200


@compiled
def damping(length: float) -> float:
    """Return the factor of a Newton step whose longest change of a margin is `length`."""
    return 1.0 if length <= _FULL else math.log1p(length) / length


@compiled
def refit(kept: Kept, client: int, ridge: float, link: int, arm_bound: float, model: Floats, inverse: Floats) -> int:
    """Move `model` to the client's ridge maximum likelihood; return the number of gradients.

    `inverse` is the inverse of the curvature, ridge included, at some model nearby; it may be replaced.
    """
    size, count = model.size, kept.length[client]
    gradient, step = np.empty(size), np.empty(size)
    before = np.inf
    for passes in range(1, _MOST_STEPS):
        gradient_of(kept, client, 0, count, model, link, gradient)
        for i in range(size):
            gradient[i] += ridge * model[i]
        multiply(inverse, gradient, step)
        length = math.sqrt(dot(step, step))
        if length > _SLOW * before or length > _FULL / arm_bound:
            curvature, scratch = np.empty((size, size)), np.empty((2, size, size))
            curvature_of(kept, client, count, model, link, curvature)
            invert(curvature, ridge, inverse, scratch[0], scratch[1])
            multiply(inverse, gradient, step)
            length = math.sqrt(dot(step, step))
        factor = damping(arm_bound * length)
        for i in range(size):
            model[i] -= factor * step[i]
        if length <= _SMALL:
            return passes
        before = length
    return _MOST_STEPS
