"""The logistic loss of duels, -log sigmoid(theta^T z) with z = winner - loser, and its minimiser over kept data.

Its gradient is -sigmoid(-theta^T z) z; its second derivative is sigmoid(theta^T z) sigmoid(-theta^T z) z z^T, which is
at most z z^T / 4. To a generalised linear model a duel is the arm -z with reward 0: so it is kept, because that way
small gradients lose no digits (sigmoid(-theta^T z) comes out of no subtraction).
"""

from __future__ import annotations

import numpy as np

from fedbandit.core.arrays import Floats, Ints
from fedbandit.kernels.glm.descent import MOST_EVALUATIONS, cut, is_descent
from fedbandit.kernels.glm.kept_data import Kept, curvature_of, gradient_of, gradient_of_each, keep, with_more_room
from fedbandit.kernels.glm.links import LANES, LOGISTIC, mean
from fedbandit.kernels.linear.ridge import add_observation_to_inverse, add_outer, dot, invert, multiply
from fedbandit.kernels.linear.ridge_rows import REFRESH
from fedbandit.kernels.shared.compiled import compiled

SMALL_STEP = 1e-7  # relative to the estimate: after a Newton step so small the error is its square


def keep_duels(kept: Kept, who: Ints, differences: Floats) -> Kept:
    """Add one duel of each client of `who`; return the record, which is longer if there was no room.

    An arm that meets itself tells nothing, whoever wins: such a duel is not kept.

    >>> from fedbandit.kernels.glm.kept_data import nothing_kept
    >>> keep_duels(nothing_kept(3, 1), np.array([1, 2]), np.array([[0.5], [0.0]])).length
    array([0, 1, 0])
    """
    if kept.length[who].max(initial=0) == kept.reward.shape[1] * LANES:
        kept = with_more_room(kept)
    _keep_each(kept, who, differences)
    return kept


@compiled
def _keep_each(kept: Kept, who: Ints, differences: Floats) -> None:
    for each in range(who.size):
        if differences[each].any():
            keep(kept, who[each], -differences[each], 0.0)


def gradients(kept: Kept, who: Ints, stop: Ints, theta: Floats) -> Floats:
    """Return each client's gradient (m, d) over its duels before its `stop` (clients,), at its own theta (m, d)."""
    return gradient_of_each(kept, who, np.zeros_like(kept.length), stop, theta, LOGISTIC)


@compiled
def add_gradient(difference: Floats, theta: Floats, gradient: Floats) -> None:
    """Add the gradient at theta of one duel's loss."""
    weight = mean(LOGISTIC, -dot(difference, theta))
    for j in range(theta.size):
        gradient[j] -= weight * difference[j]


@compiled
def gradients_of_one(differences: Floats, theta: Floats) -> Floats:
    """Return the gradient (m, d) of each of some duels, at one theta (d,)."""
    own = np.zeros(differences.shape)
    for each in range(differences.shape[0]):
        add_gradient(differences[each], theta, own[each])
    return own


@compiled
def accumulate(anchor: Floats, gradient: Floats, information: Floats, who: Ints, differences: Floats) -> None:
    """Add each client's new duel to its gradient at its anchor, and to its information sum z z^T."""
    for each in range(who.size):
        client = who[each]
        add_gradient(differences[each], anchor[client], gradient[client])
        add_outer(information[client], differences[each])


@compiled
def outer_products(vectors: Floats) -> Floats:
    """Return v v^T of each row (m, d, d)."""
    products = np.zeros((vectors.shape[0], vectors.shape[1], vectors.shape[1]))
    for each in range(vectors.shape[0]):
        add_outer(products[each], vectors[each])
    return products


@compiled
def _slope(kept: Kept, client: int, theta: Floats, ridge: float, gradient: Floats) -> None:
    """Write the gradient of the client's loss plus ridge/2 |theta|^2."""
    gradient_of(kept, client, 0, kept.length[client], theta, LOGISTIC, gradient)
    for j in range(theta.size):
        gradient[j] += ridge * theta[j]


@compiled
def newton(kept: Kept, client: int, gram: Floats, ridge: float, theta: Floats) -> None:
    """Move theta to the minimiser of the client's loss plus ridge/2 |theta|^2, by Newton steps from where it is.

    `gram` is the sum of z z^T.
    """
    size = theta.size
    matrices, vectors = np.empty((4, size, size)), np.empty((5, size))
    hessian, inverse, upper, lower = matrices[0], matrices[1], matrices[2], matrices[3]
    gradient, step, trial, slope, product = vectors[0], vectors[1], vectors[2], vectors[3], vectors[4]
    _slope(kept, client, theta, ridge, gradient)
    for _ in range(MOST_EVALUATIONS):
        curvature_of(kept, client, kept.length[client], theta, LOGISTIC, hessian)
        invert(hessian, ridge, inverse, upper, lower)
        multiply(inverse, gradient, step)
        step *= -1.0
        if dot(step, step) <= SMALL_STEP**2 * max(1.0, dot(theta, theta)):
            theta += step
            return
        for _ in range(MOST_EVALUATIONS):
            trial[:] = theta + step
            _slope(kept, client, trial, ridge, slope)
            multiply(gram, step, product)
            fall, rise = -dot(gradient, step), dot(slope, step)
            if is_descent(fall, rise, 0.25 * dot(step, product) + ridge * dot(step, step)):
                break
            step *= cut(fall, rise)
        theta[:] = trial
        gradient[:] = slope


@compiled
def learn_alone(
    kept: Kept, who: Ints, differences: Floats, gram: Floats, inverse: Floats, theta: Floats, ridge: float,
    prior: float,
) -> None:  # fmt: skip
    """Take in each client's latest duel, already kept: the sum z z^T, (sum + prior I)^-1, and the minimiser."""
    size = theta.shape[1]
    scratch = np.empty((2, size, size))
    for each in range(who.size):
        client, latest = who[each], differences[each]
        if latest.any():
            add_outer(gram[client], latest)
            if kept.length[client] % REFRESH:
                add_observation_to_inverse(inverse[client], latest, scratch[0, 0])
            else:
                invert(gram[client], prior, inverse[client], scratch[0], scratch[1])
            newton(kept, client, gram[client], ridge, theta[client])
