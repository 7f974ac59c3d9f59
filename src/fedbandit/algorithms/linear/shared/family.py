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
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np

from fedbandit.algorithms.linear.shared.choosing import ChoosingClients, no_errors
from fedbandit.algorithms.linear.shared.cohort import LinearCohortState
from fedbandit.algorithms.linear.shared.forgetting import age_cohort
from fedbandit.core.algorithm import Algorithm
from fedbandit.core.arrays import Bools, Floats, Ints
from fedbandit.core.bounds import Bounds, check_counts
from fedbandit.core.errors import InvalidInput
from fedbandit.core.interfaces import Cadence, Outgoing, Played
from fedbandit.core.messages import Download, Layout, Upload, array, header
from fedbandit.core.parameters import parameter
from fedbandit.core.turns import Observations, Rewards, Turns
from fedbandit.kernels.linear import ridge_rows as kernel
from fedbandit.kernels.linear.confidence import Width
from fedbandit.kernels.linear.snapshots import empty_snapshots, free_slot, point_at_once
from fedbandit.kernels.linear.turns import DONE, FIRST, RIDGE, UPLOAD, TurnKernels, reason_of_one
from fedbandit.kernels.shared.rows import doubled

EXPLORATIONS = {"ucb": kernel.UCB, "thompson": kernel.THOMPSON, "perturbed": kernel.PERTURBED, "igw": kernel.IGW}


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
    exploration: str = parameter(
        "ucb", "how to explore: optimism, a sample, or lots by inverse gap weighting", choices=tuple(EXPLORATIONS)
    )
    alpha: float | None = parameter(
        None, "a fixed width of the confidence bound; default: the theory's", symbol="alpha", at_least=0
    )

    greed: float | str = parameter(
        "auto", "igw only: how much likelier a better arm is", symbol="gamma", general=True, at_least=0, word="auto"
    )

    discount: float = parameter(  # type: ignore[misc]
        1.0, "weight that an observation keeps when an epoch ends", general=True, above=0, at_most=1
    )

    def width(self, dimension: int) -> Width:
        """Return the width of the confidence bound, which grows with `noise` at a constant rate."""
        if self.alpha is not None:
            return Width(self.alpha, 0.0, 0.0)
        offset = 2.0 * math.log(1.0 / self.delta) - dimension * math.log(self.ridge)
        return Width(math.sqrt(self.ridge), self.noise, offset)

    def rule(self, dimension: int, *, timed: bool = False) -> kernel.Rule:
        """Return the parameters as the kernels need them."""
        greed = kernel.AUTO if self.greed == "auto" else float(self.greed)
        quiet, unit = (replace(self, noise=noise).width(dimension) for noise in (0.0, 1.0))
        exploration = EXPLORATIONS[self.exploration]
        return kernel.Rule(self.ridge, self.width(dimension), exploration, timed, greed, self.noise, quiet, unit)


