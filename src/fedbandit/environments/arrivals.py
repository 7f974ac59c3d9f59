"""Whose turn it is: uniform, skewed (Zipf), or round-robin."""

from __future__ import annotations

import numpy as np

from fedbandit.core.arrays import Ints

ARRIVALS = ("uniform", "skewed", "round-robin")


class Arrivals:
    """Draws the acting clients of consecutive turns.

    >>> rng = np.random.default_rng(0)
    >>> Arrivals("round-robin", clients=3, skew=1.0).next(rng, 4)
    array([0, 1, 2, 0])
    """

    def __init__(self, kind: str, clients: int, skew: float) -> None:
        """Take one of ARRIVALS; `skew` is the exponent of the Zipf distribution over clients."""
        self._kind = kind
        self._clients = clients
        self._turn = 0
        weights = np.arange(1, clients + 1, dtype=np.float64) ** -skew if kind == "skewed" else np.ones(1)
        self._cumulative = np.cumsum(weights) / weights.sum()

    def next(self, rng: np.random.Generator, count: int) -> Ints:
        """Return the clients of the next turns."""
        if self._kind == "round-robin":
            turns = np.arange(self._turn, self._turn + count)
            self._turn += count
            return turns % self._clients
        if self._kind == "uniform":
            return rng.integers(self._clients, size=count)
        drawn = np.searchsorted(self._cumulative, rng.random(count), side="right")
        return np.minimum(drawn, self._clients - 1)


def acting(kind: str, clients: int, skew: float, turns: int) -> int:
    """Return how many clients have a turn among so many, at most; of skewed arrivals as is to be expected.

    Clients are taken in groups in which the most frequent stands for all, so that a thousand million cost nothing.

    >>> acting("uniform", 10, 1.0, turns=7), acting("skewed", 10**9, 1.0, turns=1000) < 1000
    (7, True)
    """
    if kind != "skewed" or turns < 1:
        return min(clients, turns)
    ends = np.unique(np.geomspace(1, clients + 1, 2000).astype(np.int64))
    first, width = ends[:-1].astype(np.float64), np.diff(ends)
    least = (width * (ends[1:] - 1.0) ** -skew).sum()
    met = (width * -np.expm1(-turns * np.minimum(1.0, first**-skew / least))).sum()
    return min(clients, turns, int(met) + 1)
