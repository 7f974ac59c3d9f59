"""The logistic loss of duels, -log sigmoid(theta^T z) with z = winner - loser, over data that are kept.

Its gradient is -sigmoid(-theta^T z) z; its second derivative is sigmoid(theta^T z) sigmoid(-theta^T z) z z^T, which is
at most z z^T / 4.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from fedbandit.core.arrays import Floats, Ints
from fedbandit.kernels.compiled import compiled
from fedbandit.kernels.descent import MOST_EVALUATIONS, cut, is_descent
from fedbandit.kernels.ridge import add_observation_to_inverse, add_outer, dot, invert, multiply
from fedbandit.kernels.ridge_rows import REFRESH

SMALL_STEP = 1e-7  # relative to the estimate: after a Newton step so small the error is its square


class KeptDuels(NamedTuple):
    """Every duel of every client, kept where it was written; the first axis is the client."""

    differences: Floats  # (clients, capacity, d): winner - loser
    fought: Ints  # (clients,) duels kept so far


def no_duels(clients: int, dimension: int) -> KeptDuels:
    """Return an empty record.

    >>> no_duels(2, 3).fought
    array([0, 0])
    """
    return KeptDuels(np.zeros((clients, 16, dimension)), np.zeros(clients, dtype=np.int64))


def keep(duels: KeptDuels, who: Ints, differences: Floats) -> KeptDuels:
    """Write down one duel of each client of `who`; the record is made twice as long when it is full.

    An arm that meets itself tells nothing, whoever wins: such a duel is not kept.

    >>> keep(no_duels(3, 1), np.array([1, 2]), np.array([[0.5], [0.0]])).fought
    array([0, 1, 0])
    """
    tells = differences.any(axis=1)
    who = who[tells]
    place = duels.fought[who]
    capacity = duels.differences.shape[1]
    if place.size and place.max() == capacity:
        longer = np.zeros((len(duels.fought), 2 * capacity, duels.differences.shape[2]))
        longer[:, :capacity] = duels.differences
        duels = duels._replace(differences=longer)
    duels.differences[who, place] = differences[tells]
    duels.fought[who] += 1
    return duels


@compiled
def add_gradient(data: Floats, theta: Floats, gradient: Floats) -> None:
    """Add the gradient at theta of the loss of each row of `data`, one after the other."""
    size = theta.size
    for duel in range(data.shape[0]):  # indexed in place: a view of each row would cost more than the arithmetic
        margin = 0.0
        for j in range(size):
            margin += data[duel, j] * theta[j]
        weight = 1.0 / (1.0 + math.exp(margin))
        for j in range(size):
            gradient[j] -= weight * data[duel, j]


@compiled
def gradients(duels: KeptDuels, who: Ints, theta: Floats) -> Floats:
    """Return each client's gradient (m, d) over all its duels, at its own theta (m, d)."""
    own = np.zeros(theta.shape)
    for each in range(who.size):
        client = who[each]
        add_gradient(duels.differences[client, : duels.fought[client]], theta[each], own[each])
    return own


@compiled
def gradients_of_one(differences: Floats, theta: Floats) -> Floats:
    """Return the gradient (m, d) of each of some duels, at one theta (d,)."""
    own = np.zeros(differences.shape)
    for each in range(differences.shape[0]):
        add_gradient(differences[each : each + 1], theta, own[each])
    return own


@compiled
def accumulate(anchor: Floats, gradient: Floats, information: Floats, who: Ints, differences: Floats) -> None:
    """Add each client's new duel to its gradient at its anchor, and to its information sum z z^T."""
    for each in range(who.size):
        client = who[each]
        add_gradient(differences[each : each + 1], anchor[client], gradient[client])
        add_outer(information[client], differences[each])


@compiled
def outer_products(vectors: Floats) -> Floats:
    """Return v v^T of each row (m, d, d)."""
    products = np.zeros((vectors.shape[0], vectors.shape[1], vectors.shape[1]))
    for each in range(vectors.shape[0]):
        add_outer(products[each], vectors[each])
    return products


@compiled
def slopes(data: Floats, theta: Floats, ridge: float, gradient: Floats, hessian: Floats) -> None:
    """Write the gradient of the loss plus ridge/2 |theta|^2, and the Hessian of the loss without the ridge."""
    size = theta.size
    for j in range(size):
        gradient[j] = ridge * theta[j]
    hessian[:] = 0.0
    for duel in range(data.shape[0]):  # indexed in place, as above
        margin = 0.0
        for j in range(size):
            margin += data[duel, j] * theta[j]
        weight = 1.0 / (1.0 + math.exp(margin))
        bend = weight * (1.0 - weight)
        for i in range(size):
            gradient[i] -= weight * data[duel, i]
            scaled = bend * data[duel, i]
            for j in range(i, size):  # the upper triangle is all that a factorisation reads
                hessian[i, j] += scaled * data[duel, j]


@compiled
def newton(data: Floats, gram: Floats, ridge: float, theta: Floats, scratch: Floats, vectors: Floats) -> None:
    """Move theta to the minimiser of the loss plus ridge/2 |theta|^2, by Newton steps from where it is.

    `gram` is the sum of z z^T. `scratch` holds four matrices, `vectors` five vectors.
    """
    hessian, inverse, upper, lower = scratch[0], scratch[1], scratch[2], scratch[3]
    gradient, step, trial, slope, product = vectors[0], vectors[1], vectors[2], vectors[3], vectors[4]
    slopes(data, theta, ridge, gradient, hessian)
    for _ in range(MOST_EVALUATIONS):
        invert(hessian, ridge, inverse, upper, lower)
        multiply(inverse, gradient, step)
        for j in range(step.size):
            step[j] = -step[j]
        if dot(step, step) <= SMALL_STEP**2 * max(1.0, dot(theta, theta)):
            theta += step
            return
        for _ in range(MOST_EVALUATIONS):
            for j in range(step.size):
                trial[j] = theta[j] + step[j]
            slopes(data, trial, ridge, slope, hessian)
            multiply(gram, step, product)
            fall, rise = -dot(gradient, step), dot(slope, step)
            if is_descent(fall, rise, 0.25 * dot(step, product) + ridge * dot(step, step)):
                break
            step *= cut(fall, rise)
        theta[:] = trial
        gradient[:] = slope


@compiled
def learn_alone(
    duels: KeptDuels, who: Ints, differences: Floats, gram: Floats, inverse: Floats, theta: Floats, ridge: float,
    prior: float,
) -> None:  # fmt: skip
    """Take in each client's latest duel, already kept: the sum z z^T, (sum + prior I)^-1, and the minimiser."""
    size = theta.shape[1]
    scratch, vectors = np.empty((4, size, size)), np.empty((5, size))
    for each in range(who.size):
        client, latest = who[each], differences[each]
        if dot(latest, latest) == 0.0:
            continue
        data = duels.differences[client, : duels.fought[client]]
        add_outer(gram[client], latest)
        if data.shape[0] % REFRESH:
            add_observation_to_inverse(inverse[client], latest, vectors[0])
        else:
            invert(gram[client], prior, inverse[client], scratch[0], scratch[1])
        newton(data, gram[client], ridge, theta[client], scratch, vectors)
