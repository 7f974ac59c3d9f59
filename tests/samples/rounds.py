"""A tiny algorithm that acts in rounds: every client plays the arm that its turns so far name, and reports a sum."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from fedbandit.core.algorithm import Algorithm, Setting
from fedbandit.core.interfaces import Cadence, Federation, Outgoing, Server, TurnByTurn
from fedbandit.core.messages import Download, Upload, array, header


@dataclass(frozen=True)
class Sum(Upload, kind="test.rounds.sum"):
    total: np.ndarray = array()


@dataclass(frozen=True)
class Mean(Download, kind="test.rounds.mean"):
    mean: np.ndarray = array()
    round: int = header()


class RoundClients(TurnByTurn):
    cadence = Cadence.ROUND
    draws = 1

    def __init__(self, arms, every):
        self.arms, self.every = arms, every

    def start(self, clients):
        return {"turns": np.zeros(clients, dtype=np.int64), "total": np.zeros(clients), "heard": np.zeros(clients)}

    def choose(self, state, who, features, draws):
        return (state["turns"][who] + who + (draws[:, 0] > 0)) % self.arms

    def learn(self, state, who, seen):
        state["turns"][who] += 1
        state["total"][who] += seen.feedback
        if state["turns"][0] % self.every:
            return ()
        return (Outgoing(who, Sum(state["total"][who])),)

    def receive(self, state, to, message):
        state["heard"][to] = message.mean
        return ()


class RoundServer(Server):
    def start(self, clients):
        return {"clients": clients, "round": 0}

    def receive(self, state, senders, message):
        state["round"] += 1
        return (Outgoing(np.arange(state["clients"]), Mean(np.asarray(message.total.mean()), state["round"])),)


@dataclass(frozen=True)
class InRounds(Algorithm):
    """Every `every` rounds all clients upload and all download."""

    acts_in_rounds: ClassVar[bool] = True
    every: int = 2

    def build(self, setting: Setting) -> Federation:
        return Federation(RoundClients(setting.arms, self.every), RoundServer())
