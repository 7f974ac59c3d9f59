"""Global updates lose no observation and count none twice, however envelopes are reordered, repeated and delayed.

Features are multiples of 1/16, so that sums of outer products are exact and conservation is tested with ==.
"""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import fedbandit as fb
from fedbandit.kernels.glm.kept_data import gram_of_each
from samples.bag import Bag, steps

CLIENTS, ARMS, DIMENSION = 3, 3, 2
FEDERATIONS = [
    ("fedglb-ucb", {"sync_threshold": 0.0}),
    ("fedglb-ucb", {"sync_threshold": 0.3, "solver": "newton"}),
    ("fedglb-ucb-1", {"rounds_of_update": 20}),
    ("fedglb-ucb-3", {"rounds_of_update": 20}),
]


class Network(Bag):
    """What the clients have seen together, exactly."""

    def __init__(self, name, parameters, seed):
        super().__init__(fb.algorithm(name, **parameters), fb.Setting(CLIENTS, ARMS, DIMENSION, 20), seed)
        self.gram = np.zeros((DIMENSION, DIMENSION))
        self.turns = 0

    def world(self):
        arms = self.rng.integers(-11, 12, (1, ARMS, DIMENSION)) / 16
        return arms, self.rng.integers(0, 2, 1).astype(float)

    def seen(self, chosen, reward):
        self.gram += np.outer(chosen, chosen)
        self.turns += 1

    def not_taken(self):
        """Return the statistics of the observations that the server has not, by its own account."""
        kept = self.clients.state.kept
        return gram_of_each(kept, np.arange(CLIENTS), self.server.state.taken, kept.length).sum(axis=0)

    def uncounted(self):
        """Return the statistics of the observations that no finished update speaks of, and their number."""
        shared, kept = self.clients.state.shared, self.clients.state.kept
        counted = np.where(shared.calling <= self.server.state.version, shared.called, shared.before)
        grams = gram_of_each(kept, np.arange(CLIENTS), counted, kept.length)
        return grams.sum(axis=0), int((kept.length - counted).sum())


STEPS = steps(CLIENTS, most=80)
WITH_DEADLINES = steps(CLIENTS, most=120, deadlines=True)


@pytest.mark.parametrize(("name", "parameters"), FEDERATIONS)
@settings(max_examples=60)
@given(actions=STEPS, seed=st.integers(0, 2**16))
def test_every_observation_is_in_one_update_or_waits_for_the_next(name, parameters, actions, seed):
    network = Network(name, parameters, seed)
    network.run(actions)
    for is_drained in (False, True):
        if is_drained:
            network.drain()
        state = network.server.state
        gram, number = network.uncounted()
        assert (state.gram + gram == network.gram).all()
        assert state.observations + number == network.turns


@pytest.mark.parametrize(("name", "parameters"), FEDERATIONS)
@settings(max_examples=40)
@given(actions=STEPS, seed=st.integers(0, 2**16))
def test_once_the_network_is_quiet_a_further_call_brings_everybody_to_one_model(name, parameters, actions, seed):
    """However confused the exchange was before, the next calls finish an update, and all clients take it in."""
    network = Network(name, parameters, seed)
    network.run(actions)
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


@pytest.mark.parametrize(("name", "parameters"), FEDERATIONS)
@settings(max_examples=60)
@given(actions=WITH_DEADLINES, seed=st.integers(0, 2**16))
def test_updates_that_went_on_without_clients_lose_no_observation_of_theirs(name, parameters, actions, seed):
    network = Network(name, parameters, seed)
    network.run(actions)
    assert (network.server.state.gram + network.not_taken() == network.gram).all()
    network.drain()
    assert (network.server.state.gram + network.not_taken() == network.gram).all()
    for client in [*range(CLIENTS)] * 40:  # and the next updates bring all of it in
        network.turn(client)
        network.drain()
        state, rows = network.server.state, network.clients.state.rows
        if (rows.version == state.version).all() and state.observations == network.turns:
            assert (state.gram == network.gram).all()
            return
    raise AssertionError("no update has everything")


@pytest.mark.parametrize(("name", "parameters"), FEDERATIONS)
def test_a_deadline_finishes_an_update_without_a_silent_client_and_says_who_it_was(name, parameters):
    network = Network(name, parameters, seed=0)
    for client in [*range(CLIENTS)] * 6:
        network.turn(client)
    for _ in range(50_000):
        heard = [place for place, one in enumerate(network.bag) if 2 not in one.clients]
        if heard:
            network.deliver(heard[0], keep=False)
        elif network.server.awaited().size:
            assert network.server.awaited().tolist() == [2]
            network.run([("deadline", 0, False)])
        else:
            break
    state = network.server.state
    assert state.version >= 1
    assert state.questions.missed[:2].tolist() == [0, 0]
    assert state.questions.missed[2] >= 1
    assert state.taken[2] == 0
    network.drain()
    assert (state.gram + network.not_taken() == network.gram).all()


def test_where_all_are_silent_a_deadline_leaves_the_last_model_in_force():
    network = Network(*FEDERATIONS[0], seed=0)
    network.turn(0)
    network.deliver(0, keep=False)  # the call goes out, and nobody hears it
    assert network.server.awaited().tolist() == [0, 1, 2]
    assert network.server.deadline() == []
    assert network.server.awaited().size == 0
    assert network.server.state.version == 0


def test_the_check_can_fail():
    """An update that is committed twice breaks conservation, so the test above would see it."""
    network = Network(*FEDERATIONS[0], seed=0)
    for client in range(CLIENTS):
        network.turn(client)
    network.drain()
    network.server.state.gram = network.server.state.gram + network.server.state.questions.rows.gram.sum(axis=0)
    assert not (network.server.state.gram + network.uncounted()[0] == network.gram).all()
