"""By how much sums of rounded numbers are off, so that honest ones pass the checks that exact ones pass.

Each site rounds its numbers to multiples of 2^-24. A number of a sum over k sites is off by at most e = k 2^-25, a
vector of d of them by sqrt(d) e, and a symmetric matrix by d e in every direction: with 2 d e more on its diagonal it
is positive again, and its trace is at most 3 d^2 e more than it was.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np

from fedbandit.core.arrays import Floats
from fedbandit.core.bounds import Bounds
from fedbandit.secure.ring import FRACTION


@dataclass(frozen=True)
class Rounding:
    """The rounding of a sum over so many sites, of numbers over so many observations."""

    sites: int
    observations: int

    @property
    def error(self) -> float:
        """Return by how much one number is off."""
        return self.sites * 0.5 ** (FRACTION + 1)

    def of_vector(self, size: int) -> float:
        """Return by how much a vector of so many numbers is off."""
        return math.sqrt(size) * self.error

    def shortest(self, vector: Floats) -> Floats:
        """Return the shortest vector that the sum may have been.

        >>> Rounding(sites=2, observations=5).shortest(np.array([2.0**-25]))
        array([0.])
        """
        length = math.sqrt(float(vector @ vector))
        off = self.of_vector(len(vector))
        return vector * (1.0 - off / length) if length > off else np.zeros_like(vector)

    def lifted(self, gram: Floats) -> Floats:
        """Return a sum of x x^T with so much more on its diagonal that it is positive."""
        return gram + 2.0 * len(gram) * self.error * np.eye(len(gram))

    def eased(self, bounds: Bounds, size: int) -> Bounds:
        """Return bounds by which the trace of a lifted sum of x x^T, or of a quarter of them, is not too large."""
        more = 4.0 * 3.0 * size**2 * self.error / max(1, self.observations)
        return replace(bounds, context=math.sqrt(bounds.context**2 + more))
