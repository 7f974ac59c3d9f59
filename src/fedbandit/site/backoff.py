"""How long to wait before something is tried again: longer and longer, and not in step with others."""

from __future__ import annotations

import numpy as np

JITTER = 0.25  # a wait is longer than its turn by up to this part, so that many sites do not come back as one


class Backoff:
    """Waits that double from the first on, up to a most, until it is reset.

    >>> backoff = Backoff(30.0, 600.0, np.random.default_rng(0))
    >>> waits = [backoff.next() for _ in range(7)]
    >>> all(turn <= wait <= 1.25 * turn for turn, wait in zip([30, 60, 120, 240, 480, 600, 600], waits))
    True
    """

    def __init__(self, first: float, most: float, lots: np.random.Generator) -> None:
        """Take the first wait and the longest, in seconds, and what draws by how much each is longer."""
        self.first = first
        self._most = max(first, most)
        self._lots = lots
        self._turn = first

    def next(self) -> float:
        """Return the seconds to wait this time."""
        wait = self._turn * (1.0 + JITTER * float(self._lots.random()))
        self._turn = min(2.0 * self._turn, self._most)
        return wait

    def reset(self) -> None:
        """Begin again with the first wait: what was waited for has come."""
        self._turn = self.first
