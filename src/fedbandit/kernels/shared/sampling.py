"""Drawing without replacement: arms from a pool, users until all they had has been shown, items they had not."""

from __future__ import annotations

import numpy as np

from fedbandit.core.arrays import Floats, Ints
from fedbandit.kernels.shared.compiled import borrowing, compiled


def draw_distinct(uniforms: Floats, order: Ints) -> Ints:
    """Return, for each row of uniforms in [0, 1), as many distinct entries of `order`, which is left shuffled."""
    drawn = np.empty(uniforms.shape, dtype=np.int64)
    shuffle(uniforms, order, drawn)
    return drawn


@borrowing
def shuffle(uniforms: Floats, order: Ints, drawn: Ints) -> None:
    """Write to each row of `drawn` the first entries of `order` after a shuffle, as many as the row of uniforms has.

    The first steps of a Fisher-Yates shuffle: entry k is swapped with one at or after it. The order that one row
    leaves behind is as good a start for the next as any other.
    """
    for row in range(uniforms.shape[0]):
        for k in range(uniforms.shape[1]):
            other = k + int(uniforms[row, k] * (order.size - k))
            order[k], order[other] = order[other], order[k]
            drawn[row, k] = order[k]


def gather(pool: Floats, index: Ints) -> Floats:
    """Return pool[index]: the rows named by each entry of a table."""
    return np.take(pool, index, axis=0)


@compiled
def interleave(uniforms: Floats, counts: Ints) -> Ints:
    """Return an order in which each turn goes to one, drawn uniformly, of those who have something left.

    Everybody k has counts[k] things, which lie one after the other: all of the first, all of the second, and so on.
    The result names them by their places, each one's own in order.
    """
    following = np.zeros(counts.size, dtype=np.int64)
    for k in range(1, counts.size):
        following[k] = following[k - 1] + counts[k - 1]
    left = counts.copy()
    active = np.flatnonzero(counts)
    remaining = active.size
    order = np.empty(uniforms.size, dtype=np.int64)
    for turn in range(uniforms.size):
        place = int(uniforms[turn] * remaining)
        who = active[place]
        order[turn] = following[who]
        following[who] += 1
        left[who] -= 1
        if left[who] == 0:
            remaining -= 1
            active[place] = active[remaining]
    return order


@compiled
def draw_others(uniforms: Floats, who: Ints, first: Ints, had: Ints, items: int) -> Ints:
    """Return, for each row of uniforms in [0, 1), as many distinct items that the row's user has not had.

    Items are 0 to items - 1; what user u had is had[first[u] : first[u + 1]], in increasing order. Distinct ranks
    among the others are drawn by Floyd's method; the item of rank r is r plus the number of had items before it.
    """
    drawn = np.empty(uniforms.shape, dtype=np.int64)
    wanted = uniforms.shape[1]
    for row in range(uniforms.shape[0]):
        mine = had[first[who[row]] : first[who[row] + 1]]
        others = items - mine.size
        for k in range(wanted):
            highest = others - wanted + k
            rank = int(uniforms[row, k] * (highest + 1))
            for earlier in range(k):
                if drawn[row, earlier] == rank:
                    rank = highest
                    break
            drawn[row, k] = rank
        for k in range(wanted):
            rank, low, high = drawn[row, k], 0, mine.size
            while low < high:  # the first place whose had item lies beyond the rank
                middle = (low + high) // 2
                if mine[middle] - middle > rank:
                    high = middle
                else:
                    low = middle + 1
            drawn[row, k] = rank + low
    return drawn
