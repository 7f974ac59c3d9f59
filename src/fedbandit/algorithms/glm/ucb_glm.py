"""UCB-GLM: Li, Lu and Zhou, "Provably Optimal Algorithms for Generalized Linear Contextual Bandits", 2017.

theta is the ridge maximum likelihood of the data, A = (ridge / c_mu) I + sum x x^T, and a turn chooses

    argmax x^T theta + alpha sqrt(x^T A^-1 x),   alpha of lemma 9 (Li and Wang 2022) with eps = 0

with n the number of observations. There is no random start. `n-ucb-glm` runs one at each client on its own data;
`one-ucb-glm` runs one over everyone's raw data, the centralised ideal that federation is measured against: it breaks
privacy on purpose, d + 1 scalars a turn.

The model is refitted after each turn, or after every `refit_every` of them; A and n are always up to date.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from fedbandit.algorithms.glm.shared.clients import GlmClients, GlmCohortState
from fedbandit.algorithms.glm.shared.family import PAPER, GlmAlgorithm, Parts, event
from fedbandit.algorithms.glm.shared.steps import Refits
from fedbandit.algorithms.glm.shared.widths import OwnLikelihoodWidth
from fedbandit.algorithms.linear.pooled_linucb import PooledServer, RawObservation
from fedbandit.core.algorithm import Setting
from fedbandit.core.arrays import Floats, Ints
from fedbandit.core.changes import Change
from fedbandit.core.interfaces import Federation, Outgoing, Played
from fedbandit.core.messages import Upload, one_row
from fedbandit.core.parameters import parameter
from fedbandit.core.turns import Observations, Turns


@dataclass(frozen=True)
class _Refitted(GlmAlgorithm):
    """The parameters of both forms of UCB-GLM."""

    alpha_scale: float = parameter(1.0, "factor of the lemma's width", at_least=0, change=Change.AT_ONCE)
    refit_every: int = parameter(1, "turns between two refits of a model", at_least=1, change=Change.AT_ONCE)

    def _alone(self, setting: Setting) -> Federation:
        model = self.constants(setting)
        width = self.width(OwnLikelihoodWidth(model, self.alpha_scale))
        parts = Parts(None, Refits(self.ridge / model.curvature), width, event(math.inf, setting))
        return self.sides(parts, setting, self.refit_every)


@dataclass(frozen=True)
class LocalUCBGLM(
    _Refitted, id="n-ucb-glm", title="generalised linear: every client alone, by refits (baseline)", paper=PAPER
):
    """UCB-GLM at each client alone."""

    def build(self, setting: Setting) -> Federation:
        """Make both sides; the server never hears anything."""
        return self._alone(setting)


class PooledGlmClients(GlmClients):
    """All clients share the one row of client 0 and report every turn."""

    def start(self, clients: int) -> GlmCohortState:  # noqa: ARG002
        """Return the one row."""
        return super().start(1)

    def choose(self, state: GlmCohortState, who: Ints, features: Floats, draws: Floats) -> Ints:
        """Choose for each client by the model that they share."""
        return super().choose(state, np.zeros_like(who), features, draws)

    def learn(self, state: GlmCohortState, who: Ints, seen: Observations) -> Sequence[Outgoing[Upload]]:
        """Add each observation to the shared data, and report it."""
        super().learn(state, np.zeros_like(who), seen)
        chosen = seen.features[np.arange(len(who)), seen.choice]
        return (Outgoing(who, RawObservation(chosen, seen.feedback)),)

    def play(self, state: GlmCohortState, turns: Turns, start: int, draws: Floats) -> Played:
        """Play one turn: every turn reports."""
        one = turns.take(slice(start, start + 1))
        choices, *_ = super().play(state, Turns(np.zeros_like(one.client), one.features, one.outcomes), 0, draws)
        reward = one.outcomes.feedback(slice(None), choices)
        return Played(choices, (Outgoing(one.client, RawObservation(one_row(one.features[0, choices[0]]), reward)),))


@dataclass(frozen=True)
class PooledUCBGLM(
    _Refitted,
    id="one-ucb-glm",
    title="generalised linear: one model over everyone's raw data (centralised baseline: breaks privacy on purpose)",
    paper=PAPER,
):
    """One UCB-GLM over all clients' data at once; communicates raw data, so it is a baseline only."""

    shares_raw_data: ClassVar[bool] = True

    def build(self, setting: Setting) -> Federation:
        """Make both sides."""
        alone = self._alone(setting).clients
        assert isinstance(alone, GlmClients)
        clients = PooledGlmClients(alone.rule, alone.update, alone.local, alone.width, alone.dimension)
        return Federation(clients, PooledServer(setting.dimension))
