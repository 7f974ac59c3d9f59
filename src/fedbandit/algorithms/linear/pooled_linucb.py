"""Pooled LinUCB: one LinUCB over everyone's raw data, the centralised ideal that federation is measured against.

It breaks privacy on purpose: every observation (x, y) goes to the centre, d + 1 scalars a turn, and every client
chooses with the one model that all of them share. A baseline for simulations only.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from fedbandit.algorithms.linear.shared.clients import LinearClients
from fedbandit.algorithms.linear.shared.cohort import LinearCohortState
from fedbandit.algorithms.linear.shared.family import LinearAlgorithm
from fedbandit.algorithms.linear.shared.forgetting import age_arrays
from fedbandit.algorithms.linear.shared.ways import WAYS
from fedbandit.core.algorithm import Setting
from fedbandit.core.arrays import Floats, Ints
from fedbandit.core.bounds import Bounds
from fedbandit.core.former_names import formerly
from fedbandit.core.interfaces import Decided, Federation, Outgoing, Played, Server
from fedbandit.core.messages import Download, Upload, array, one_row
from fedbandit.core.turns import Observations, Turns
from fedbandit.kernels.linear.ridge import add_outer


@dataclass(frozen=True)
class RawObservation(Upload, kind="linear.raw"):
    """One arm and its reward, as they were: what no federated algorithm may send."""

    arm: Floats = array(shape=("d",))
    reward: Floats = array(shape=())

    def check(self, bounds: Bounds) -> None:
        """Refuse an arm that is longer, or a reward that is larger, than any."""
        for arm, reward in zip(self.arm, self.reward, strict=True):
            bounds.check_observation(arm, float(reward))


def _weighted(raw: RawObservation, root: Floats | float) -> RawObservation:
    """Return observations that count for less in sums of x x^T and of x y, by the square of `root`."""
    return RawObservation(raw.arm * np.reshape(root, (-1, 1)), raw.reward * root)


class PooledClients(LinearClients):
    """All clients share the one row of client 0 and report every turn."""

    def decide(self, state: LinearCohortState, who: Ints, features: Floats, draws: Floats) -> Decided:
        """Choose for each client by the model that they share."""
        return super().decide(state, np.zeros_like(who), features, draws)

    def chances(self, state: LinearCohortState, who: Ints, features: Floats, draws: Floats) -> Floats:
        """Return how likely each arm is by the model that they share."""
        return super().chances(state, np.zeros_like(who), features, draws)

    def expected(self, state: LinearCohortState, who: Ints, features: Floats, choices: Ints) -> Floats | None:
        """Return what the model that they share expects."""
        return super().expected(state, np.zeros_like(who), features, choices)

    def learn(self, state: LinearCohortState, who: Ints, seen: Observations) -> Sequence[Outgoing[Upload]]:
        """Add each observation to the shared model, and report it."""
        super().learn(state, np.zeros_like(who), seen)
        raw = RawObservation(seen.features[np.arange(len(who)), seen.choice], seen.feedback)
        return (Outgoing(who, raw if seen.weight is None else _weighted(raw, np.sqrt(seen.weight))),)

    def play(self, state: LinearCohortState, turns: Turns, start: int, draws: Floats) -> Played:
        """Play one turn: every turn reports."""
        everyone = Turns(np.zeros_like(turns.client), turns.features, turns.outcomes)
        choices, _, propensity, _ = super().play(state, everyone, start, draws)
        turn = start + len(choices) - 1
        arm = turns.features[turn, choices[-1]]
        reward = turns.outcomes.feedback(slice(turn, turn + 1), choices[-1:])
        raw = Outgoing(turns.client[turn : turn + 1], RawObservation(one_row(arm), reward))
        return Played(choices, (raw,), propensity)


@formerly("ServerState")
@dataclass
class PooledServerState:
    """The sums over everyone's raw data."""

    gram: Floats
    moment: Floats


class PooledServer(Server):
    """Keeps the sums; the clients of a simulation share the model already."""

    def __init__(self, dimension: int) -> None:
        """Take the dimension of the arms."""
        self.dimension = dimension

    def start(self, clients: int) -> PooledServerState:  # noqa: ARG002
        """Return sums over nothing."""
        return PooledServerState(np.zeros((self.dimension, self.dimension)), np.zeros(self.dimension))

    def receive(self, state: PooledServerState, senders: Ints, message: RawObservation) -> Sequence[Outgoing[Download]]:
        """Add the observations to the sums."""
        for each in range(len(senders)):
            add_outer(state.gram, message.arm[each])
            state.moment += message.reward[each] * message.arm[each]
        return ()

    def age(self, state: PooledServerState, weight: float) -> None:
        """Let all observations so far count for less."""
        age_arrays(weight, state.gram, state.moment)

    def aged(self, message: RawObservation, weight: float) -> RawObservation:
        """Return observations of an earlier epoch as they count now."""
        return _weighted(message, math.sqrt(weight))

    def sums(self, state: PooledServerState) -> Sequence[Floats]:
        """Return both sums."""
        return state.gram, state.moment


@dataclass(frozen=True)
class PooledLinUCB(
    LinearAlgorithm,
    id="pooled-linucb",
    title="one LinUCB over everyone's raw data (centralised baseline: breaks privacy on purpose)",
    paper="Abbasi-Yadkori et al. 2011, Improved Algorithms for Linear Stochastic Bandits",
):
    """One LinUCB over all clients' data at once; communicates raw data, so it is a baseline only."""

    shares_raw_data: ClassVar[bool] = True

    def build(self, setting: Setting) -> Federation:
        """Make both sides."""
        every_turn = np.full(setting.clients, -np.inf)
        greets = np.zeros(setting.clients, dtype=np.bool_)
        rule, way = self.rule(setting.dimension), WAYS["local-linucb"]
        clients = PooledClients(rule, setting.dimension, every_turn, way, greets)
        return Federation(clients, PooledServer(setting.dimension))
