"""What questions of the linear family tell: how much of what the server has their sender knows."""

from __future__ import annotations

from abc import abstractmethod

import numpy as np

from fedbandit.core.arrays import Floats, Ints
from fedbandit.core.bounds import Bounds, check_counts
from fedbandit.core.messages import Upload


class Asks(Upload):
    """What a question tells: how much of what the server has its sender knows."""

    includes: Ints  # how many uploads, of all clients, what it knows includes

    def check(self, bounds: Bounds) -> None:
        """Refuse an impossible count, and what the other parts of the message refuse."""
        super().check(bounds)
        check_counts(includes=self.includes)

    @abstractmethod
    def level_of(self, each: int, ridge: float) -> float:
        """Return log det(the copy last shared + ridge I) of a sender."""
        raise TypeError(f"{type(self).__name__} does not tell a level")


class AsksByLevel(Asks):
    """A question that tells the level itself."""

    level: Floats

    def level_of(self, each: int, ridge: float) -> float:  # noqa: ARG002
        """Return the level."""
        return float(self.level[each])


class AsksBySpectrum(Asks):
    """A question that tells the eigenvalues of the copy last shared, so that its level is known when that has faded."""

    spectrum: Floats

    def level_of(self, each: int, ridge: float) -> float:
        """Return the level; a copy that none can have has none."""
        regular = self.spectrum[each] + ridge
        return float(np.log(regular).sum()) if (regular > 0.0).all() else -np.inf
