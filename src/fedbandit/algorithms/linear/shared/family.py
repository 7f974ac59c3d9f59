"""What the linear family shares: its messages, its parameters, and clients that keep ridge regressions.

Client i keeps V_i, b_i (all it knows) and dV_i, db_i (its own part not yet uploaded). It chooses

    argmax_x  x^T theta_i + alpha_i sqrt(x^T (V_i + ridge I)^-1 x),   theta_i = (V_i + ridge I)^-1 b_i
    alpha_i = noise sqrt(log det(V_i + ridge I) - d log ridge + 2 log(1 / delta)) + sqrt(ridge)

(Li and Wang 2022, section 3.3, equation 5), or greedily by a sample of theta (footnote 1). A download carries V_g, b_g
for all recipients alike: what was last shared with i is V_i - dV_i = V_g - dV_-i, so V_i := V_g + dV_i.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from fedbandit.core.algorithm import Algorithm
from fedbandit.core.arrays import Bools, Floats, Ints
from fedbandit.core.bounds import Bounds, check_counts
from fedbandit.core.errors import InvalidInput
from fedbandit.core.interfaces import Cadence, Clients, Outgoing, Played
from fedbandit.core.messages import Download, Layout, Upload, array, header
from fedbandit.core.parameters import parameter
from fedbandit.core.turns import Observations, Rewards, Turns
from fedbandit.kernels.linear import ridge_rows as kernel
from fedbandit.kernels.linear import ridge_turns
from fedbandit.kernels.linear.confidence import Width
from fedbandit.kernels.linear.snapshots import Snapshots, empty_snapshots, free_slot, point
from fedbandit.kernels.shared.rows import doubled

EXPLORATIONS = {"ucb": kernel.UCB, "thompson": kernel.THOMPSON, "perturbed": kernel.PERTURBED}


@dataclass(frozen=True)
class Statistics(Upload, kind="linear.statistics"):
    """A client's own sums since its last upload: dV = sum x x^T, db = sum x y."""

    gram: Floats = array(Layout.SYMMETRIC, shape=("d", "d"))
    moment: Floats = array(shape=("d",))
    observations: Ints = header()

    def check(self, bounds: Bounds) -> None:
        """Refuse sums that so many observations cannot have: see `Bounds.check_sums`."""
        check_counts(observations=self.observations)
        for gram, moment, observations in zip(self.gram, self.moment, self.observations, strict=True):
            bounds.check_sums(gram, moment, int(observations))

    def new_observations(self, before: int) -> int:  # noqa: ARG002
        """Return the number that the sums are over: all of them are new."""
        return int(self.observations.sum())


@dataclass(frozen=True)
class Hello(Upload, kind="linear.hello"):
    """A client had its first turn: from now on the server checks whether it is owed a download."""


@dataclass(frozen=True)
class Snapshot(Download, kind="linear.snapshot"):
    """The server's sums V_g, b_g at a version."""

    gram: Floats = array(Layout.SYMMETRIC, shape=("d", "d"))
    moment: Floats = array(shape=("d",))
    version: int = header()


@dataclass(frozen=True)
class LinearAlgorithm(Algorithm):
    """The parameters that every member of the family has."""

    ridge: float = parameter(0.1, "regularisation of the regression", symbol="lambda", above=0)
    noise: float = parameter(0.1, "scale of the reward noise (sub-Gaussian)", symbol="sigma", at_least=0)
    delta: float = parameter(0.1, "probability that the confidence bound fails", symbol="delta", above=0, below=1)
    exploration: str = parameter("ucb", "how to explore: optimism or a sample", choices=tuple(EXPLORATIONS))
    alpha: float | None = parameter(
        None, "a fixed width of the confidence bound; default: the theory's", symbol="alpha", at_least=0
    )

    def rule(self, dimension: int, *, timed: bool = False) -> kernel.Rule:
        """Return the parameters as the kernels need them."""
        if self.alpha is None:
            offset = 2.0 * math.log(1.0 / self.delta) - dimension * math.log(self.ridge)
            width = Width(math.sqrt(self.ridge), self.noise, offset)
        else:
            width = Width(self.alpha, 0.0, 0.0)
        return kernel.Rule(self.ridge, width, EXPLORATIONS[self.exploration], timed)


@dataclass
class CohortState:
    """What the clients know. A client has a row once it has acted; a download waits as a slot."""

    row_of: Ints  # (clients,) its row, or -1
    used: Ints  # (1,) rows in use
    slot_of: Ints  # (clients,) the snapshot that it has yet to take in, or -1
    rows: kernel.RidgeRows
    shared: Snapshots


