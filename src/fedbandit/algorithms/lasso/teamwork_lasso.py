"""Teamwork Lasso Bandit: Wang and Cheng, "Online Batch Decision-Making with High-Dimensional Covariates", 2020.

The plan and the decision rule are those of `lasso.shared.family`, but both estimates are fitted on the data of
all clients together, for all arms, at the end of each round. It breaks privacy on purpose: every observation (x, y)
goes to the centre, d + 1 scalars a turn, and all clients decide by the one model. A baseline for simulations only.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from fedbandit.algorithms.lasso.shared.family import (
    Estimation,
    FederatedEstimates,
    LassoAlgorithm,
    LassoCohortState,
    TeamworkPlan,
)
from fedbandit.core.algorithm import Setting
from fedbandit.core.arrays import Floats, Ints
from fedbandit.core.bounds import Bounds
from fedbandit.core.former_names import formerly
from fedbandit.core.interfaces import Cadence, Federation, Outgoing, Server
from fedbandit.core.messages import Download, Upload, array
from fedbandit.core.turns import Observations


@dataclass(frozen=True)
class RawObservation(Upload, kind="lasso.raw"):
    """A context and the reward of the arm that was played, as they were: what no federated algorithm may send."""

    context: Floats = array(shape=("d",))
    reward: Floats = array(shape=())

    def check(self, bounds: Bounds) -> None:
        """Refuse a context that is longer, or a reward that is larger, than any."""
        for context, reward in zip(self.context, self.reward, strict=True):
            bounds.check_observation(context, float(reward))


class Pooled:
    """All clients learn and decide by one row of estimates, and report every turn."""

    cadence = Cadence.TURN

    def rows(self, who: Ints) -> Ints:
        """Return the one row for all."""
        return np.zeros_like(who)

    def share(
        self, estimation: Estimation, plan: TeamworkPlan, state: LassoCohortState, who: Ints, seen: Observations
    ) -> Sequence[Outgoing[Upload]]:
        """Report the observations; when the round is over refit all arms."""
        turn = state.turns[:1]
        if (state.turns == turn).all():
            arms = state.screening.shape[1]
            everyone = np.zeros(arms, dtype=np.int64)
            estimation.refit_private(state, everyone, np.arange(arms), np.repeat(turn, arms))
            if plan.is_teamwork(turn)[0]:
                state.screening[:] = estimation.refit_teamwork(state, everyone[:1])
        return (Outgoing(who, RawObservation(seen.features, seen.feedback)),)

    def receive(self, state: LassoCohortState, to: Ints, message: FederatedEstimates) -> None:
        """Take in nothing: the clients of a simulation share the model already."""


@formerly("ServerState")
@dataclass
class PooledLassoServerState:
    """How much the centre has received."""

    observations: int


class PooledServer(Server):
    """Receives everything; the clients of a simulation share the model already."""

    def start(self, clients: int) -> PooledLassoServerState:  # noqa: ARG002
        """Return a centre that has received nothing."""
        return PooledLassoServerState(0)

    def receive(
        self,
        state: PooledLassoServerState,
        senders: Ints,
        message: RawObservation,  # noqa: ARG002
    ) -> Sequence[Outgoing[Download]]:
        """Count the observations."""
        state.observations += len(senders)
        return ()


@dataclass(frozen=True)
class TeamworkLasso(
    LassoAlgorithm,
    id="teamwork-lasso",
    title="one Lasso Bandit over everyone's raw data (centralised baseline: breaks privacy on purpose)",
    paper="Wang and Cheng 2020, Online Batch Decision-Making with High-Dimensional Covariates",
):
    """The Lasso Bandit on everyone's data at once; communicates raw data, so it is a baseline only."""

    shares_raw_data: ClassVar[bool] = True

    def build(self, setting: Setting) -> Federation:
        """Make both sides."""
        return Federation(self.clients(setting, Pooled()), PooledServer())
