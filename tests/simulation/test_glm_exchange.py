"""Global updates lose no observation and count none twice, however envelopes are reordered, repeated and delayed.

Features are multiples of 1/16, so that sums of outer products are exact and conservation is tested with ==.
"""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import fedbandit as fb
from fedbandit.core.turns import Observations
from fedbandit.kernels.kept_data import gram_of_each
from fedbandit.nodes.client import ClientNode
from fedbandit.nodes.server import ServerNode

CLIENTS, ARMS, DIMENSION = 3, 3, 2
FEDERATIONS = [
    ("fedglb-ucb", {"sync_threshold": 0.0}),
    ("fedglb-ucb", {"sync_threshold": 0.3, "solver": "newton"}),
    ("fedglb-ucb-1", {"rounds_of_update": 20}),
    ("fedglb-ucb-3", {"rounds_of_update": 20}),
]


class Network:
    """A cohort and a server with a bag of envelopes between them, each for one client, in any order."""

    def __init__(self, name, parameters, seed):
        sides = fb.algorithm(name, **parameters).build(fb.Setting(CLIENTS, ARMS, DIMENSION, 20))
        self.clients = ClientNode(sides.clients, CLIENTS)
        self.server = ServerNode(sides.server, CLIENTS)
        self.rng = np.random.default_rng(seed)
        self.bag = []
        self.gram = np.zeros((DIMENSION, DIMENSION))
        self.turns = 0

    def turn(self, client):
        who = np.array([client])
        arms = self.rng.integers(-11, 12, (1, ARMS, DIMENSION)) / 16
        choice = self.clients.choose(who, arms, np.empty((1, 0)))
        reward = self.rng.integers(0, 2, 1).astype(float)
        chosen = arms[0, choice[0]]
        self.gram += np.outer(chosen, chosen)
        self.turns += 1
        self.send(self.clients.learn(who, Observations(arms, choice, reward)))

    def deliver(self, place, keep):
        if self.bag:
            place %= len(self.bag)
            envelope = self.bag[place] if keep else self.bag.pop(place)
            self.send((self.server if envelope.is_upload else self.clients).receive(envelope))

    def send(self, envelopes):
        self.bag += [one for envelope in envelopes for one in envelope.split()]

    def drain(self):
        for _ in range(100_000):
            if not self.bag:
                return
            self.deliver(int(self.rng.integers(len(self.bag))), keep=False)
        raise AssertionError("the exchange does not come to rest")

    def run(self, steps):
        for action, number, keep in steps:
            if action == "turn":
                self.turn(number)
            else:
                self.deliver(number, keep)

    def uncounted(self):
        """Return the statistics of the observations that no finished update speaks of, and their number."""
        shared, kept = self.clients.state.shared, self.clients.state.kept
        counted = np.where(shared.calling <= self.server.state.version, shared.called, shared.before)
        grams = gram_of_each(kept, np.arange(CLIENTS), counted, kept.length)
        return grams.sum(axis=0), int((kept.length - counted).sum())


STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("turn"), st.integers(0, CLIENTS - 1), st.just(False)),
        st.tuples(st.just("deliver"), st.integers(0, 50), st.booleans()),
    ),
    max_size=80,
)


@pytest.mark.parametrize(("name", "parameters"), FEDERATIONS)
@settings(max_examples=60)
@given(steps=STEPS, seed=st.integers(0, 2**16))
def test_every_observation_is_in_one_update_or_waits_for_the_next(name, parameters, steps, seed):
    network = Network(name, parameters, seed)
    network.run(steps)
    for is_drained in (False, True):
        if is_drained:
            network.drain()
        state = network.server.state
        gram, number = network.uncounted()
        assert (state.gram + gram == network.gram).all()
        assert state.observations + number == network.turns


@pytest.mark.parametrize(("name", "parameters"), FEDERATIONS)
@settings(max_examples=40)
@given(steps=STEPS, seed=st.integers(0, 2**16))
def test_once_the_network_is_quiet_a_further_call_brings_everybody_to_one_model(name, parameters, steps, seed):
    """However confused the exchange was before, the next calls finish an update, and all clients take it in."""
    network = Network(name, parameters, seed)
    network.run(steps)
    network.drain()
    for client in [*range(CLIENTS)] * 40:
        network.turn(client)
        network.drain()
        state, rows = network.server.state, network.clients.state.rows
        if state.version and (rows.version == state.version).all() and state.observations == network.turns:
            assert (rows.gram == state.gram).all()
            assert (rows.model == state.model).all()
            return
    raise AssertionError("no update was finished")


def test_the_check_can_fail():
    """An update that is committed twice breaks conservation, so the test above would see it."""
    network = Network(*FEDERATIONS[0], seed=0)
    for client in range(CLIENTS):
        network.turn(client)
    network.drain()
    network.server.state.gram = network.server.state.gram + network.server.state.answers.gram.sum(axis=0)
    assert not (network.server.state.gram + network.uncounted()[0] == network.gram).all()
