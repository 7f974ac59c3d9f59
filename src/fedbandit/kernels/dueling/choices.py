"""Duels: which two arms meet, and what is learnt from who won."""

from __future__ import annotations

import numpy as np

from fedbandit.core.arrays import Floats, Ints
from fedbandit.kernels.linear.confidence import optimistic_arm
from fedbandit.kernels.linear.ridge import invert
from fedbandit.kernels.shared.compiled import compiled


@compiled
def choose_pairs(estimate: Floats, inverse: Floats, optimism: Floats, who: Ints, arms: Floats) -> Ints:
    """Return for each client of `who` its two arms (m, 2), each argmax under the tie rule.

    The first is greedy, argmax x^T theta. The second is optimistic about the difference v = x - x1,
    argmax v^T theta + optimism * sqrt(v^T W^-1 v); it may be the first again, whose score is 0.
    """
    count, size = arms.shape[1], arms.shape[2]
    pairs = np.empty((who.size, 2), dtype=np.int64)
    scratch = np.empty((2, max(count, size)))
    differences = np.empty((count, size))
    for each in range(who.size):
        client = who[each]
        first = optimistic_arm(arms[each], estimate[client], inverse[client], 0.0, scratch)
        for k in range(count):
            for j in range(size):
                differences[k, j] = arms[each, k, j] - arms[each, first, j]
        pairs[each, 0] = first
        pairs[each, 1] = optimistic_arm(differences, estimate[client], inverse[client], optimism[each], scratch)
    return pairs


@compiled
def winner_minus_loser(arms: Floats, pairs: Ints, first_won: Floats) -> Floats:
    """Return z = x_winner - x_loser of each duel: all that the likelihood and the information need of it."""
    size = arms.shape[2]
    differences = np.empty((pairs.shape[0], size))
    for each in range(pairs.shape[0]):
        sign = 2.0 * first_won[each] - 1.0
        for j in range(size):
            differences[each, j] = sign * (arms[each, pairs[each, 0], j] - arms[each, pairs[each, 1], j])
    return differences


@compiled
def share_inverse(matrix: Floats, to: Ints, inverse: Floats) -> None:
    """Invert a matrix once, and write the inverse to the rows of all clients of `to`."""
    size = matrix.shape[0]
    found, scratch = np.empty((size, size)), np.empty((2, size, size))
    invert(matrix, 0.0, found, scratch[0], scratch[1])
    for each in range(to.size):
        inverse[to[each]] = found
