"""When private clients release: a function of counts, never of what was observed."""

from __future__ import annotations

import math
from dataclasses import dataclass

ROUNDS, OWN_COUNT = "rounds", "own-count"
_FAR = 1 << 62  # more turns than anybody has


@dataclass(frozen=True)
class Schedule:
    """How many observations since the last release make a client act.

    >>> grows = Schedule(OWN_COUNT, batch=20, growth=1.5)
    >>> [grows.due(releases) for releases in range(4)]
    [20, 30, 45, 68]
    """

    name: str
    batch: int
    growth: float = 1.0

    def due(self, releases: int) -> int:
        """Return the length of the batch after so many releases (or, when all are made, questions on top of them)."""
        if self.growth == 1.0:
            return self.batch
        logarithm = math.log(self.batch) + releases * math.log(self.growth)
        if logarithm > math.log(_FAR):
            return _FAR
        return max(self.batch, math.ceil(self.batch * self.growth**releases - 1e-9))
