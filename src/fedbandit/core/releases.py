"""What a client that hides its releases says of them: how far it has come, and how much of its promise is spent."""

from __future__ import annotations

from typing import Any, NamedTuple, Protocol

import numpy as np

from fedbandit.core.arrays import Floats, Ints

NOBODY = np.empty(0, dtype=np.int64)


class Releases(NamedTuple):
    """How far a client has come."""

    stream: int  # names the stream of releases: a restored client begins another
    drawn: int  # releases for which it has had noise
    made: int


class Privacy(NamedTuple):
    """What a client has promised of each of its observations, and what its releases so far have told.

    The releases of one stream add up to `epsilon` when all are made. A client that was restored from a backup begins
    another stream: no observation is in two, so that what was spent in one is not added to what is in another.
    """

    epsilon: float
    delta: float
    spent: float  # the epsilon of the releases that were made
    mu: float  # the same as a number that adds up in squares: see `fedbandit.kernels.privacy.gaussian`
    made: int
    left: int  # releases that can still be made


class HidesReleases(Protocol):
    """What a client side says that hides its releases under noise; the defaults are those of a side without noise.

    Sides draw nothing themselves. Whoever runs clients hands each the noise of its next release before it acts again,
    and in a deployment writes it to the journal before the release leaves.
    """

    noise_size: int = 0  # how many secret standard normals hide one release of a client

    def lacks_noise(self, state: Any) -> Ints:  # noqa: ARG002
        """Return who needs noise for what it releases next; whoever runs the clients hands it in before they act."""
        return NOBODY

    def take_noise(self, state: Any, client: int, normals: Floats, stream: int = 0) -> None:  # noqa: ARG002
        """Take `noise_size` standard normals for what a client releases next; the first name its stream."""
        raise TypeError(f"{type(self).__name__} needs no noise")

    def releases(self, state: Any, client: int) -> Releases:  # noqa: ARG002
        """Return how far a client that needs noise has come with its releases."""
        raise TypeError(f"{type(self).__name__} needs no noise")

    def privacy(self, state: Any, client: int) -> Privacy | None:  # noqa: ARG002
        """Return what a client's releases have told of any of its observations; None where nothing is promised."""
        return None
