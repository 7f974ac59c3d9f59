"""The lots that a site draws, and how likely they were to fall on what was chosen."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from fedbandit.core.arrays import Floats, Ints
from fedbandit.core.randomness import stream

_NO_LOTS = np.empty((1, 0))


class Lots:
    """Standard normals for one site after the other life; another stream estimates propensities.

    >>> lots = Lots(seed=1, life=7, size=2)
    >>> lots.draw().shape
    (1, 2)
    """

    def __init__(self, seed: int, life: int, size: int) -> None:
        """Take the seed, the life (after a restart lots are not drawn a second time) and how many a turn needs."""
        self.size = size
        self._choices = stream(seed, "exploration", life)
        self._propensities = stream(seed, "propensity", life)

    def draw(self) -> Floats:
        """Return the lots of one turn."""
        return self._choices.standard_normal((1, self.size)) if self.size else _NO_LOTS

    def propensity(self, choice: Ints, choose: Callable[[Floats], Ints], samples: int) -> float:
        """Return how likely a choice was: 1 without lots, else estimated by drawing some more.

        The choice itself counts as one of the samples, so the estimate is never 0.
        """
        if not self.size:
            return 1.0
        hits = 1
        for lots in self._propensities.standard_normal((samples, 1, self.size)):
            hits += bool((choose(lots) == choice).all())
        return hits / (samples + 1)