class LinearClients(ChoosingClients):
    """Clients that upload when their trigger passes a threshold, and say hello at their first turn if asked to.

    A variant says by `scored` what scores use (here all that a client knows), by `begin` how that starts, by `ways` how
    a download changes it, and by `news` what a client sends.
    """

    cadence = Cadence.TURN
    ways: ClassVar[dict[int, TurnKernels]] = RIDGE  # how turns are played, by exploration

    def __init__(self, rule: kernel.Rule, dimension: int, thresholds: Floats, greets: Bools) -> None:
        """Take the rule, and for each client its upload threshold and whether it says hello.

        A threshold is compared with the growth log(det(V_i + ridge I) / det(V_i - dV_i + ridge I)), so it is the
        logarithm of a ratio of determinants; with a timed rule, with growth times observations.
        """
        self.explore_by(rule, dimension)
        self.ridge = rule.ridge
        self.is_timed = rule.timed
        self.kernels = self.ways[rule.exploration]
        self.dimension = dimension
        self.sizes = {"d": dimension}  # of the messages: perhaps of a part of the features only
        self.thresholds = thresholds
        self.greets = greets

    def start(self, clients: int) -> LinearCohortState:
        """Return a cohort that has seen nothing."""
        capacity = min(clients, 64)
        return LinearCohortState(
            row_of=np.full(clients, -1, dtype=np.int64),
            used=np.zeros(1, dtype=np.int64),
            slot_of=np.full(clients, -1, dtype=np.int64),
            rows=kernel.empty_rows(capacity, self.dimension),
            shared=empty_snapshots(4, self.dimension),
            errors=no_errors(capacity) if self.draws_lot else None,
        )

    def scored(self, state: Any) -> Any:
        """Return what scores use: all that the clients know."""
        return kernel.model_of(state.rows)

    def begin(self, state: Any, row: int) -> None:
        """Prepare the row of a client that acts for the first time."""
        kernel.begin(state.rows, row, self.ridge)

    def grow(self, state: Any) -> None:
        """Make room for as many rows again."""
        state.rows = doubled(state.rows)
        if state.errors is not None:
            state.errors = doubled(state.errors)

    def age(self, state: Any, weight: float) -> None:
        """Let all that the clients have observed or been told count for less, from the next turn on."""
        age_cohort(state, self.ridge, weight)

    def news(self, state: Any, client: Ints, why: int) -> Sequence[Outgoing[Upload]]:
        """Return what one client sends after a turn: its upload, or at its first turn a hello."""
        if why == UPLOAD:
            return (Outgoing(client, self.flush(state, client)),)
        return (Outgoing(client, Hello()),) if self.greets[client[0]] else ()

    def learn(self, state: LinearCohortState, who: Ints, seen: Observations) -> Sequence[Outgoing[Upload]]:
        """Take in each client's reward; return the uploads and hellos that follow."""
        outgoing: list[Outgoing[Upload]] = []
        scratch = kernel.scratch_for(*seen.features.shape[1:])
        for each, client in enumerate(who.tolist()):
            row = self.settle(state, client)
            rows, arm = state.rows, seen.features[each, seen.choice[each]]
            self.note_error(state, row, seen, each)
            self.kernels.observe(rows, self.scored(state), row, arm, float(seen.feedback[each]), self.rule, scratch)
            growth, fresh, turns = rows.growth[row], rows.fresh[row], rows.turns[row]
            why = reason_of_one(growth, fresh, turns, self.is_timed, self.thresholds[client])
            if why != DONE:
                outgoing += self.news(state, who[each : each + 1], why)
        return outgoing

    def play(self, state: LinearCohortState, turns: Turns, start: int, draws: Floats) -> Played:
        """Play turns in one compiled loop until one sends something."""
        if not isinstance(turns.outcomes, Rewards):
            raise InvalidInput("this algorithm learns from rewards, not from duels: choose another environment")
        choices, scratch = np.empty(len(turns), dtype=np.int64), kernel.scratch_for(*turns.features.shape[1:])
        turn, lots = start, self.room_for_lots(len(turns) - start)
        while turn < len(turns):
            if state.row_of[turns.client[turn]] < 0:
                self.settle(state, int(turns.client[turn]))
            turn, why = self.kernels.play(
                state.row_of, state.slot_of, state.rows, state.shared, self.scored_with(state, lots), self.rule,
                self.is_timed, self.thresholds, turns.client, turns.features, turns.outcomes.payoff, draws, turn,
                choices, scratch,
            )  # fmt: skip
            if why in (FIRST, UPLOAD) and (outgoing := self.news(state, turns.client[turn - 1 : turn], why)):
                return Played(choices[start:turn], outgoing, lots and lots.propensity[: turn - start])
        return Played(choices[start:], (), lots and lots.propensity)

    def receive(self, state: LinearCohortState, to: Ints, message: Snapshot) -> Sequence[Outgoing[Upload]]:
        """Note the snapshot for each recipient; it is taken in when the client next acts."""
        slot = free_slot(state.shared.users)
        if slot < 0:
            slot = len(state.shared.users)
            state.shared = doubled(state.shared)
        state.shared.gram[slot] = message.gram
        state.shared.moment[slot] = message.moment
        state.shared.ready[slot] = False
        point_at_once(state.slot_of, state.shared.users, to, slot)
        return ()

    def flush(self, state: LinearCohortState, who: Ints) -> Statistics:
        """Empty the upload buffers of clients that have acted, into a message."""
        return Statistics(*kernel.flush(state.rows, state.row_of[who]))

    def settle(self, state: LinearCohortState, client: int) -> int:
        """Return the client's row, ready to act: begun if this is its first turn, its download taken in."""
        row = int(state.row_of[client])
        if row < 0:
            row = int(state.used[0])
            if row == len(state.rows.fresh):
                self.grow(state)
            state.used[0] += 1
            state.row_of[client] = row
            self.begin(state, row)
        slot = int(state.slot_of[client])
        if slot >= 0:
            scratch = kernel.scratch_for(0, self.dimension)
            self.kernels.take_in(state.rows, self.scored(state), row, state.shared, slot, self.rule, scratch)
            state.slot_of[client] = -1
            state.shared.users[slot] -= 1
        return row


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
