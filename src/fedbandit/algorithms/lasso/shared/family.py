"""What the Lasso family shares: a sampling plan, a decision rule and estimates; a sharing rule completes it.

K arms, one sparse parameter b_k each at every client; the arms of a turn share one context x. Every client plays one
turn in each round t = 1, 2, ... (Wang, Li and Lin 2023; M clients, unit q, gap h):

* Plan (section 3.1, algorithm 2). Teamwork stages T_n = [(2^n - 1) K q + 1, 2^n K q], n = 0, 1, 2, ...: all play arm
  t mod K, whatever the context. All other rounds are selfish. (The paper's union begins at n = 1, which would leave
  the first K q rounds without an estimate; Bastani and Bayati begin at 0.)
* Decision (algorithms 3 and 4). A selfish client keeps the arms with x^T b_k >= max_l x^T b_l - h / 2 by the
  *screening* estimates, and plays the one of these that its *private* estimates like best.
* Estimates (definition 1.1, equations 4 and 6). The teamwork estimate is the Lasso at lambda_1 on all teamwork data,
  fitted at the end of each stage. The private one is the Lasso on all data of the arm, refitted after every turn
  for the arm that was played, at lambda_2,t = lambda_2,0 sqrt((log t + log d) / t). (Lemma 3.6 has M in it as well: a
  client does not know M.) An arm without data has the zero estimate.
* Sharing says what the screening estimates are, and what travels: see `fedego_lasso` and `teamwork_lasso`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, Protocol

import numpy as np

from fedbandit.core.algorithm import Algorithm, Setting
from fedbandit.core.arrays import Bools, Floats, Ints
from fedbandit.core.changes import Change
from fedbandit.core.former_names import formerly
from fedbandit.core.interfaces import Cadence, Outgoing, TurnByTurn
from fedbandit.core.messages import Download, Layout, Upload, array, header
from fedbandit.core.parameters import parameter
from fedbandit.core.turns import Observations
from fedbandit.kernels.lasso import rows as kernel

PAPER = "Wang, Li and Lin 2023, Federated High-Dimensional Online Decision Making"


@dataclass(frozen=True, slots=True)
class TeamworkPlan:
    """When all clients explore together, and which arm they then play.

    Rounds come in blocks of K q, and teamwork stage n is block 2^n - 1 (counted from 0).

    >>> plan = TeamworkPlan(arms=2, unit=1)
    >>> plan.told(np.arange(1, 10))
    array([ 1,  0,  1,  0, -1, -1,  1,  0, -1])
    >>> plan.ended_stage(np.arange(1, 10))
    array([-1,  0, -1,  1, -1, -1, -1,  2, -1])
    """

    arms: int
    unit: int

    def told(self, turn: Ints) -> Ints:
        """Return the arm that each turn's plan prescribes, or -1 in a selfish turn."""
        return np.where(self.is_teamwork(turn), turn % self.arms, -1)

    def is_teamwork(self, turn: Ints) -> Bools:
        """Tell which turns belong to a teamwork stage."""
        block = (turn - 1) // (self.arms * self.unit) + 1
        return np.asarray((block & (block - 1)) == 0)

    def ended_stage(self, turn: Ints) -> Ints:
        """Return n where a turn is the last of stage n, else -1."""
        block, rest = np.divmod(turn, self.arms * self.unit)
        ends = (rest == 0) & self.is_teamwork(turn)
        return np.where(ends, np.log2(np.maximum(block, 1)).astype(np.int64), -1)


@formerly("CohortState")
@dataclass
class LassoCohortState:
    """What the clients know; with pooled data all share one row of estimates."""

    turns: Ints  # (clients,) turns so far
    screening: Floats  # (rows, K, d) the estimates that arms are screened by
    teamwork: kernel.LassoRows  # regressions on teamwork data
    private: kernel.LassoRows  # regressions on all data; they never leave


@dataclass(frozen=True, slots=True)
class Estimation:
    """Fits the two kinds of estimates."""

    forced_penalty: float
    private_penalty: float
    tolerance: float

    def observe(self, state: LassoCohortState, row: Ints, seen: Observations, is_teamwork: Bools) -> None:
        """Add each row's observation to the data of the arm that was played."""
        kernel.observe_each(state.private, row, seen.choice, seen.features, seen.feedback)
        if is_teamwork.any():
            row, choice = row[is_teamwork], seen.choice[is_teamwork]
            features, feedback = seen.features[is_teamwork], seen.feedback[is_teamwork]
            kernel.observe_each(state.teamwork, row, choice, features, feedback)

    def refit_private(self, state: LassoCohortState, row: Ints, arm: Ints, turn: Ints) -> None:
        """Refit some rows' private estimates of one arm each, at the penalty of the turn just played."""
        dimension = state.screening.shape[-1]
        penalty = self.private_penalty * np.sqrt((np.log(turn) + np.log(dimension)) / turn)
        kernel.refit_each(state.private, row, arm, penalty, self.tolerance)

    def refit_teamwork(self, state: LassoCohortState, row: Ints) -> Floats:
        """Refit all teamwork estimates of some rows; return a copy of them."""
        arms = state.screening.shape[1]
        every_row, every_arm = np.repeat(row, arms), np.tile(np.arange(arms), len(row))
        penalty = np.full(len(every_row), self.forced_penalty)
        kernel.refit_each(state.teamwork, every_row, every_arm, penalty, self.tolerance)
        return np.asarray(state.teamwork.estimate[row])


