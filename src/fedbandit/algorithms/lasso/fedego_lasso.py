"""Fedego Lasso: Wang, Li and Lin, "Federated High-Dimensional Online Decision Making", TMLR 2023. Algorithms 1 to 4.

The plan, the decision rule and the estimates are those of `lasso.shared.family`. Sharing (section 3.3): at the end of
each teamwork stage every client uploads its K teamwork estimates; when all have, the server broadcasts their averages
(equation 5), which screen the arms from then on:

    b_k := (1 / M) sum_m b_k^(m),   2 M messages of K d scalars a stage.

The private estimates decide and never leave. An upload that comes late (its client is a stage behind) holds the
others' next broadcast back; one that is older than what the server has is ignored. A deadline sends the average of
those who have finished a stage since the last broadcast; who was left out has its say at the end of its next stage.

`lasso-bandit` is Bastani and Bayati's: every client alone, screening by its own teamwork estimates.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from fedbandit.algorithms.attendance import Attendance, nobody_yet
from fedbandit.algorithms.lasso.shared.family import (
    PAPER,
    Estimation,
    FederatedEstimates,
    LassoAlgorithm,
    LassoCohortState,
    TeamworkPlan,
)
from fedbandit.core.algorithm import Setting
from fedbandit.core.arrays import Floats, Ints
from fedbandit.core.bounds import MOST, Bounds, check_counts
from fedbandit.core.errors import ProtocolError
from fedbandit.core.former_names import formerly, regrouped
from fedbandit.core.interfaces import Cadence, Federation, Outgoing, Server
from fedbandit.core.messages import Download, Layout, Upload, array, header
from fedbandit.core.turns import Observations

LAST_STAGE = MOST.bit_length() - 1  # as many turns as are counted
ROUNDING = 1e-6  # relative: how far from its minimum a Lasso is left


@dataclass(frozen=True)
class TeamworkEstimates(Upload, kind="lasso.teamwork"):
    """A client's K estimates from teamwork data alone, at the end of a stage."""

    estimates: Floats = array(Layout.SPARSE, shape=("K", "d"))
    stage: Ints = header()

    def check(self, bounds: Bounds) -> None:  # noqa: ARG002
        """Refuse a stage that nobody can have come to: stage n ends with 2^n K q turns."""
        check_counts(stage=self.stage)
        if (self.stage > LAST_STAGE).any():
            raise ProtocolError(f"stage {self.stage.max()} has not been: it would take 2^{self.stage.max()} turns")

    def new_observations(self, before: int) -> int:
        """Return how many turns, at a unit q of 1, the client has had beyond those that it told of before."""
        return max(0, self.rests_on(before) - before)

    def rests_on(self, told: int) -> int:  # noqa: ARG002
        """Return how many turns a client has had at the end of the stage, at a unit q of 1: at least so many."""
        turns: int = self.estimates.shape[1] << int(self.stage.max())
        return turns


class Alone:
    """Every client keeps to itself: its own teamwork estimates screen."""

    cadence = Cadence.ROUND

    def rows(self, who: Ints) -> Ints:
        """Return a row for each client."""
        return who

    def share(
        self, estimation: Estimation, plan: TeamworkPlan, state: LassoCohortState, who: Ints, seen: Observations
    ) -> Sequence[Outgoing[Upload]]:
        """Refit the arms that were played, and at the end of a stage the teamwork estimates."""
        turn = state.turns[who]
        estimation.refit_private(state, who, seen.choice, turn)
        stage = plan.ended_stage(turn)
        done = stage >= 0
        if not done.any():
            return ()
        who, stage = who[done], stage[done]
        return self.publish(state, who, stage, estimation.refit_teamwork(state, who))

    def publish(self, state: LassoCohortState, who: Ints, stage: Ints, estimates: Floats) -> Sequence[Outgoing[Upload]]:  # noqa: ARG002
        """Screen by the client's own estimates from now on."""
        state.screening[who] = estimates
        return ()

    def receive(self, state: LassoCohortState, to: Ints, message: FederatedEstimates) -> None:
        """Screen by what the server sends from now on."""
        state.screening[to] = message.estimates


class Federated(Alone):
    """Teamwork estimates go to the server, and their average comes back."""

    def publish(self, state: LassoCohortState, who: Ints, stage: Ints, estimates: Floats) -> Sequence[Outgoing[Upload]]:  # noqa: ARG002
        """Upload the estimates of the stage that ended."""
        return (Outgoing(who, TeamworkEstimates(estimates, stage)),)


def _once_without_attendance(stored: dict[str, Any]) -> dict[str, Any]:
    """Return the fields of a record of 0.1, which said by stages alone who had answered."""
    answered = np.asarray(stored["stage"] > stored["sent"])
    return {"attendance": Attendance(answered, np.zeros_like(answered), stored["missed"], bool(answered.any()))}


