"""FN-UCB loses no observation and counts none twice, however envelopes are reordered, repeated, delayed or left out."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import fedbandit as fb
from contract.small_worlds import small_setting, small_turns
from fedbandit.kernels.neural import subspace
from fedbandit.protocol.charter import Charter
from fedbandit.simulation.faults.run import FAULTS, FaultyRun
from reference.networks import Symmetric
from samples.bag import Bag, steps

pytest.importorskip("jax", reason="needs JAX: pip install '.[neural]'")

CLIENTS, ARMS, DIMENSION, WIDTH = 3, 2, 2, 6
SMALL = {"width": WIDTH, "train_steps": 1, "precision": "float64"}
FEDERATIONS = [
    ("fn-ucb-less", {"sync_threshold": 0.0}),
    ("fn-ucb", {"sync_threshold": 1.0}),
    ("fn-ucb-less", {"sync_threshold": 1.0, "diagonal": True}),
]


class Network(Bag):
    """What the clients have seen together, in the literal network's gradients."""

    def __init__(self, name, parameters, seed):
        super().__init__(fb.algorithm(name, **SMALL, **parameters), fb.Setting(CLIENTS, ARMS, DIMENSION, 1), seed)
        self.network = self.clients.side.rounds.network
        self.literal = Symmetric(DIMENSION, WIDTH, 1)
        self.features, self.rewards = [], []

    def world(self):
        return self.rng.standard_normal((1, ARMS, DIMENSION)), self.rng.standard_normal(1)

    def seen(self, chosen, reward):
        gradient = self.literal.value_and_gradient(chosen, self.network.initial)[1]
        self.features.append(gradient / np.sqrt(WIDTH))
        self.rewards.append(reward)

    def settle(self):
        """Deliver all that is under way in any order; who is then still awaited had its call overtaken."""
        for _ in range(1000):
            self.drain()
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


STEPS = steps(CLIENTS, most=40, deadlines=True)


@pytest.mark.parametrize(("name", "parameters"), FEDERATIONS)
@settings(max_examples=20)
@given(actions=STEPS, seed=st.integers(0, 2**16))
def test_every_observation_is_with_the_server_or_its_client_once(name, parameters, seed, actions):
    network = Network(name, parameters, seed)
    network.run(actions)
    network.settle()
    if network.features:
        features, rewards = np.array(network.features), np.array(network.rewards)
        moment, diagonal = network.sums()
        np.testing.assert_allclose(moment, rewards @ features, atol=1e-10)
        np.testing.assert_allclose(diagonal, (features**2).sum(axis=0), atol=1e-10)
        assert network.clients.state.unsent.sum() <= len(rewards)


@pytest.mark.parametrize("seed", [*range(2), *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(2, 9))])
def test_sites_and_coordinators_that_fail_lose_no_reward_and_come_to_rest(seed):
    name, parameters = FEDERATIONS[seed % len(FEDERATIONS)]
    charter = Charter.named(name, small_setting(name, 12), **SMALL, **parameters)
    faults = {fault: weight for fault, weight in FAULTS.items() if fault not in ("restore", "lose_disk")}
    run = FaultyRun(charter, small_turns(name, 12, seed), seed, faults=faults).run()
    server = run.coordinator.node.node.state
    sites = [site.node.life for site in run.sites]
    assert not server.attendance.is_open
    assert not any(site.in_exchange or site.waiting for site in sites)
    network = charter.build().clients.rounds.network
    literal = Symmetric(network.inputs, WIDTH, 1)
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
