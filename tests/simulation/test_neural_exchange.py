"""FN-UCB loses no observation and counts none twice, however envelopes are reordered, repeated, delayed or left out."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import fedbandit as fb
from contract.small_worlds import small_setting, small_turns
from fedbandit.core.turns import Observations
from fedbandit.engines.faulty import FAULTS, FaultyRun
from fedbandit.kernels import subspace
from fedbandit.nodes.charter import Charter
from fedbandit.nodes.client import ClientNode
from fedbandit.nodes.server import ServerNode
from reference import neural as reference

pytest.importorskip("jax", reason="needs JAX: pip install 'fedbandit[neural]'")

CLIENTS, ARMS, DIMENSION, WIDTH = 3, 2, 2, 6
SMALL = {"width": WIDTH, "train_steps": 1, "precision": "float64"}
FEDERATIONS = [
    ("fn-ucb-less", {"sync_threshold": 0.0}),
    ("fn-ucb", {"sync_threshold": 1.0}),
    ("fn-ucb-less", {"sync_threshold": 1.0, "diagonal": True}),
]


class Network:
    """A cohort and a server with a bag of envelopes between them, each for one client, in any order."""

    def __init__(self, name, parameters, seed):
        sides = fb.algorithm(name, **SMALL, **parameters).build(fb.Setting(CLIENTS, ARMS, DIMENSION, 1))
        self.clients = ClientNode(sides.clients, CLIENTS)
        self.server = ServerNode(sides.server, CLIENTS)
        self.network = sides.clients.rounds.network
        self.literal = reference.Symmetric(DIMENSION, WIDTH, 1)
        self.rng = np.random.default_rng(seed)
        self.bag = []
        self.features, self.rewards = [], []

    def turn(self, client):
        who, arms = np.array([client]), self.rng.standard_normal((1, ARMS, DIMENSION))
        choice, reward = self.clients.choose(who, arms, np.empty((1, 0))), self.rng.standard_normal(1)
        gradient = self.literal.value_and_gradient(arms[0, choice[0]], self.network.initial)[1]
        self.features.append(gradient / np.sqrt(WIDTH))
        self.rewards.append(reward[0])
        self.send(self.clients.learn(who, Observations(arms, choice, reward)))

    def deliver(self, place, keep):
        if self.bag:
            place %= len(self.bag)
            envelope = self.bag[place] if keep else self.bag.pop(place)
            self.send((self.server if envelope.is_upload else self.clients).receive(envelope))

    def send(self, envelopes):
        self.bag += [one for envelope in envelopes for one in envelope.split()]

    def settle(self):
        """Deliver all that is under way in any order; who is then still awaited had its call overtaken."""
        for _ in range(1000):
            while self.bag:
                self.deliver(int(self.rng.integers(len(self.bag))), keep=False)
            if not self.server.awaited().size:
                return
            self.send(self.server.deadline())
        raise AssertionError("the exchange does not come to rest")

    def sums(self):
        """What the server has, and what clients have yet to send: the moments, and the diagonals of the grams."""
        state, learnt = self.server.state, self.clients.state.learnt
        unsent = [np.broadcast_to(each, (CLIENTS, each.shape[1])).sum(axis=0) for each in learnt[1:]]
        assert not state.shares
        return (
            subspace.write_vector(self.network, np.asarray(state.moment)[0] + unsent[0]),
            subspace.write_diagonal(self.network, np.asarray(state.whole.gram.diagonal)[0] + unsent[1]),
        )


STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("turn"), st.integers(0, CLIENTS - 1), st.just(False)),
        st.tuples(st.just("deliver"), st.integers(0, 50), st.booleans()),
        st.tuples(st.just("deliver"), st.integers(0, 50), st.booleans()),
        st.tuples(st.just("deadline"), st.just(0), st.just(False)),
    ),
    max_size=40,
)


@pytest.mark.parametrize(("name", "parameters"), FEDERATIONS)
@settings(max_examples=20)
@given(steps=STEPS, seed=st.integers(0, 2**16))
def test_every_observation_is_with_the_server_or_its_client_once(name, parameters, seed, steps):
    network = Network(name, parameters, seed)
    for action, number, keep in steps:
        if action == "turn":
            network.turn(number)
        elif action == "deadline":
            network.send(network.server.deadline())
        else:
            network.deliver(number, keep)
    network.settle()
    if network.features:
        features, rewards = np.array(network.features), np.array(network.rewards)
        moment, diagonal = network.sums()
        np.testing.assert_allclose(moment, rewards @ features, atol=1e-10)
        np.testing.assert_allclose(diagonal, (features**2).sum(axis=0), atol=1e-10)
        assert network.clients.state.unsent.sum() <= len(rewards)


@pytest.mark.parametrize("seed", range(9))
def test_sites_and_coordinators_that_fail_lose_no_reward_and_come_to_rest(seed):
    name, parameters = FEDERATIONS[seed % len(FEDERATIONS)]
    charter = Charter.named(name, small_setting(name, 12), **SMALL, **parameters)
    faults = {fault: weight for fault, weight in FAULTS.items() if fault not in ("restore", "lose_disk")}
    run = FaultyRun(charter, small_turns(name, 12, seed), seed, faults=faults).run()
    server = run.coordinator.node.node.state
    sites = [site.node.life for site in run.sites]
    assert not server.called
    assert not any(site.in_exchange or site.waiting for site in sites)
    network = charter.build().clients.rounds.network
    literal = reference.Symmetric(network.inputs, WIDTH, 1)
    expected = np.zeros(network.parameters)
    for told in run.history.decisions:
        gradient = literal.value_and_gradient(told.features[0, told.choice[0]], network.initial)[1]
        expected += told.is_safe * told.reward * gradient / np.sqrt(WIDTH)
    unsent = sum(np.asarray(site.node.state.learnt.moment)[0] for site in sites)
    found = subspace.write_vector(network, np.asarray(server.moment)[0] + unsent)
    np.testing.assert_allclose(found, expected, atol=1e-10)


def test_a_late_answer_is_in_what_a_cohort_knows_after_the_next_round():
    """In one process the server tells which rows are new; after a late answer those are not all that is new."""
    network = Network(*FEDERATIONS[0], seed=0)
    for client in range(CLIENTS):
        network.turn(client)
    uploads = []
    while network.bag:
        envelope = network.bag.pop(0)
        if hasattr(envelope.message, "weights") and envelope.is_upload and envelope.clients[0] == 2:
            uploads.append(envelope)
        else:
            network.send((network.server if envelope.is_upload else network.clients).receive(envelope))
    network.send(network.server.deadline())
    network.settle()
    assert network.server.receive(uploads[0]) == []
    for client in range(CLIENTS):
        network.turn(client)
    network.settle()
    features = np.array(network.features)
    assert features[2].any()
    exact = np.linalg.inv(0.1 * np.eye(features.shape[1]) + features.T @ features)
    pooled = np.asarray(network.clients.state.pooled)[0]
    np.testing.assert_allclose(subspace.read_matrix(network.network, exact), pooled, atol=1e-10)
