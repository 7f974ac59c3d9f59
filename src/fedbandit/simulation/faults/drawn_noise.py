"""The noise of private sites in a faulty run: another for each release, whatever goes wrong, and the same by a seed."""

from __future__ import annotations

from fedbandit.core.arrays import Floats
from fedbandit.core.randomness import stream
from fedbandit.durable.site.release_noise import STREAM_BITS


class DrawnNoise:
    """One stream of random numbers for all sites, as the system has one."""

    def __init__(self, seed: int) -> None:
        """Take the seed of the run."""
        self._rng = stream(seed, "release noise")

    def normals(self, size: int) -> Floats:
        """Return standard normals."""
        return self._rng.standard_normal(size)

    def stream(self) -> int:
        """Return the number of a stream."""
        return 1 + int(self._rng.integers(1 << STREAM_BITS))
