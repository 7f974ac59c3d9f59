"""What private clients send: noised sums over all that a client has observed, and what comes back."""

from __future__ import annotations

from dataclasses import dataclass

from fedbandit.core.arrays import Floats, Ints
from fedbandit.core.bounds import Bounds, check_counts
from fedbandit.core.messages import Download, Layout, Upload, array, header


@dataclass(frozen=True)
class Prefix(Upload, kind="private.prefix"):
    """Release k of a client's stream: noised sums over its first `observations` observations.

    The sums since the beginning travel, not what was added to them: each gives the other, so that privacy is the same,
    and of late, lost and repeated ones the server need only know which is the highest. `stream` tells which of a
    client's streams it is: after it was restored from a backup a client begins another, with new noise.
    """

    gram: Floats = array(Layout.SYMMETRIC, shape=("d", "d"))
    moment: Floats = array(shape=("d",))
    release: Ints = header()
    observations: Ints = header()
    stream: Ints = header()

    def check(self, bounds: Bounds) -> None:  # noqa: ARG002
        """Refuse impossible counts; what noised sums can be, the server knows, since it knows the noise."""
        check_counts(release=self.release, observations=self.observations, stream=self.stream)

    def new_observations(self, before: int) -> int:
        """Return how many observations it has beyond those that were told before."""
        return max(0, int(self.observations.sum()) - before)

    def rests_on(self, told: int) -> int:  # noqa: ARG002
        """Return the number that the noised sums are over, of all releases together."""
        return int(self.observations.sum())


@dataclass(frozen=True)
class Question(Upload, kind="private.ask"):
    """A client that has made all its releases asks for what the others have brought together."""


@dataclass(frozen=True)
class NoisySums(Download, kind="private.sums"):
    """The sum over all clients' latest releases, and tau^2, the variance of its noise."""

    gram: Floats = array(Layout.SYMMETRIC, shape=("d", "d"))
    moment: Floats = array(shape=("d",))
    variance: Floats = array(shape=(1,))
    version: int = header()
