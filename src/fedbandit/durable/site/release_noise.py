"""The noise of what a private site releases: drawn from the system, written to the journal, never from a seed.

A seed in a store would be copied with it: a backup that goes on gives two releases of different data the same noise,
and their difference is the data. For the same reason a site that may be a restored one begins a stream of its own.
"""

from __future__ import annotations

import os
import secrets
from typing import Protocol

import numpy as np

from fedbandit.core.arrays import Floats

STREAM_BITS = 40


class NoiseSource(Protocol):
    """Where noise comes from."""

    def normals(self, size: int) -> Floats:
        """Return standard normals that nobody else has."""

    def stream(self) -> int:
        """Return a number that no stream of this site has had."""


class SystemNoise:
    """The random numbers of the operating system.

    >>> SystemNoise().normals(3).shape, 0 < SystemNoise().stream() <= 2**STREAM_BITS
    ((3,), True)
    """

    def normals(self, size: int) -> Floats:
        """Return Phi^-1((u + 1/2) / 2^52), u of 52 bits."""
        from scipy.special import ndtri  # slow to import, and only private sites need it

        bits = np.frombuffer(os.urandom(8 * size), dtype="<u8") >> np.uint64(12)
        return np.asarray(ndtri((bits + 0.5) / 2.0**52))

    def stream(self) -> int:
        """Return a random number: a count would come to the same twice, after a restore."""
        return 1 + secrets.randbits(STREAM_BITS)
