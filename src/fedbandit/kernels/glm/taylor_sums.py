"""The gradient of everyone's loss near one model, without a pass over the data: a polynomial with sums as coefficients.

The gradient at theta = c + delta is sum_s (mu(x_s^T theta) - y_s) x_s. By Taylor's theorem, about z_s = x_s^T c, it is
the gradient with respect to delta of

    sum over monomials delta^a of degree k = 1 .. p of   (S_a / a!) delta^a,      S_a = sum_s mu^(k-1)(z_s) x_s^a

(mu(z_s) - y_s for k = 1), but for a rest. An observation is added to the sums once; then a gradient costs the same
however many they are. With X the length of the longest arm and G = sum_s x_s x_s^T the rest has at most the length

    X max|mu^(p)| / p!  (X |delta|)^(p-2)  delta^T G delta.

Monomials of one degree stand in the order of their first variable, then of what follows: x_j times all monomials of a
degree less whose first variable is x_j or a later one, which are the last of them. So products and sums run along
stretches of memory, and several observations are added at a time.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from fedbandit.core.arrays import Floats, Ints
from fedbandit.kernels.glm.kept_data import Kept, recall
from fedbandit.kernels.glm.links import IDENTITY, LOGISTIC, POISSON, mean
from fedbandit.kernels.linear.ridge import dot
from fedbandit.kernels.shared.compiled import compiled

ORDERS = {LOGISTIC: 7, IDENTITY: 2, POISSON: 7}  # p: with 2 nothing is left out where mu is the identity
AT_ONCE = 8  # observations that are added at a time
_SLOPES = {LOGISTIC: [-1.0, 1.0, 0.0], IDENTITY: [1.0], POISSON: [1.0, 0.0]}  # mu' as a polynomial of mu


class TaylorSums(NamedTuple):
    """Sums over the first observations of each client, as of one model, the centre."""

    centre: Floats  # (d,) c
    sums: Floats  # (terms,) S_a, by degree from 0, which is not used
    over: Floats  # (terms,) 1 / a!
    begin: Ints  # (p + 1, d + 1) where the monomials of a degree begin whose first variable is x_j or later; the end
    derivatives: Floats  # (p + 1, p + 2) of mu, as polynomials of mu, highest power first
    counted: Ints  # (clients,) observations of each that are in the sums
    longest: Floats  # (1,) the square of X
    work: Floats  # (AT_ONCE, terms)


def terms_of(link: int, dimension: int) -> int:
    """Return how many monomials there are.

    >>> terms_of(LOGISTIC, 10)
    19448
    """
    return math.comb(dimension + ORDERS[link], dimension)


def nothing_summed(clients: int, dimension: int, link: int) -> TaylorSums:
    """Return the sums of no observations, as of the model zero.

    >>> nothing_summed(2, 2, IDENTITY).over  # of 1, x0, x1, x0 x0, x0 x1, x1 x1
    array([1. , 1. , 1. , 0.5, 1. , 0.5])
    """
    order, terms = ORDERS[link], terms_of(link, dimension)
    begin = _places(dimension, order)
    return TaylorSums(
        np.zeros(dimension),
        np.zeros(terms),
        _inverse_factorials(begin),
        begin,
        _derivatives(link, order),
        np.zeros(clients, dtype=np.int64),
        np.zeros(1),
        np.zeros((AT_ONCE, terms)),
    )


def _places(dimension: int, order: int) -> Ints:
    begin = np.zeros((order + 1, dimension + 1), dtype=np.int64)
    begin[0, dimension] = 1
    for degree in range(1, order + 1):
        for j in range(dimension + 1):  # all monomials of the degree and below, but those of later variables alone
            later = math.comb(dimension - j + degree - 1, degree) if j < dimension else 0
            begin[degree, j] = math.comb(dimension + degree, degree) - later
    return begin


def _inverse_factorials(begin: Ints) -> Floats:
    """Return 1 / a! of each monomial: one more power of its first variable divides by how often that then occurs."""
    order, dimension = len(begin) - 1, begin.shape[1] - 1
    over, times = np.ones(begin[-1, -1]), np.zeros(begin[-1, -1])  # times: of the first variable
    for degree in range(1, order + 1):
        for j in range(dimension):
            lower = slice(begin[degree - 1, j], begin[degree - 1, dimension])
            block = slice(begin[degree, j], begin[degree, j + 1])
            times[block] = 1.0
            same = begin[degree - 1, j + 1] - begin[degree - 1, j] if degree > 1 else 0  # x_j comes first in them, too
            times[block][:same] += times[lower][:same]
            over[block] = over[lower] / times[block]
    return over


def _derivatives(link: int, order: int) -> Floats:
    """Return mu, mu', ... as polynomials of mu, highest power first: each is the derivative of the last, times mu'."""
    table, each = np.zeros((order + 1, order + 2)), np.array([1.0, 0.0])
    for row in table:
        row[row.size - each.size :] = each
        each = np.polymul(np.polyder(each), _SLOPES[link])
    return table


def largest_share(link: int) -> float:
    """Return max|mu^(p)| / p! over all margins; as a share of mu, with which it grows, for Poisson.

    >>> round(largest_share(LOGISTIC) * math.factorial(7), 4)
    1.0625
    """
    order = ORDERS[link]
    last = _derivatives(link, order)[-1]
    turning = [root.real for root in np.roots(np.polyder(last)) if abs(root.imag) < 1e-9 and 0.0 < root.real < 1.0]
    found = 1.0 if link == POISSON else abs(np.polyval(last, [0.0, 1.0, *turning])).max()
    return float(found) / math.factorial(order)


def rest(taylor: TaylorSums, link: int, share: float, gram: Floats, delta: Floats) -> float:
    """Return the greatest length of what the polynomial leaves out; `share` is the largest of the link, `gram` is G."""
    longest, away = math.sqrt(taylor.longest[0]), math.sqrt(delta @ delta)
    if link == POISSON:
        share *= mean(link, longest * (math.sqrt(taylor.centre @ taylor.centre) + away))
    return float(longest * share * (longest * away) ** (ORDERS[link] - 2) * (delta @ gram @ delta))


def begin_anew(taylor: TaylorSums, centre: Floats) -> None:
    """Forget all observations, and take another centre."""
    taylor.centre[:] = centre
    taylor.sums[:] = 0.0
    taylor.counted[:] = 0
    taylor.longest[0] = 0.0


@compiled
def monomials(vector: Floats, begin: Ints, out: Floats) -> None:
    """Write the monomials of a vector of all degrees but the highest."""
    last = vector.size
    out[0] = 1.0
    for degree in range(1, begin.shape[0] - 1):
        for j in range(last):
            lower = out[begin[degree - 1, j] : begin[degree - 1, last]]
            block = out[begin[degree, j] : begin[degree, j + 1]]
            for t in range(block.size):
                block[t] = vector[j] * lower[t]


@compiled
def _add_batch(taylor: TaylorSums, arms: Floats, slopes: Floats) -> None:
    """Add AT_ONCE observations: `slopes` holds mu(z) - y, mu'(z), ... of each."""
    begin, work, last = taylor.begin, taylor.work, arms.shape[1]
    for each in range(AT_ONCE):
        monomials(arms[each], begin, work[each])
    for degree in range(1, begin.shape[0]):
        for j in range(last):
            first, end = begin[degree - 1, j], begin[degree - 1, last]
            w0, w1 = slopes[0, degree - 1] * arms[0, j], slopes[1, degree - 1] * arms[1, j]
            w2, w3 = slopes[2, degree - 1] * arms[2, j], slopes[3, degree - 1] * arms[3, j]
            w4, w5 = slopes[4, degree - 1] * arms[4, j], slopes[5, degree - 1] * arms[5, j]
            w6, w7 = slopes[6, degree - 1] * arms[6, j], slopes[7, degree - 1] * arms[7, j]
            m0, m1, m2, m3 = work[0, first:end], work[1, first:end], work[2, first:end], work[3, first:end]
            m4, m5, m6, m7 = work[4, first:end], work[5, first:end], work[6, first:end], work[7, first:end]
            block = taylor.sums[begin[degree, j] : begin[degree, j + 1]]
            for t in range(block.size):
                block[t] += ((w0 * m0[t] + w1 * m1[t]) + (w2 * m2[t] + w3 * m3[t])) + (
                    (w4 * m4[t] + w5 * m5[t]) + (w6 * m6[t] + w7 * m7[t])
                )


