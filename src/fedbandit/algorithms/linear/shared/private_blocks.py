"""Blocks of turns of private clients: who acts next depends on counts alone, and till then no model changes."""

from __future__ import annotations

import numpy as np

from fedbandit.core.arrays import Ints


def ranks_of(clients: Ints) -> Ints:
    """Return of each turn how many turns its client has had up to it.

    >>> ranks_of(np.array([4, 7, 4, 4, 7]))
    array([1, 1, 2, 3, 2])
    """
    order = np.argsort(clients, kind="stable")
    ordered = clients[order]
    begins = np.flatnonzero(np.diff(ordered, prepend=-1))
    lengths = np.diff(begins, append=len(ordered))
    ranks = np.empty(len(clients), dtype=np.int64)
    ranks[order] = np.arange(len(ordered)) - np.repeat(begins, lengths) + 1
    return ranks


def until_one_acts(clients: Ints, ranks: Ints, left: Ints) -> int:
    """Return how many turns it takes until a client has had as many as it has left; all, if none has.

    >>> until_one_acts(np.array([0, 1, 0, 0]), np.array([1, 1, 2, 3]), left=np.array([2, 9]))
    3
    """
    due = np.flatnonzero(ranks >= left[clients])
    return int(due[0]) + 1 if due.size else len(clients)
