"""LDB: linear dueling bandits (Bengs et al. 2022), every client alone. The baseline of the dueling family.

After each of its turns a client moves its estimate to the minimiser of

    sum over its own duels of -log sigmoid(theta^T z)  +  ridge / 2 |theta|^2

(equation 1 for N = 1), by Newton steps from the estimate it has, and adds z z^T to its own W. The arm rule is that of
the family with N = 1 in beta_t (lemma C.1). Nothing is sent.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Never

import numpy as np

from fedbandit.algorithms.dueling.shared.family import ArmRule, Beliefs, DuelingAlgorithm, DuelingClients
from fedbandit.algorithms.random_choice import SilentServer
from fedbandit.core.algorithm import Setting
from fedbandit.core.arrays import Floats, Ints
from fedbandit.core.former_names import formerly
from fedbandit.core.interfaces import Federation, Outgoing
from fedbandit.core.messages import Upload
from fedbandit.core.turns import Observations
from fedbandit.kernels.dueling.choices import winner_minus_loser
from fedbandit.kernels.dueling.preference import keep_duels, learn_alone
from fedbandit.kernels.glm.kept_data import Kept, nothing_kept


@formerly("CohortState")
@dataclass
class LonelyCohortState(Beliefs):
    """Beliefs of clients that learn from their own duels alone."""

    gram: Floats  # (clients, d, d) the sum of z z^T, without what W begins with
    kept: Kept


class LonelyClients(DuelingClients):
    """Clients that keep their own likelihood and tell nobody."""

    def start(self, clients: int) -> LonelyCohortState:
        """Return a cohort that has seen nothing."""
        size = self.rule.dimension
        return LonelyCohortState(*self.beliefs(clients), np.zeros((clients, size, size)), nothing_kept(clients, size))

    def learn(self, state: LonelyCohortState, who: Ints, seen: Observations) -> Sequence[Outgoing[Upload]]:
        """Move each client's estimate to the minimiser of its own loss."""
        differences = winner_minus_loser(seen.features, seen.choice, seen.feedback)
        state.kept = keep_duels(state.kept, who, differences)
        state.turns[who] += 1
        learn_alone(
            state.kept, who, differences, state.gram, state.inverse, state.estimate, self.rule.ridge, self.rule.prior
        )
        return ()

    def receive(self, state: LonelyCohortState, to: Ints, message: Never) -> Sequence[Outgoing[Upload]]:  # noqa: ARG002
        """Ignore everything: nobody is expected to write."""
        return ()


@dataclass(frozen=True)
class LDB(
    DuelingAlgorithm,
    id="ldb",
    title="every client alone: linear dueling bandit (baseline)",
    paper="Bengs et al. 2022, Stochastic Contextual Dueling Bandits under Linear Stochastic Transitivity Models",
):
    """Every client alone: its own maximum-likelihood estimate and its own matrix, the family's arm rule.

    >>> LDB().curvature
    0.25
    """

    def build(self, setting: Setting) -> Federation:
        """Make both sides; the server never hears anything."""
        rule: ArmRule = self.rule(setting, sharing=1)
        return Federation(LonelyClients(rule), SilentServer())