@compiled
def add_up_to(taylor: TaylorSums, kept: Kept, stop: Ints, link: int) -> None:
    """Add the observations of each client before its `stop` that are not in the sums."""
    order = taylor.begin.shape[0] - 1
    arms, slopes = np.zeros((AT_ONCE, taylor.centre.size)), np.zeros((AT_ONCE, order))
    filled = 0
    for client in range(stop.size):
        for place in range(taylor.counted[client], stop[client]):
            arm = arms[filled]
            reward = recall(kept, client, place, arm)
            expected = mean(link, dot(arm, taylor.centre))
            for k in range(order):
                value = 0.0
                for coefficient in taylor.derivatives[k]:
                    value = value * expected + coefficient
                slopes[filled, k] = value
            slopes[filled, 0] -= reward
            taylor.longest[0] = max(taylor.longest[0], dot(arm, arm))
            filled += 1
            if filled == AT_ONCE:
                _add_batch(taylor, arms, slopes)
                filled = 0
        taylor.counted[client] = max(taylor.counted[client], stop[client])
    if filled:
        for empty in range(filled, AT_ONCE):
            for k in range(order):
                slopes[empty, k] = 0.0
        _add_batch(taylor, arms, slopes)


@compiled
def gradient_near(taylor: TaylorSums, delta: Floats) -> Floats:
    """Return the gradient of the loss of all that is in the sums, at the centre plus delta, but for the rest.

    The polynomial's terms are C_a delta^a, and a monomial is a variable times a monomial of a degree less. So from the
    highest degree down: a term tells the derivative by its first variable, and passes its coefficient, times that
    variable, on to the monomial below.
    """
    begin, last = taylor.begin, delta.size
    values, passed = taylor.work[0], taylor.work[1]
    gradient, lanes = np.zeros(last), np.empty(8)
    monomials(delta, begin, values)
    for t in range(passed.size):
        passed[t] = taylor.sums[t] * taylor.over[t]
    for degree in range(begin.shape[0] - 1, 0, -1):
        for j in range(last):
            block = passed[begin[degree, j] : begin[degree, j + 1]]
            below = passed[begin[degree - 1, j] : begin[degree - 1, last]]
            value = values[begin[degree - 1, j] : begin[degree - 1, last]]
            for t in range(block.size):
                below[t] += delta[j] * block[t]
            whole, total = block.size // 8 * 8, 0.0
            for s in range(8):
                lanes[s] = 0.0
            for t in range(0, whole, 8):
                for s in range(8):
                    lanes[s] += block[t + s] * value[t + s]
            for t in range(whole, block.size):
                total += block[t] * value[t]
            for s in range(8):
                total += lanes[s]
            gradient[j] += total
    return gradient
