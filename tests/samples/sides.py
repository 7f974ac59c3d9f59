"""The two sides of an algorithm that only writes down what reaches it."""

import numpy as np

from fedbandit.core.interfaces import Cadence, Federation, Outgoing, Server, TurnByTurn
from samples.messages import Ping, Pong


class ListeningClients(TurnByTurn):
    """Clients that choose arm 0, and note what they learn and receive; `answer` makes what they send."""

    cadence = Cadence.TURN
    draws = 0

    def __init__(self, answer=lambda who: ()):
        self.answer = answer

    def start(self, clients):
        return []

    def choose(self, state, who, features, draws):
        return np.zeros(len(who), dtype=np.int64)

    def learn(self, state, who, seen):
        state.append(("learn", who.tolist(), seen.feedback.tolist()))
        return self.answer(who)

    def receive(self, state, to, message):
        state.append(("receive", to.tolist(), message))
        return ()


class ListeningServer(Server):
    """A server that notes what it receives and answers each upload with a numbered Pong to its senders."""

    def start(self, clients):
        return []

    def receive(self, state, senders, message):
        state.append((senders.tolist(), message))
        return (Outgoing(senders, Pong(len(state))),)


def pings(who):
    """Every client of `who` sends a signal."""
    return (Outgoing(who, Ping()),)


LISTENING = Federation(ListeningClients(), ListeningServer())
