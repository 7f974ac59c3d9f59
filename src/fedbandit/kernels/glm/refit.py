"""Ridge maximum likelihood of one client's kept data: Newton's method with an inverse curvature kept from before.

The minimiser of sum_s m(x_s^T theta) - y_s x_s^T theta + (ridge / 2) |theta|^2 moves little when an observation comes,
and so does the curvature: its inverse is carried along by rank-one updates and computed afresh only when the steps
stop shrinking fast. At the last minimiser the gradient of all data is that of the news alone, so the first step needs
no pass over the data; a refit then costs one or two gradients.

Steps are damped for generalised self-concordant losses, |m'''| <= m'' (Sun and Tran-Dinh 2019): with s = arm_bound
|step| the factor log(1 + s) / s never overshoots, and full steps converge once s is small.
"""

from __future__ import annotations

import math

import numpy as np

from fedbandit.core.arrays import Floats
from fedbandit.kernels.glm.kept_data import Kept, curvature_of, gradient_of
from fedbandit.kernels.linear.ridge import dot, invert, multiply
from fedbandit.kernels.shared.compiled import compiled

_FULL = 0.125  # below this length steps are not damped
_CLOSE = 1e-11  # a refit ends when the next step would be shorter, as the last two foretell
_SLOW = 0.125  # steps that shrink by less ask for a fresh curvature
_MOST_STEPS = 200


@compiled
def damping(length: float) -> float:
    """Return the factor of a Newton step whose longest change of a margin is `length`."""
    return 1.0 if length <= _FULL else math.log1p(length) / length


@compiled
def move(model: Floats, inverse: Floats, gradient: Floats, arm_bound: float) -> float:
    """Take one damped Newton step; return the length of the whole step."""
    step = np.empty(model.size)
    multiply(inverse, gradient, step)
    length = math.sqrt(dot(step, step))
    factor = damping(arm_bound * length)
    for i in range(model.size):
        model[i] -= factor * step[i]
    return length


@compiled
def refit(
    kept: Kept, client: int, ridge: float, link: int, arm_bound: float, model: Floats, inverse: Floats, news: Floats
) -> int:
    """Move `model` to the client's ridge maximum likelihood; return the number of passes over its data.

    `inverse` is the inverse of the curvature, ridge included, at some model nearby; it may be replaced. `news` is the
    gradient, at `model`, of the observations that came since the last refit.
    """
    size, stop = model.size, kept.length[client]
    gradient = np.empty(size)
    before = move(model, inverse, news, arm_bound)
    is_far = arm_bound * before > _FULL
    for passes in range(1, _MOST_STEPS):
        gradient_of(kept, client, 0, stop, model, link, gradient)
        for i in range(size):
            gradient[i] += ridge * model[i]
        if is_far:
            curvature, scratch = np.empty((size, size)), np.empty((2, size, size))
            curvature_of(kept, client, stop, model, link, curvature)
            invert(curvature, ridge, inverse, scratch[0], scratch[1])
        length = move(model, inverse, gradient, arm_bound)
        if length <= _CLOSE or length * length <= _CLOSE * before:
            return passes
        is_far = length > _SLOW * before or arm_bound * length > _FULL
        before = length
    return _MOST_STEPS
