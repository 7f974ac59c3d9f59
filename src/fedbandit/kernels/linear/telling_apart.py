"""Whether two clients' data can come from one theta: the statistic that Clustered-LinUCB tells clients apart by.

With S, s a client's sums, F = (S + rho I)^-1, theta = F s and z = theta_i - theta_j, two clients are apart iff

    z^T (F_i + F_j)^-1 z > limit.

Three bounds spare most factorisations, and none changes the answer:

    z^T z / (tr F_i + tr F_j)           is never above the statistic: it says apart in O(d);
    p_i p_j / (p_i + p_j)               is never below it, with p = z^T (S + rho I) z: it says alike in O(d^2). (The
                                        statistic is the least u^T (S_i + rho I) u + (z - u)^T (S_j + rho I) (z - u)
                                        over all u, and this is the least over u along z.)
    the sum over the first coordinates  of the squares that a factorisation adds up never falls: it says apart early.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from fedbandit.core.arrays import Floats, Ints
from fedbandit.kernels.linear.ridge import dot, factorise, invert, multiply
from fedbandit.kernels.shared.compiled import compiled


class Told(NamedTuple):
    """What each client has told in its uploads, and what follows from it alone; the first axis is the client."""

    gram: Floats  # S_k
    moment: Floats  # s_k
    inverse: Floats  # F_k = (S_k + rho I)^-1
    estimate: Floats  # F_k s_k
    trace: Floats  # of F_k
    log_det: Floats  # log det(S_k + ridge I)
    uploads: Ints  # u_k
    last_upload: Ints  # its number among the uploads of all


def nothing_told(clients: int, dimension: int, ridge: float) -> Told:
    """Return what clients have told that have not uploaded yet.

    >>> nothing_told(clients=2, dimension=3, ridge=1.0).log_det
    array([0., 0.])
    """
    return Told(
        gram=np.zeros((clients, dimension, dimension)),
        moment=np.zeros((clients, dimension)),
        inverse=np.zeros((clients, dimension, dimension)),
        estimate=np.zeros((clients, dimension)),
        trace=np.zeros(clients),
        log_det=np.full(clients, dimension * math.log(ridge)),
        uploads=np.zeros(clients, dtype=np.int64),
        last_upload=np.zeros(clients, dtype=np.int64),
    )


@compiled
def hear(
    told: Told, client: int, gram: Floats, moment: Floats, number: int, ridge: float, rho: float, scratch: Floats
) -> None:
    """Add the upload with this number to what its client has told."""
    size = moment.size
    total, inverse = told.gram[client], told.inverse[client]
    for i in range(size):
        told.moment[client, i] += moment[i]
        for j in range(size):
            total[i, j] += gram[i, j]
    told.uploads[client] += 1
    told.last_upload[client] = number
    invert(total, rho, inverse, scratch[0], scratch[1])
    told.log_det[client] = factorise(total, ridge, scratch[0])
    multiply(inverse, told.moment[client], told.estimate[client])
    trace = 0.0
    for i in range(size):
        trace += inverse[i, i]
    told.trace[client] = trace


@compiled
def are_apart(told: Told, one: int, other: int, rho: float, limit: float, scratch: Floats) -> bool:
    """Tell whether the data of two clients that have uploaded are too different to come from one theta."""
    size = told.moment.shape[1]
    between, product, lower = scratch[0, 0, :size], scratch[0, 1, :size], scratch[1]
    length = 0.0
    for i in range(size):
        between[i] = told.estimate[one, i] - told.estimate[other, i]
        length += between[i] * between[i]
    if length > limit * (told.trace[one] + told.trace[other]):
        return True
    multiply(told.gram[one], between, product)
    first = dot(between, product) + rho * length
    multiply(told.gram[other], between, product)
    second = dot(between, product) + rho * length
    if first * second <= limit * (first + second):
        return False
    return passes(told.inverse[one], told.inverse[other], between, limit, lower)


@compiled
def passes(left: Floats, right: Floats, between: Floats, limit: float, lower: Floats) -> bool:
    """Tell whether z^T (left + right)^-1 z > limit, row after row of the Cholesky factor L, until it is known.

    The statistic is the sum of y_k^2 with L y = z. `between` is z and is overwritten by y; `lower` is scratch.
    """
    total = 0.0
    for k in range(between.size):
        row = lower[k]
        for m in range(k):
            value = left[k, m] + right[k, m]
            for p in range(m):
                value -= row[p] * lower[m, p]
            row[m] = value / lower[m, m]
        pivot, value = left[k, k] + right[k, k], between[k]
        for p in range(k):
            pivot -= row[p] * row[p]
            value -= row[p] * between[p]
        row[k] = math.sqrt(pivot)
        between[k] = value / row[k]
        total += between[k] * between[k]
        if total > limit:
            return True
    return False