@regrouped(_once_without_attendance)
@formerly("ServerState")
@dataclass
class AveragingServerState:
    """The latest estimates of every client."""

    estimates: Floats  # (clients, K, d)
    stage: Ints  # (clients,) the stage that they are from, or -1
    sent: int  # the stage of the last broadcast, or -1
    attendance: Attendance  # who has finished a stage since then


class AveragingServer(Server):
    """Broadcasts the average of the clients' estimates once all have finished a stage."""

    def __init__(self, arms: int, dimension: int, penalty: float = 0.0) -> None:
        """Take the sizes of the estimates, and the penalty of those that clients send."""
        self.shape = arms, dimension
        self.penalty = penalty

    def start(self, clients: int) -> AveragingServerState:
        """Return a server that has received nothing."""
        nothing = np.full(clients, -1, dtype=np.int64)
        return AveragingServerState(np.zeros((clients, *self.shape)), nothing, -1, nobody_yet(clients))

    def receive(
        self, state: AveragingServerState, senders: Ints, message: TeamworkEstimates
    ) -> Sequence[Outgoing[Download]]:
        """Keep what is new; broadcast when every client has finished a stage more than at the last broadcast."""
        new = message.stage > state.stage[senders]
        state.estimates[senders[new]] = message.estimates[new]
        state.stage[senders[new]] = message.stage[new]
        self._note_answers(state)
        return self._broadcast(state, int(state.stage.min())) if state.attendance.is_complete else ()

    def check(
        self, state: AveragingServerState, sender: int, message: TeamworkEstimates, bounds: Bounds, observations: int  # noqa: ARG002
    ) -> None:  # fmt: skip
        """Refuse an estimate that is no minimiser of |Y - X b|^2 / n + penalty |b|_1.

        At b = 0 that is at most R^2, so that penalty |b|_1 <= R^2.
        """
        if not self.penalty:
            return
        largest = float(np.abs(message.estimates[0]).sum(axis=-1).max())
        if self.penalty * largest > bounds.reward**2 * (1 + ROUNDING):
            raise ProtocolError(
                f"the absolute values of an estimate add up to {largest:g}: with rewards up to {bounds.reward:g} and "
                f"a penalty of {self.penalty:g} they cannot"
            )

    def awaited(self, state: AveragingServerState) -> Ints:
        """Return who has not finished a stage since the last broadcast, where somebody has."""
        return state.attendance.awaited()

    def deadline(self, state: AveragingServerState) -> Sequence[Outgoing[Download]]:
        """Broadcast the average of those who have finished a stage since the last broadcast."""
        return self._broadcast(state, int(state.stage.max())) if state.attendance.is_open else ()

    def tell_anew(self, state: AveragingServerState, to: Ints) -> Sequence[Outgoing[Download]]:
        """Send clients the average of the latest estimates that there are; of none, what they screened by at first."""
        known = np.flatnonzero(state.stage >= 0)
        if not known.size:
            return (Outgoing(to, FederatedEstimates(np.zeros(self.shape), 0)),)
        state.attendance.open()
        state.attendance.answer(known)
        (to_everyone,) = self._broadcast(state, int(state.stage.max()))
        return (Outgoing(to, to_everyone.message),)

    def _broadcast(self, state: AveragingServerState, stage: int) -> Sequence[Outgoing[Download]]:
        average = FederatedEstimates(state.estimates[state.attendance.answered].mean(axis=0), stage)
        state.sent = stage
        state.attendance.close()
        self._note_answers(state)
        return (Outgoing(state.attendance.everyone, average),)

    def _note_answers(self, state: AveragingServerState) -> None:
        """Note who is beyond the stage of the last broadcast: one that is two stages ahead answers twice."""
        ahead = np.flatnonzero(state.stage > state.sent)
        if ahead.size:
            state.attendance.open()
            state.attendance.answer(ahead)


class UnheardServer(AveragingServer):
    """That of clients that send nothing."""

    kinds = ()


@dataclass(frozen=True)
class FedegoLasso(
    LassoAlgorithm, id="fedego-lasso", title="explore together, screen by the average, decide alone", paper=PAPER
):
    """Fedego Lasso (algorithms 1 to 4).

    >>> FedegoLasso(unit=0)
    Traceback (most recent call last):
    ...
    fedbandit.core.errors.InvalidInput: unit must be at least 1, not 0: give a whole number in that range
    """

    def build(self, setting: Setting) -> Federation:
        """Make both sides."""
        server = AveragingServer(setting.arms, setting.dimension, self.forced_penalty)
        return Federation(self.clients(setting, Federated()), server)


@dataclass(frozen=True)
class LassoBandit(
    LassoAlgorithm,
    id="lasso-bandit",
    title="every client alone: no communication (baseline)",
    paper="Bastani and Bayati 2020, Online Decision Making with High-Dimensional Covariates",
):
    """The Lasso Bandit at every client, with the sampling plan of Fedego Lasso."""

    def build(self, setting: Setting) -> Federation:
        """Make both sides; the server never hears anything."""
        return Federation(self.clients(setting, Alone()), UnheardServer(setting.arms, setting.dimension))
