"""The noise of releases in a simulation: that of the world's file, or of a stream that nothing else draws from."""

from __future__ import annotations

import numpy as np

from fedbandit.core.arrays import Floats
from fedbandit.core.errors import InvalidInput
from fedbandit.core.randomness import stream
from fedbandit.protocol.client import ClientNode


class ReleaseNoise:
    """Hands each client the standard normals of one release after the other."""

    def __init__(self, seed: int, given: Floats | None = None) -> None:
        """Take the seed, and what the world fixes (N, releases, numbers)."""
        self._seed = seed
        self._given = given
        self._streams: dict[int, np.random.Generator] = {}
        self._handed: dict[int, int] = {}

    def supply(self, node: ClientNode) -> None:
        """Give noise to every client of a node that needs some before it releases again."""
        if node.side.noise_size:
            for client in node.side.lacks_noise(node.state).tolist():
                node.side.take_noise(node.state, client, self._next(client + node.first, node.side.noise_size))

    def _next(self, client: int, size: int) -> Floats:
        if self._given is None:
            if client not in self._streams:
                self._streams[client] = stream(self._seed, "privacy", client)
            return self._streams[client].standard_normal(size)
        done = self._handed[client] = self._handed.get(client, -1) + 1
        releases, numbers = self._given.shape[1:]
        if numbers != size:
            raise InvalidInput(
                f"noise_draws has {numbers} numbers a release, but d (d + 1) / 2 + d = {size} are needed: record "
                "so many"
            )
        if done == releases:
            raise InvalidInput(
                f"noise_draws has {releases} releases of client {client}, but it may make more: record as many as the "
                "parameter `releases` says, or leave noise_draws out"
            )
        return np.asarray(self._given[client, done])
