"""Nothing is lost and nothing is counted twice, however envelopes are reordered, repeated and delayed.

Features and rewards are multiples of 1/16, so every sum is exact and conservation is tested with ==.
"""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import fedbandit as fb
from fedbandit.algorithms.linear.shared.messages import Statistics
from samples.bag import Bag, steps
from simulation.tagged import sums_of

CLIENTS, ARMS, DIMENSION = 4, 3, 3
FEDERATIONS = [
    ("async-linucb", {"upload_threshold": 1.0, "download_threshold": 1.0}),
    ("async-linucb", {"upload_threshold": 1.3, "download_threshold": 2.0}),
    ("sync-linucb", {"sync_threshold": 0.0}),
    ("sync-linucb", {"sync_threshold": 2.0}),
]
CLUSTERED = [
    ("clustered-linucb", {"upload_threshold": 1.0, "download_threshold": 1.0}),
    ("clustered-linucb", {"upload_threshold": 1.3, "download_threshold": 2.0, "noise": 0.0}),
]


class Network(Bag):
    """What the clients have seen together, exactly."""

    def __init__(self, name, parameters, seed):
        super().__init__(fb.algorithm(name, **parameters), fb.Setting(CLIENTS, ARMS, DIMENSION, 1), seed)
        self.gram = np.zeros((DIMENSION, DIMENSION))
        self.moment = np.zeros(DIMENSION)

    def world(self):
        arms = self.rng.integers(-16, 17, (1, ARMS, DIMENSION)) / 16
        return arms, self.rng.integers(-16, 17, 1) / 16

    def seen(self, chosen, reward):
        self.gram += np.outer(chosen, chosen)
        self.moment += reward * chosen

    def unsent(self, name):
        return getattr(self.clients.state.rows, name)[: self.clients.state.used[0]].sum(axis=0)


STEPS = steps(CLIENTS, most=60)


@pytest.mark.parametrize(("name", "parameters"), [*FEDERATIONS, *CLUSTERED])
@settings(max_examples=60)
@given(actions=STEPS, seed=st.integers(0, 2**16))
def test_statistics_are_conserved(name, parameters, actions, seed):
    network = Network(name, parameters, seed)
    network.run(actions)
    network.drain()
    gram, moment = sums_of(network.server.state)
    assert (gram + network.unsent("new_gram") == network.gram).all()
    assert (moment + network.unsent("new_moment") == network.moment).all()


@pytest.mark.parametrize(("name", "parameters"), CLUSTERED)
@settings(max_examples=60)
@given(actions=STEPS, seed=st.integers(0, 2**16))
def test_what_each_client_has_told_is_conserved_and_alone_decides_from_whom_it_is_told_apart(
    name, parameters, actions, seed
):
    """S_k + dV_k = O_k for each k; and the server's verdicts are those of somebody who is told all sums at once."""
    network = Network(name, parameters, seed)
    network.run(actions)
    network.drain()
    clients, server = network.clients.state, network.server.state
    for client in range(CLIENTS):
        row = clients.row_of[client]
        if row >= 0:
            assert (server.told.gram[client] + clients.rows.new_gram[row] == clients.own.gram[row]).all()
        else:
            assert not server.told.gram[client].any()
    again = network.server.side.start(CLIENTS)
    for client in np.flatnonzero(server.told.uploads):
        whole = server.told.gram[client][np.newaxis], server.told.moment[client][np.newaxis]
        network.server.side.receive(again, np.array([client]), Statistics(*whole, np.array([1])))
    assert (again.verdicts.apart == server.verdicts.apart).all()


@pytest.mark.parametrize(("name", "parameters"), [*FEDERATIONS, *CLUSTERED])
@settings(max_examples=30)
@given(actions=STEPS, seed=st.integers(0, 2**16))
def test_a_client_knows_its_last_snapshot_and_its_own_news(name, parameters, actions, seed):
    """V_i = V_g + dV_i right after a download: no version is mixed with another."""
    network = Network(name, parameters, seed)
    network.run(actions)
    network.drain()
    state = network.clients.state
    for client in range(CLIENTS):
        if state.row_of[client] >= 0 and state.slot_of[client] >= 0:
            slot = state.slot_of[client]
            network.clients.decide(np.array([client]), np.ones((1, ARMS, DIMENSION)), np.empty((1, 0)))
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
