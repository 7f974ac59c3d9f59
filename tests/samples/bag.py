"""A cohort and a server with a bag of envelopes between them, each for one client, delivered in any order."""

import numpy as np
from hypothesis import strategies as st

from fedbandit.core.turns import Observations
from fedbandit.protocol.client import ClientNode
from fedbandit.protocol.server import ServerNode


class Bag:
    """Both nodes of a federation, and what is on its way between them. Say in `world` what a turn offers and pays."""

    def __init__(self, algorithm, setting, seed):
        sides = algorithm.federation(setting)
        self.clients = ClientNode(sides.clients, setting.clients)
        self.server = ServerNode(sides.server, setting.clients)
        self.rng = np.random.default_rng(seed)
        self.bag = []

    def world(self):
        """Return the features of the arms of a turn, (1, K, d), and the reward, (1,)."""
        raise NotImplementedError

    def seen(self, chosen, reward):
        """Remember what was chosen and paid, to compare with what the nodes make of it."""
        raise NotImplementedError

    def turn(self, client):
        who, (arms, reward) = np.array([client]), self.world()
        self.send(self.clients.ask(who))
        choice = self.clients.decide(who, arms, np.empty((1, 0))).choices
        self.seen(arms[0, choice[0]], reward[0])
        self.send(self.clients.learn(who, Observations(arms, choice, reward)))

    def deliver(self, place, keep):
        if self.bag:
            place %= len(self.bag)
            envelope = self.bag[place] if keep else self.bag.pop(place)
            self.send((self.server if envelope.is_upload else self.clients).receive(envelope))

    def send(self, envelopes):
        self.bag += [one for envelope in envelopes for one in envelope.split()]

    def drain(self):
        """Deliver all that is on its way, in any order."""
        for _ in range(100_000):
            if not self.bag:
                return
            self.deliver(int(self.rng.integers(len(self.bag))), keep=False)
        raise AssertionError("the exchange does not come to rest")

    def run(self, steps):
        for action, number, keep in steps:
            if action == "turn":
                self.turn(number)
            elif action == "deadline":
                self.send(self.server.deadline())
            else:
                self.deliver(number, keep)


def steps(clients, most, *, deadlines=False):
    """Turns of clients, deliveries (some of them repeated) and perhaps deadlines, in any order."""
    actions = [
        st.tuples(st.just("turn"), st.integers(0, clients - 1), st.just(False)),
        st.tuples(st.just("deliver"), st.integers(0, 50), st.booleans()),
    ]
    if deadlines:
        actions.append(st.tuples(st.just("deadline"), st.just(0), st.just(False)))
    return st.lists(st.one_of(actions), max_size=most)
