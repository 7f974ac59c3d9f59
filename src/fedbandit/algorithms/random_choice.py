"""The random policy: every arm with equal probability. What learning is worth is measured against it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Never

import numpy as np

from fedbandit.core.algorithm import Algorithm, Setting
from fedbandit.core.arrays import Floats, Ints
from fedbandit.core.interfaces import Cadence, Clients, Decided, Federation, Outgoing, Played, Server
from fedbandit.core.lots import choices_by_lot
from fedbandit.core.messages import Download, Upload
from fedbandit.core.turns import Observations, Turns


@dataclass
class NoState:
    """A random policy knows nothing."""


class RandomClients(Clients):
    """Clients that choose by lot alone."""

    cadence = Cadence.TURN
    draws = 1
    draws_lot = True
    learns_from_choice = True

    def __init__(self, arms: int) -> None:
        """Take the number of arms, for worlds in which the arms of a turn share one context."""
        self.arms = arms

    def start(self, clients: int) -> NoState:  # noqa: ARG002
        """Return a cohort without knowledge."""
        return NoState()

    def chances(self, state: NoState, who: Ints, features: Floats, draws: Floats) -> Floats:  # noqa: ARG002
        """Return the same chance for every arm."""
        arms = features.shape[1] if features.ndim == 3 else self.arms
        return np.full((len(who), arms), 1.0 / arms)

    def decide(self, state: NoState, who: Ints, features: Floats, draws: Floats) -> Decided:
        """Let the lot of each client decide."""
        return choices_by_lot(self.chances(state, who, features, draws), draws[:, 0])

    def choose(self, state: NoState, who: Ints, features: Floats, draws: Floats) -> Ints:
        """Return an arm for each client."""
        return self.decide(state, who, features, draws).choices

    def learn(self, state: NoState, who: Ints, seen: Observations) -> Sequence[Outgoing[Upload]]:  # noqa: ARG002
        """Learn nothing and send nothing."""
        return ()

    def receive(self, state: NoState, to: Ints, message: Never) -> Sequence[Outgoing[Upload]]:  # noqa: ARG002
        """Nothing is ever received."""
        return ()

    def play(self, state: NoState, turns: Turns, start: int, draws: Floats) -> Played:
        """Play all turns to the end of the block."""
        choices, propensity, _ = self.decide(state, turns.client[start:], turns.features[start:], draws[start:])
        return Played(choices, (), propensity)


class SilentServer(Server):
    """A server that never hears anything."""

    def start(self, clients: int) -> NoState:  # noqa: ARG002
        """Return a server without knowledge."""
        return NoState()

    def receive(self, state: NoState, senders: Ints, message: Never) -> Sequence[Outgoing[Download]]:  # noqa: ARG002
        """Nothing is ever received."""
        return ()


@dataclass(frozen=True)
class Random(Algorithm, id="random", title="every arm with equal probability (baseline)", paper=""):
    """Choose uniformly at random, learn nothing, send nothing."""

    def build(self, setting: Setting) -> Federation:
        """Make both sides."""
        return Federation(RandomClients(setting.arms), SilentServer())
