"""Whether clients' data can come from one theta: the statistic that Clustered-LinUCB tells clients apart by.

With S, s a client's sums, F = (S + rho I)^-1, theta = F s and z = theta_i - theta_j, two clients are apart iff

    z^T (F_i + F_j)^-1 z > limit.

Two bounds spare factorisations, and neither changes the answer:

    z^T z / (f_i + f_j)         is never above the statistic, with f at least the largest eigenvalue of F: it says apart
                                in O(d);
    p_i p_j / (p_i + p_j)       is never below it, with p = z^T (S + rho I) z: it says alike in O(d^2), as p_i does
                                alone. (The statistic is the least u^T (S_i + rho I) u + (z - u)^T (S_j + rho I) (z - u)
                                over all u, and this is the least over u along z.)

The rest is factorised, many clients at once.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from fedbandit.core.arrays import Bools, Floats, Ints
from fedbandit.kernels.linear.eigenvalues import most_of_eigenvalues
from fedbandit.kernels.linear.ridge import factorise, invert, multiply
from fedbandit.kernels.shared.compiled import borrowing

AT_ONCE = 40  # matrices that are factorised together: those of few dimensions then lie in the processor's cache
SMALL = 16  # up to this dimension a factorisation among many takes less than two products with a vector


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


class Comparing(NamedTuple):
    """Working space in which one client is compared with all others, which are the last axis."""

    between: Floats  # z = theta_i - theta_j
    length: Floats  # z^T z
    first: Floats  # p_i = z^T (S_i + rho I) z
    product: Floats
    who: Ints  # (2, AT_ONCE) those that are doubtful, who were alike with it and who were not
    counts: Ints  # (2,)
    lower: Floats  # the Cholesky factors of some of them
    solved: Floats


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


def room_to_compare(clients: int, dimension: int) -> Comparing:
    """Return the working space for so many clients.

    >>> room_to_compare(clients=2, dimension=3).between.shape
    (3, 2)
    """
    return Comparing(
        between=np.empty((dimension, clients)),
        length=np.empty(clients),
        first=np.empty(clients),
        product=np.empty(dimension),
        who=np.empty((2, AT_ONCE), dtype=np.int64),
        counts=np.empty(2, dtype=np.int64),
        lower=np.empty((dimension, dimension, AT_ONCE)),
        solved=np.empty((dimension + 1, AT_ONCE)),
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
def tell_apart(told: Told, one: int, rho: float, limit: float, apart: Bools, room: Comparing) -> None:
    """Tell of each other client whether its data and those of one are too different to come from one theta.

    Who has not uploaded is not told apart. What `apart` said before only decides who is compared together with whom.
    """
    size, counts = told.moment.shape[1], room.counts
    counts[0] = counts[1] = 0
    measure(told, one, rho, room.between, room.length, room.first)
    for other in range(apart.size):
        lane = 1 if apart[other] else 0
        apart[other] = False
        if other == one or told.uploads[other] == 0:
            continue
        length, first = room.length[other], room.first[other]
        if length > limit * (told.spread[one] + told.spread[other]):
            apart[other] = True
        elif first > limit and (
            size <= SMALL or not are_surely_alike(told, other, room.between, rho * length, first, limit, room.product)
        ):
            room.who[lane, counts[lane]] = other
            counts[lane] += 1
            if counts[lane] == AT_ONCE:
                compare(told, one, room.who[lane], AT_ONCE, limit, room.between, room.lower, room.solved, apart)
                counts[lane] = 0
    for lane in range(2):
        compare(told, one, room.who[lane], counts[lane], limit, room.between, room.lower, room.solved, apart)


@borrowing
def measure(told: Told, one: int, rho: float, between: Floats, length: Floats, first: Floats) -> None:
    """Write z = theta_i - theta_j for each client j, z^T z, and p_i; every inner loop runs along the clients."""
    gram = told.gram[one]
    for other in range(length.size):
        length[other] = 0.0
        for i in range(gram.shape[0]):
            between[i, other] = told.estimate[one, i] - told.estimate[other, i]
    for i in range(gram.shape[0]):
        row = between[i]
        for other in range(length.size):
            length[other] += row[other] * row[other]
    for other in range(length.size):
        first[other] = rho * length[other]
    for i in range(gram.shape[0]):
        for j in range(i + 1):
            weight, row, column = gram[i, j] if i == j else 2.0 * gram[i, j], between[i], between[j]
            for other in range(length.size):
                first[other] += weight * row[other] * column[other]


@borrowing
def are_surely_alike(
    told: Told, other: int, between: Floats, ridge: float, first: float, limit: float, product: Floats
) -> bool:
    """Tell whether even p_i p_j / (p_i + p_j) does not pass the limit; `ridge` is rho z^T z, `product` scratch."""
    gram, second = told.gram[other], ridge
    for i in range(product.size):
        product[i] = 0.0
    for k in range(product.size):
        weight, row = between[k, other], gram[k]
        for i in range(product.size):
            product[i] += weight * row[i]
    for i in range(product.size):
        second += between[i, other] * product[i]
    return first * second <= limit * (first + second)


@borrowing
def compare(
    told: Told, one: int, who: Ints, count: int, limit: float, between: Floats, lower: Floats, solved: Floats,
    apart: Bools,
) -> None:  # fmt: skip
    """Tell which of the first so many clients of `who` are apart from one, by the statistic itself.

    With L the Cholesky factor of F_i + F_j it is the sum of y_k^2 with L y = z, row after row: it only grows, so rows
    after which all have passed the limit are the last. Every inner loop runs along the clients. `lower` and `solved`
    are scratch: L with the client as the last axis, and y with the sums below it.
    """
    size, mine, total = told.moment.shape[1], told.inverse[one], solved[told.moment.shape[1]]
    for each in range(count):
        total[each] = 0.0
    for i in range(size):
        value, scale = solved[i], lower[i, i]
        for each in range(count):
            other = who[each]
            value[each] = between[i, other]
            for j in range(i + 1):
                lower[i, j, each] = mine[i, j] + told.inverse[other, i, j]
        for j in range(i):
            weight, divisor, earlier = lower[i, j], lower[j, j], solved[j]
            for k in range(j):
                left, right = lower[i, k], lower[j, k]
                for each in range(count):
                    weight[each] -= left[each] * right[each]
            for each in range(count):
                weight[each] /= divisor[each]
            for each in range(count):
                scale[each] -= weight[each] * weight[each]
            for each in range(count):
                value[each] -= weight[each] * earlier[each]
        within = 0
        for each in range(count):
            scale[each] = math.sqrt(scale[each])
            value[each] /= scale[each]
            total[each] += value[each] * value[each]
            within += not total[each] > limit
        if within == 0:
            break
    for each in range(count):
        apart[who[each]] = total[each] > limit
