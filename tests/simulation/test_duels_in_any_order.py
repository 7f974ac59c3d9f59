"""The dueling family gives the same run however the envelopes of a round are ordered and repeated.

Sums are taken in the order of the clients, not of arrival, so the runs are compared with ==.
"""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import fedbandit as fb
from fedbandit.simulation.in_process import simulate

CLIENTS, ARMS, DIMENSION, ROUNDS = 3, 4, 3, 6
ALGORITHMS = [
    ("fldb-ogd", {}),
    ("fldb-ogd", {"period": 2, "average_gradient": True}),
    ("fldb-gd", {}),
    ("fldb-gd", {"solver": "gradient", "step": 0.01}),
    ("ldb", {}),
]
WORLD = fb.environment("dueling", clients=CLIENTS, arms=ARMS, dimension=DIMENSION, spread=0.2)


def deliver(bag, clients, server, rng):
    """Carry envelopes of one client each, drawn from a bag, some of them twice, until none is left."""
    while bag:
        envelope = bag[int(rng.integers(len(bag)))]
        if rng.random() < 0.7:
            bag[:] = [other for other in bag if other is not envelope]
        receivers = [server] if envelope.is_upload else [clients[int(client)] for client in envelope.clients]
        bag += [one for receiver in receivers for sent in receiver.receive(envelope) for one in sent.split()]


def play_by_hand(name, parameters, seed, order):
    sizes = {"dimension": DIMENSION, "clients": CLIENTS, "horizon": ROUNDS, "arms": ARMS}
    clients = [fb.Client(name, number=number, **sizes, **parameters) for number in range(CLIENTS)]
    server = fb.Server(name, **sizes, **parameters)
    rng = np.random.default_rng(order)
    chosen = []
    for block in WORLD.turns(CLIENTS * ROUNDS, seed, CLIENTS):
        bag = []
        choices = np.empty((CLIENTS, 2), dtype=np.int64)
        for place in rng.permutation(CLIENTS):
            choices[place] = clients[place].choose(block.features[place])
            won = block.outcomes.feedback(slice(place, place + 1), choices[place : place + 1])
            bag += [one for sent in clients[place].learn(float(won[0])) for one in sent.split()]
        deliver(bag, clients, server, rng)
        chosen += choices.tolist()
    return chosen, clients, server


@pytest.mark.parametrize(("name", "parameters"), ALGORITHMS)
@settings(max_examples=10)
@given(seed=st.integers(0, 50), order=st.integers(0, 2**16))
def test_sites_that_exchange_in_any_order_equal_the_simulation(name, parameters, seed, order):
    trace, wire = simulate(fb.algorithm(name, **parameters), WORLD, CLIENTS * ROUNDS, seed)
    chosen, clients, server = play_by_hand(name, parameters, seed, order)
    assert chosen == trace.choice.tolist()
    for number, client in enumerate(clients):
        assert (client.node.state.estimate[0] == wire.clients.state.estimate[number]).all()
        assert (client.node.state.inverse[0] == wire.clients.state.inverse[number]).all()
    if name != "ldb":
        assert (server.node.state.information == wire.server.state.information).all()


@pytest.mark.parametrize(("name", "parameters"), ALGORITHMS[:4])
@settings(max_examples=10)
@given(seed=st.integers(0, 50), order=st.integers(0, 2**16))
def test_no_duel_is_lost_or_counted_twice(name, parameters, seed, order):
    chosen, clients, server = play_by_hand(name, parameters, seed, order)
    features = np.concatenate([block.features for block in WORLD.turns(CLIENTS * ROUNDS, seed, CLIENTS)])
    pairs, turns = np.array(chosen), np.arange(CLIENTS * ROUNDS)
    differences = features[turns, pairs[:, 0]] - features[turns, pairs[:, 1]]
    prior = clients[0].node.side.rule.prior * np.eye(DIMENSION)
    unsent = sum(getattr(client.node.state, "information", np.zeros((1, 1, 1)))[0] for client in clients)
    total = server.node.state.information + unsent
    np.testing.assert_allclose(total, prior + differences.T @ differences, rtol=1e-12, atol=1e-12)
