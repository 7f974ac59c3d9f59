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