class LinearClients(Clients):
    """Clients that upload when their trigger passes a threshold, and say hello at their first turn if asked to."""

    cadence = Cadence.TURN
    turns: ClassVar[Any] = ridge_turns  # the kernels that play whole blocks of turns

    def __init__(self, rule: kernel.Rule, dimension: int, thresholds: Floats, greets: Bools) -> None:
        """Take the rule, and for each client its upload threshold and whether it says hello."""
        self.rule = rule
        self.dimension = dimension
        self.sizes = {"d": dimension}  # of the messages: perhaps of a part of the features only
        self.thresholds = thresholds
        self.greets = greets
        self.draws = 0 if rule.exploration == kernel.UCB else dimension

    def start(self, clients: int) -> CohortState:
        """Return a cohort that has seen nothing."""
        return CohortState(
            row_of=np.full(clients, -1, dtype=np.int64),
            used=np.zeros(1, dtype=np.int64),
            slot_of=np.full(clients, -1, dtype=np.int64),
            rows=kernel.empty_rows(min(clients, 64), self.dimension),
            shared=empty_snapshots(4, self.dimension),
        )

    def choose(self, state: CohortState, who: Ints, features: Floats, draws: Floats) -> Ints:
        """Return the arm of each client."""
        self._make_room(state, len(who))
        chosen: Ints = self.turns.choose_each(*self._cohort(state), who, features, draws)
        return chosen

    def learn(self, state: CohortState, who: Ints, seen: Observations) -> Sequence[Outgoing[Upload]]:
        """Take in each client's reward; return the uploads and hellos that follow."""
        self._make_room(state, len(who))
        why = self.turns.observe_each(
            *self._cohort(state), self.thresholds, who, seen.features, seen.choice, seen.feedback
        )
        outgoing: list[Outgoing[Upload]] = []
        for each in np.flatnonzero(why):
            outgoing += self._news(state, who[each : each + 1], why[each])
        return outgoing

    def play(self, state: CohortState, turns: Turns, start: int, draws: Floats) -> Played:
        """Play turns in one compiled loop until one sends something."""
        if not isinstance(turns.outcomes, Rewards):
            raise InvalidInput("this algorithm learns from rewards, not from duels: choose another environment")
        choices = np.empty(len(turns), dtype=np.int64)
        turn = start
        while True:
            turn, why = self.turns.play(
                *self._cohort(state), self.thresholds, turns.client, turns.features, turns.outcomes.payoff, draws,
                turn, choices,
            )  # fmt: skip
            if why == kernel.FULL:
                self._make_room(state, 1)
            elif why == kernel.DONE:
                return Played(choices[start:], ())
            elif outgoing := self._news(state, turns.client[turn - 1 : turn], why):
                return Played(choices[start:turn], outgoing)

    def receive(self, state: CohortState, to: Ints, message: Snapshot) -> Sequence[Outgoing[Upload]]:
        """Note the snapshot for each recipient; it is taken in when the client next acts."""
        slot = free_slot(state.shared.users)
        if slot < 0:
            slot = len(state.shared.users)
            state.shared = doubled(state.shared)
        state.shared.gram[slot] = message.gram
        state.shared.moment[slot] = message.moment
        state.shared.ready[slot] = False
        point(state.slot_of, state.shared.users, to, slot)
        return ()

    def flush(self, state: CohortState, who: Ints) -> Statistics:
        """Empty the upload buffers of clients that have acted, into a message."""
        return Statistics(*kernel.flush_each(state.rows, state.row_of, who))

    def _cohort(self, state: CohortState) -> tuple[Any, ...]:
        """Return what the kernels need to know of the clients."""
        return state.row_of, state.used, state.slot_of, state.rows, state.shared, self.rule

    def _news(self, state: CohortState, client: Ints, why: int) -> Sequence[Outgoing[Upload]]:
        if why == kernel.UPLOAD:
            return (Outgoing(client, self.flush(state, client)),)
        return (Outgoing(client, Hello()),) if self.greets[client[0]] else ()

    def _make_room(self, state: CohortState, wanted: int) -> None:
        while state.used[0] + wanted > len(state.rows.fresh) < len(state.row_of):
            state.rows = doubled(state.rows)


def per_client(name: str, value: float | tuple[float, ...], clients: int) -> Floats:
    """Return a threshold for each client from one number for all or one each.

    >>> per_client("upload_threshold", 2.0, 3)
    array([2., 2., 2.])
    """
    if isinstance(value, tuple) and len(value) != clients:
        raise InvalidInput(
            f"{name} lists {len(value)} values for {clients} clients: give one number, or one for each client"
        )
    return np.array(np.broadcast_to(np.asarray(value, dtype=np.float64), clients))
