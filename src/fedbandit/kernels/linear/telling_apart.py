"""Whether clients' data can come from one theta: the statistic that Clustered-LinUCB tells clients apart by.

With S, s a client's sums, F = (S + rho I)^-1, theta = F s and z = theta_i - theta_j, two clients are apart iff

    z^T (F_i + F_j)^-1 z > limit.

Two bounds spare factorisations, and neither changes the answer:

    z^T z / (f_i + f_j)         is never above the statistic, with f at least the largest eigenvalue of F: it says apart
                                in O(d);
    p_i p_j / (p_i + p_j)       is never below it, with p = z^T (S + rho I) z: it says alike in O(d^2). (The statistic
                                is the least u^T (S_i + rho I) u + (z - u)^T (S_j + rho I) (z - u) over all u, and this
                                is the least over u along z.)

The rest is factorised, many clients at once.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from fedbandit.core.arrays import Bools, Floats, Ints
from fedbandit.kernels.linear.ridge import dot, factorise, invert, multiply
from fedbandit.kernels.shared.compiled import borrowing, compiled

AT_ONCE = 40  # matrices that are factorised together: those of few dimensions then lie in the processor's cache
SMALL = 16  # up to this dimension a factorisation among many takes less than two products with a vector
ROUNDING = 1e-9  # far more than that of a few products


class Told(NamedTuple):
    """What each client has told in its uploads, and what follows from it alone; the first axis is the client."""

    gram: Floats  # S_k
    moment: Floats  # s_k
    inverse: Floats  # F_k = (S_k + rho I)^-1
    estimate: Floats  # F_k s_k
    spread: Floats  # f_k: at least the largest eigenvalue of F_k
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
        spread=np.zeros(clients),
        log_det=np.full(clients, dimension * math.log(ridge)),
        uploads=np.zeros(clients, dtype=np.int64),
        last_upload=np.zeros(clients, dtype=np.int64),
    )


@borrowing
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
    told.spread[client] = most_of_eigenvalues(inverse, scratch[0], scratch[1])


@borrowing
def most_of_eigenvalues(matrix: Floats, square: Floats, fourth: Floats) -> float:
    """Return a number that the largest eigenvalue of a positive definite matrix does not pass, nor falls far below.

    It is the eighth root of the sum of the eighth powers of all d eigenvalues, at most d^(1/8) times the largest. What
    is squared has trace 1, so that no power is too small to tell. `square` and `fourth` are scratch.
    """
    size, trace = matrix.shape[0], 0.0
    for i in range(size):
        trace += matrix[i, i]
    square_of(matrix, 1.0 / trace, square)
    square_of(square[:size, :size], 1.0, fourth)
    total = 0.0
    for i in range(size):
        total += dot(fourth[i, :size], fourth[i, :size])
    return trace * math.sqrt(math.sqrt(math.sqrt(total))) * (1.0 + ROUNDING)


@borrowing
def square_of(matrix: Floats, scale: float, out: Floats) -> None:
    """Write the square of a symmetric matrix times a scale to `out`."""
    for i in range(matrix.shape[0]):
        into = out[i]
        for j in range(matrix.shape[0]):
            into[j] = 0.0
        for k in range(matrix.shape[0]):
            weight, row = matrix[i, k] * scale * scale, matrix[k]
            for j in range(matrix.shape[0]):
                into[j] += weight * row[j]


@compiled
def tell_apart(told: Told, one: int, rho: float, limit: float, apart: Bools) -> None:
    """Tell of each other client whether its data and those of one are too different to come from one theta.

    Who has not uploaded is not told apart.
    """
    size, doubtful = told.moment.shape[1], 0
    between, product, who = np.empty(size), np.empty(size), np.empty(AT_ONCE, dtype=np.int64)
    lower, solved = np.empty((size, size, AT_ONCE)), np.empty((size + 1, AT_ONCE))
    for other in range(apart.size):
        apart[other] = False
        if other == one or told.uploads[other] == 0:
            continue
        length = 0.0
        for i in range(size):
            between[i] = told.estimate[one, i] - told.estimate[other, i]
            length += between[i] * between[i]
        if length > limit * (told.spread[one] + told.spread[other]):
            apart[other] = True
        elif size <= SMALL or not are_surely_alike(told, one, other, between, rho * length, limit, product):
            who[doubtful] = other
            doubtful += 1
            if doubtful == AT_ONCE:
                compare(told, one, who, doubtful, limit, lower, solved, apart)
                doubtful = 0
    compare(told, one, who, doubtful, limit, lower, solved, apart)


@borrowing
def are_surely_alike(
    told: Told, one: int, other: int, between: Floats, ridge: float, limit: float, product: Floats
) -> bool:
    """Tell whether even a bound of the statistic does not pass the limit; `ridge` is rho z^T z, `product` scratch."""
    multiply(told.gram[one], between, product)
    first = dot(between, product) + ridge
    multiply(told.gram[other], between, product)
    second = dot(between, product) + ridge
    return first * second <= limit * (first + second)


@borrowing
def compare(
    told: Told, one: int, who: Ints, count: int, limit: float, lower: Floats, solved: Floats, apart: Bools
) -> None:
    """Tell which of the first so many clients of `who` are apart from one, by the statistic itself.

    With L the Cholesky factor of F_i + F_j it is the sum of y_k^2 with L y = z. Every inner loop runs along the
    clients. `lower` and `solved` are scratch: L with the client as the last axis, and y with the sums below it.
    """
    size, mine, total = told.moment.shape[1], told.inverse[one], solved[told.moment.shape[1]]
    for each in range(count):
        other = who[each]
        theirs = told.inverse[other]
        total[each] = 0.0
        for i in range(size):
            solved[i, each] = told.estimate[one, i] - told.estimate[other, i]
            for j in range(i + 1):
                lower[i, j, each] = mine[i, j] + theirs[i, j]
    for k in range(size):
        scale, value = lower[k, k], solved[k]
        for each in range(count):
            scale[each] = math.sqrt(scale[each])
        for each in range(count):
            value[each] /= scale[each]
        for each in range(count):
            total[each] += value[each] * value[each]
        for i in range(k + 1, size):
            weight, rest = lower[i, k], solved[i]
            for each in range(count):
                weight[each] /= scale[each]
            for each in range(count):
                rest[each] -= weight[each] * value[each]
            for j in range(k + 1, i + 1):
                factor, into = lower[j, k], lower[i, j]
                for each in range(count):
                    into[each] -= weight[each] * factor[each]
    for each in range(count):
        apart[who[each]] = total[each] > limit
