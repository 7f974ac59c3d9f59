"""Nothing is lost and nothing is counted twice, however envelopes are reordered, repeated and delayed.

Features and rewards are multiples of 1/16, so every sum is exact and conservation is tested with ==.
"""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import fedbandit as fb
from fedbandit.core.turns import Observations
from fedbandit.nodes.client import ClientNode
from fedbandit.nodes.server import ServerNode

CLIENTS, ARMS, DIMENSION = 4, 3, 3
FEDERATIONS = [
    ("async-linucb", {"upload_threshold": 1.0, "download_threshold": 1.0}),
    ("async-linucb", {"upload_threshold": 1.3, "download_threshold": 2.0}),
    ("sync-linucb", {"sync_threshold": 0.0}),
    ("sync-linucb", {"sync_threshold": 2.0}),
]


class Network:
    """A cohort and a server with a bag of envelopes between them, each for one client, in any order."""

    def __init__(self, name, parameters, seed):
        sides = fb.algorithm(name, **parameters).build(fb.Setting(CLIENTS, ARMS, DIMENSION, 1))
        self.clients = ClientNode(sides.clients, CLIENTS)
        self.server = ServerNode(sides.server, CLIENTS)
        self.rng = np.random.default_rng(seed)
        self.bag = []
        self.gram = np.zeros((DIMENSION, DIMENSION))
        self.moment = np.zeros(DIMENSION)

    def turn(self, client):
        who = np.array([client])
        arms = self.rng.integers(-16, 17, (1, ARMS, DIMENSION)) / 16
        choice = self.clients.choose(who, arms, np.empty((1, 0)))
        reward = self.rng.integers(-16, 17, 1) / 16
        chosen = arms[0, choice[0]]
        self.gram += np.outer(chosen, chosen)
        self.moment += reward[0] * chosen
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

    def unsent(self, name):
        return getattr(self.clients.state.rows, name)[: self.clients.state.used[0]].sum(axis=0)


STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("turn"), st.integers(0, CLIENTS - 1), st.just(False)),
        st.tuples(st.just("deliver"), st.integers(0, 50), st.booleans()),
    ),
    max_size=60,
)


@pytest.mark.parametrize(("name", "parameters"), FEDERATIONS)
@settings(max_examples=60)
@given(steps=STEPS, seed=st.integers(0, 2**16))
def test_statistics_are_conserved(name, parameters, steps, seed):
    network = Network(name, parameters, seed)
    for action, number, keep in steps:
        if action == "turn":
            network.turn(number)
        else:
            network.deliver(number, keep)
    network.drain()
    assert (network.server.state.gram + network.unsent("new_gram") == network.gram).all()
    assert (network.server.state.moment + network.unsent("new_moment") == network.moment).all()


@pytest.mark.parametrize(("name", "parameters"), FEDERATIONS)
@settings(max_examples=30)
@given(steps=STEPS, seed=st.integers(0, 2**16))
def test_a_client_knows_its_last_snapshot_and_its_own_news(name, parameters, steps, seed):
    """V_i = V_g + dV_i right after a download: no version is mixed with another."""
    network = Network(name, parameters, seed)
    for action, number, keep in steps:
        if action == "turn":
            network.turn(number)
        else:
            network.deliver(number, keep)
    network.drain()
    state = network.clients.state
    for client in range(CLIENTS):
        if state.row_of[client] >= 0 and state.slot_of[client] >= 0:
            slot = state.slot_of[client]
            network.clients.choose(np.array([client]), np.ones((1, ARMS, DIMENSION)), np.empty((1, 0)))
            row = state.row_of[client]
            assert (state.rows.gram[row] == state.shared.gram[slot] + state.rows.new_gram[row]).all()


def test_the_check_can_fail():
    """Merging an upload twice breaks conservation, so the test above would see it."""
    network = Network("async-linucb", FEDERATIONS[0][1], seed=0)
    network.turn(0)
    envelope = network.bag.pop()
    network.server.receive(envelope)
    network.server.side.receive(network.server.state, envelope.clients, envelope.message)
    assert not (network.server.state.gram + network.unsent("new_gram") == network.gram).all()