@dataclass(frozen=True)
class FederatedEstimates(Download, kind="lasso.federated"):
    """The clients' average."""

    estimates: Floats = array(Layout.SPARSE, shape=("K", "d"))
    stage: int = header()


class Sharing(Protocol):
    """What the screening estimates are, when estimates are refitted, and what travels."""

    cadence: Cadence

    def rows(self, who: Ints) -> Ints:
        """Return the row of estimates that each client learns and chooses by."""

    def share(
        self, estimation: Estimation, plan: TeamworkPlan, state: LassoCohortState, who: Ints, seen: Observations
    ) -> Sequence[Outgoing[Upload]]:
        """Refit what is due after a turn of each client of `who`; return what they send."""

    def receive(self, state: LassoCohortState, to: Ints, message: FederatedEstimates) -> None:
        """Take in a download."""


class LassoClients(TurnByTurn):
    """Clients that explore by the plan, decide by the two estimates, and share by the sharing rule."""

    draws = 0

    def __init__(self, setting: Setting, plan: TeamworkPlan, gap: float, estimation: Estimation, sharing: Sharing):
        """Compose a client side."""
        self.arms, self.dimension = setting.arms, setting.dimension
        self.plan = plan
        self.gap = gap
        self.estimation = estimation
        self.sharing = sharing
        self.cadence = sharing.cadence

    def start(self, clients: int) -> LassoCohortState:
        """Return a cohort that has seen nothing."""
        rows = int(self.sharing.rows(np.arange(clients)).max()) + 1
        return LassoCohortState(
            turns=np.zeros(clients, dtype=np.int64),
            screening=np.zeros((rows, self.arms, self.dimension)),
            teamwork=kernel.empty_rows(rows, self.arms, self.dimension),
            private=kernel.empty_rows(rows, self.arms, self.dimension),
        )

    def choose(self, state: LassoCohortState, who: Ints, features: Floats, draws: Floats) -> Ints:  # noqa: ARG002
        """Return each client's arm: the plan's in a teamwork turn, else the one that it likes best."""
        told = self.plan.told(state.turns[who] + 1)
        row = self.sharing.rows(who)
        return kernel.choose_each(features, row, told, state.screening, state.private.estimate, self.gap)

    def learn(self, state: LassoCohortState, who: Ints, seen: Observations) -> Sequence[Outgoing[Upload]]:
        """Add each client's observation to its data, refit what is due, and share."""
        state.turns[who] += 1
        is_teamwork = self.plan.is_teamwork(state.turns[who])
        self.estimation.observe(state, self.sharing.rows(who), seen, is_teamwork)
        return self.sharing.share(self.estimation, self.plan, state, who, seen)

    def receive(self, state: LassoCohortState, to: Ints, message: FederatedEstimates) -> Sequence[Outgoing[Upload]]:
        """Take in a download."""
        self.sharing.receive(state, to, message)
        return ()


@dataclass(frozen=True)
class LassoAlgorithm(Algorithm):
    """The parameters that every member of the family has."""

    acts_in_rounds: ClassVar[bool] = True
    shares_context: ClassVar[bool] = True

    unit: int = parameter(1, "rounds per arm of a teamwork stage", symbol="q", at_least=1)
    gap: float = parameter(
        5.0,
        "arms within half of it of the best pass the screen",
        symbol="h",
        at_least=0,
        infinite=True,
        change=Change.AT_ONCE,
    )
    forced_penalty: float = parameter(0.05, "penalty of the teamwork estimates", symbol="lambda_1", at_least=0)
    private_penalty: float = parameter(
        0.05, "scale of the private estimates' penalty", symbol="lambda_2,0", at_least=0, change=Change.AT_ONCE
    )
    tolerance: float = parameter(
        1e-10, "largest change of a coordinate that is left undone", at_least=1e-14, at_most=1e-2
    )

    def clients(self, setting: Setting, sharing: Sharing) -> LassoClients:
        """Compose the client side with a sharing rule."""
        plan = TeamworkPlan(setting.arms, self.unit)
        estimation = Estimation(self.forced_penalty, self.private_penalty, self.tolerance)
        return LassoClients(setting, plan, self.gap, estimation, sharing)
