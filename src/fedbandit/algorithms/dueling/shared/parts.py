"""What clients of the dueling family send where an upload rests on enough duels, or on none (`smallest_upload`).

A client that has too few sends zeros, and keeps what it has: so a message says over how many duels it is. Duels of an
arm with itself tell nothing, and do not count.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from fedbandit.core.arrays import Bools, Floats, Ints
from fedbandit.core.bounds import Bounds, check_counts, check_length
from fedbandit.core.messages import Layout, Upload, array, header


@dataclass(frozen=True)
class InformationPart(Upload, kind="dueling.information-part"):
    """What a client's duels since its last part tell, or nothing yet: the sum of z z^T."""

    information: Floats = array(Layout.SYMMETRIC, shape=("d", "d"))
    duels: Ints = header()

    def check(self, bounds: Bounds) -> None:
        """Refuse what is no sum of z z^T over so many duels."""
        check_counts(duels=self.duels)
        for information, duels in zip(self.information, self.duels.tolist(), strict=True):
            bounds.check_gram("information", information, duels)

    def new_observations(self, before: int) -> int:  # noqa: ARG002
        """Return the number that the sum is over: all of them are new."""
        return int(self.duels.sum())

    def rests_on(self, told: int) -> int:  # noqa: ARG002
        """Return the number that the sum is over."""
        return int(self.duels.sum())


@dataclass(frozen=True)
class ProgressPart(Upload, kind="dueling.progress-part"):
    """A client's sums since its last part, or nothing yet: the gradient at theta_hat, and W_new."""

    gradient: Floats = array(shape=("d",))
    information: Floats = array(Layout.SYMMETRIC, shape=("d", "d"))
    rounds: Ints = header()  # that the client has played in all
    duels: Ints = header()

    def check(self, bounds: Bounds) -> None:
        """Refuse what is no sum over so many duels: |gradient|^2 <= (sum |z|)^2 <= n trace, by Cauchy and Schwarz."""
        check_counts(rounds=self.rounds - 1, duels=self.duels)
        for each, duels in enumerate(self.duels.tolist()):
            trace = bounds.check_gram("information", self.information[each], duels)
            check_length("gradient", self.gradient[each], math.sqrt(duels * max(0.0, trace)))

    def new_observations(self, before: int) -> int:  # noqa: ARG002
        """Return the number that the sums are over: all of them are new."""
        return int(self.duels.sum())

    def rests_on(self, told: int) -> int:  # noqa: ARG002
        """Return the number that the sums are over."""
        return int(self.duels.sum())


def part_of(enough: Bools, sums: Floats) -> Floats:
    """Return sums of those who have enough, and zeros for the others.

    >>> part_of(np.array([True, False]), np.array([[5.0], [6.0]])).tolist()
    [[5.0], [0.0]]
    """
    return np.where(np.reshape(enough, (-1, *[1] * (sums.ndim - 1))), sums, 0.0)
