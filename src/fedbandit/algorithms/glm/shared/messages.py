"""What clients and server of the generalised linear family say to each other during a global update.

A client `Due` for an update tells the server so, which then `Call`s all of them; both are signals, and a client's
answers speak of the observations that it had when it was called. Every question and answer names the update
(`version`) and, inside it, the `step`: an answer to an older question is recognised and changes nothing. Statistics
name the observations that they speak of, so that none is lost where an update went on without a client.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from fedbandit.core.arrays import Floats, Ints
from fedbandit.core.bounds import Bounds, check_counts
from fedbandit.core.messages import Download, Layout, Upload, array, header


@dataclass(frozen=True)
class Due(Upload, kind="glm.due"):
    """A client's schedule asks for update `version`, in round `round`: its own, which counts its observations."""

    version: Ints = header()
    round: Ints = header()

    def check(self, bounds: Bounds) -> None:  # noqa: ARG002
        """Refuse version 0, which nobody has to ask for, and round 0, in which nobody has learnt anything."""
        check_counts(version=self.version - 1, round=self.round - 1)

    def new_observations(self, before: int) -> int:
        """Return how many observations the client has made beyond those that it told of before."""
        return max(0, int(self.round.sum()) - before)


@dataclass(frozen=True)
class Call(Download, kind="glm.call"):
    """Update `version` begins: the server asks for what clients have learnt since the last.

    A client that was left out of an update is told from which observation on (`since`; else -1).
    """

    version: int = header()
    since: int = header()


@dataclass(frozen=True)
class Behind(Upload, kind="glm.behind"):
    """A called client has taken in update `version`, and not the last one: it asks for that model again."""

    version: Ints = header()

    def check(self, bounds: Bounds) -> None:  # noqa: ARG002
        """Refuse a version that is no number of updates."""
        check_counts(version=self.version)


class _Sums(Upload):
    """What is said of sums over a client's latest observations."""

    gram: Floats
    version: Ints
    step: Ints
    observations: Ints
    since: Ints

    def check(self, bounds: Bounds) -> None:
        """Refuse what is no sum of x x^T over the observations from `since` on: see `Bounds.check_gram`.

        A client whose store was lost, and which is asked about observations that it no longer has, answers by nothing.
        """
        check_counts(version=self.version - 1, step=self.step, observations=self.observations, since=self.since)
        for gram, new in zip(self.gram, self.told().tolist(), strict=True):
            bounds.check_gram("gram matrix", gram, new)

    def told(self) -> Ints:
        """Return over how many observations the sums are."""
        return np.asarray(np.maximum(0, self.observations - self.since))

    def new_observations(self, before: int) -> int:
        """Return how many observations the client has made beyond those that it told of before."""
        return max(0, int(self.observations.sum()) - before)

    def rests_on(self, told: int) -> int:  # noqa: ARG002
        """Return the number that the sums are over."""
        return int(self.told().sum())


@dataclass(frozen=True)
class Statistics(_Sums, kind="glm.statistics"):
    """dA = sum x x^T since the last update; `observations` counts all that the client has made."""

    gram: Floats = array(Layout.SYMMETRIC, shape=("d", "d"))
    version: Ints = header()
    step: Ints = header()
    observations: Ints = header()
    since: Ints = header()  # the first of them that it speaks of


@dataclass(frozen=True)
class Batch(_Sums, kind="glm.batch"):
    """dV and the gradient, at the last global model, of the observations since the last update (algorithm 6)."""

    gram: Floats = array(Layout.SYMMETRIC, shape=("d", "d"))
    gradient: Floats = array(shape=("d",))
    version: Ints = header()
    step: Ints = header()
    observations: Ints = header()
    since: Ints = header()  # the first of them that it speaks of


@dataclass(frozen=True)
class Probe(Download, kind="glm.probe"):
    """An iterate theta^(j) of the global regression: what are its gradients?"""

    model: Floats = array(shape=("d",))
    version: int = header()
    step: int = header()

    def named(self, clients: int) -> dict[str, Ints]:
        """Return the headers by which the answers of so many clients name it."""
        return {"version": np.full(clients, self.version), "step": np.full(clients, self.step)}


class _Answer(Upload):
    """What is said of the answer to a probe. How large it can be, the server knows: see `GlmServer.check`."""

    version: Ints
    step: Ints

    def check(self, bounds: Bounds) -> None:  # noqa: ARG002
        """Refuse headers that name no question: updates count from 1."""
        check_counts(version=self.version - 1, step=self.step)

    def new_observations(self, before: int) -> int:  # noqa: ARG002
        """Return 0: the statistics have told of them."""
        return 0

    def rests_on(self, told: int) -> int:
        """Return all that the statistics have told of: it is over the same."""
        return told


@dataclass(frozen=True)
class Gradient(_Answer, kind="glm.gradient"):
    """The gradient of a client's loss at the iterate, summed over its observations."""

    gradient: Floats = array(shape=("d",))
    version: Ints = header()
    step: Ints = header()


@dataclass(frozen=True)
class Curvature(_Answer, kind="glm.curvature"):
    """The gradient and the Hessian of a client's loss at the iterate, summed over its observations."""

    gradient: Floats = array(shape=("d",))
    curvature: Floats = array(Layout.SYMMETRIC, shape=("d", "d"))
    version: Ints = header()
    step: Ints = header()


Answer = Statistics | Batch | Gradient | Curvature  # to a question of an update


@dataclass(frozen=True)
class FrozenModel(Download, kind="glm.frozen-model"):
    """The end of an update where clients do not learn in between (algorithm 4): A and theta."""

    gram: Floats = array(Layout.SYMMETRIC, shape=("d", "d"))
    model: Floats = array(shape=("d",))
    version: int = header()
    round: int = header()
    observations: int = header()


@dataclass(frozen=True)
class GlobalModel(Download, kind="glm.global-model"):
    """The end of an update (algorithms 1 and 5): A, b and theta."""

    gram: Floats = array(Layout.SYMMETRIC, shape=("d", "d"))
    moment: Floats = array(shape=("d",))
    model: Floats = array(shape=("d",))
    version: int = header()
    round: int = header()
    observations: int = header()


@dataclass(frozen=True)
class NewtonModel(Download, kind="glm.newton-model"):
    """The end of an update by one Newton step (algorithm 6): A, V, b and theta."""

    metric: Floats = array(Layout.SYMMETRIC, shape=("d", "d"))
    gram: Floats = array(Layout.SYMMETRIC, shape=("d", "d"))
    moment: Floats = array(shape=("d",))
    model: Floats = array(shape=("d",))
    version: int = header()
    round: int = header()
    observations: int = header()


NewModel = FrozenModel | GlobalModel | NewtonModel  # what may end an update
