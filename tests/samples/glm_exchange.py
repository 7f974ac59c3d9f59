"""Both sides of the generalised linear family, with messages that a test carries by hand."""

from __future__ import annotations

import copy

import numpy as np

import fedbandit as fb
from fedbandit.algorithms.glm.shared.messages import Due
from fedbandit.core.interfaces import Outgoing
from fedbandit.core.turns import Observations

CLIENTS, DIMENSION = 4, 3
EVERYONE = np.arange(CLIENTS)
COMMITTED = ("gram", "moment", "model", "metric", "observations", "version", "round")


class Exchange:
    """A cohort and a server whose messages are carried by hand; every client has observed some turns."""

    def __init__(self, name="fedglb-ucb", turns=5, **parameters):
        parameters = parameters or {"sync_threshold": np.inf}
        sides = fb.algorithm(name, **parameters).build(fb.Setting(CLIENTS, arms=4, dimension=DIMENSION, horizon=100))
        self.clients, self.server = sides.clients, sides.server
        self.cohort, self.state = self.clients.start(CLIENTS), self.server.start(CLIENTS)
        self.rng = np.random.default_rng(0)
        for _ in range(turns):
            for client in range(CLIENTS):
                self.turn(client)

    def turn(self, client):
        who = np.array([client])
        offer = self.rng.standard_normal((1, 4, DIMENSION)) / 2
        choice = self.clients.choose(self.cohort, who, offer, np.empty((1, 0)))
        reward = (self.rng.random(1) < 0.6).astype(float)
        return self.clients.learn(self.cohort, who, Observations(offer, choice, reward))

    def due(self, version=1, round_=5):
        return self.up(Outgoing(np.array([0]), Due(np.array([version]), np.array([round_]))))

    def up(self, outgoing):
        return list(self.server.receive(self.state, outgoing.clients, outgoing.message))

    def down(self, outgoing):
        return list(self.clients.receive(self.cohort, outgoing.clients, outgoing.message))

    def finish(self, downs):
        """Carry everything to the end; return all that the server sent."""
        sent = list(downs)
        for each in sent:
            for answer in self.down(each):
                sent += self.up(answer)
        return sent

    def committed(self):
        return copy.deepcopy({name: getattr(self.state, name) for name in COMMITTED})


def same(left, right):
    return all(np.array_equal(left[name], right[name]) for name in left)
