"""Bugs that break the promise of `private-linucb`, each in the part where somebody could make it."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from fedbandit.algorithms.linear.private_linucb import PrivateLinUCB
from fedbandit.algorithms.linear.shared.private_clients import PrivateClients
from fedbandit.core.interfaces import Decided, TurnByTurn
from fedbandit.kernels.privacy.noised_sums import NoisedSums


class RawLocalSums(PrivateClients):
    """A client adds its own sums, which are not noised, to the model that it chooses by."""

    play = TurnByTurn.play

    def decide(self, state, who, features, draws):
        kept = state.estimate.copy()
        for client in who:
            own = state.inverse[client] @ state.moment[client]
            state.estimate[client] += own
        decided = super().decide(state, who, features, draws)
        state.estimate[:] = kept
        return Decided(*decided)


class EventTrigger(PrivateClients):
    """A client releases when it has learnt enough, not when it has observed enough."""

    play = TurnByTurn.play

    def learn(self, state, who, seen):
        state.fresh[who[seen.feedback < 0.0]] -= 1
        return super().learn(state, who, seen)


class NoClipping(NoisedSums):
    """A reward beyond its bound is summed as it is."""

    def products(self, arm, reward):
        bound, self.reward_bound = self.reward_bound, np.inf
        made = super().products(arm, reward)
        self.reward_bound = bound
        return made


class NoisePerPrefix(NoisedSums):
    """Each release has noise of its own, of the right size."""

    def noise(self, release, normals):
        alone = np.zeros_like(normals)
        alone[release - 1] = math.sqrt(self.factors.variance(release)) * normals[release - 1]
        weight = self.factors.weights(release)[release - 1]
        return super().noise(release, alone / weight)


class HalfTheNoise(NoisedSums):
    """Half of the noise that the promise needs."""

    def noise(self, release, normals):
        return super().noise(release, normals / 2)


class NoColumnNorm(NoisedSums):
    """It is forgotten that a batch is in several rows of the right factor."""

    def noise(self, release, normals):
        return super().noise(release, normals / math.sqrt(self.factors.exposure(self.releases)))


@dataclass(frozen=True)
class Planted(PrivateLinUCB):
    """The algorithm with another class of clients, or of sums, that are made by the same constructor."""

    bug: type = PrivateClients

    def build(self, setting):
        sides = super().build(setting)
        (sides.clients if issubclass(self.bug, PrivateClients) else sides.clients.noised).__class__ = self.bug
        return sides
