"""However late messages are, and whatever they cross, a client never forgets what it sent, nor counts it twice.

Every turn has a feature of its own, so that the diagonal of a sum of x x^T tells how often each turn is in it.
"""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import fedbandit as fb
from fedbandit.algorithms.linear.shared.clients import LinearClients
from fedbandit.algorithms.linear.shared.exchange import no_exchange
from fedbandit.protocol.client import ClientNode
from fedbandit.protocol.server import ServerNode
from samples.bag import Bag, steps

CLIENTS, TURNS = 3, 40
FEDERATIONS = [
    ("async-linucb", {"upload_threshold": 1.0, "download_threshold": 1.0}),
    ("async-linucb", {"upload_threshold": 20.0, "download_threshold": 3.0, "welcome": True}),
    ("sync-linucb", {"sync_threshold": 0.0}),
    ("sync-linucb", {"sync_threshold": 6.0}),
    ("fedlinucb", {"upload_threshold": 1.0, "use_own": True}),
    ("fedlinucb", {"upload_threshold": 20.0, "welcome": True}),
    *(
        ("lean-linucb", {"precision": "float64", "download_threshold": 1.0, "upload_threshold": 20.0, "delivery": each})
        for each in ("turn", "upload", "push")
    ),
]


class Tagged(Bag):
    """Clients whose turns leave a mark; with an even seed they keep uploads as sites do, with an odd one none."""

    def __init__(self, name, parameters, seed):
        super().__init__(fb.algorithm(name, **parameters), fb.Setting(CLIENTS, 2, TURNS, TURNS), seed)
        if seed % 2 == 0:
            self.clients.state.exchange = no_exchange(CLIENTS, TURNS, clients=1)
        self.own = {client: [] for client in range(CLIENTS)}
        self.made = 0

    def world(self):
        arms = np.zeros((1, 2, TURNS))
        arms[0, :, self.made % TURNS] = 1.0
        return arms, np.ones(1)

    def seen(self, chosen, reward):
        self.made += 1

    def turn(self, client):
        if self.made < TURNS:
            self.own[client].append(self.made)
            super().turn(client)

    def times_known(self, client):
        state = self.clients.state
        if state.row_of[client] < 0:
            return np.zeros(TURNS)
        return np.diagonal(state.rows.gram[self.clients.side.settle(state, client)])


def check(network):
    for client, turns in network.own.items():
        known = network.times_known(client)
        assert (known[turns] == 1).all(), f"client {client} knows its turns {turns} so often: {known[turns]}"
        assert np.isin(known, [0, 1]).all()


@pytest.mark.parametrize(("name", "parameters"), FEDERATIONS)
@settings(max_examples=80)
@given(actions=steps(CLIENTS, most=70, deadlines=True), seed=st.integers(0, 2**16))
def test_a_client_knows_each_of_its_observations_once_whatever_crosses_what(name, parameters, actions, seed):
    network = Tagged(name, parameters, seed)
    for action in actions:
        network.run([action])
        check(network)
    network.drain()
    check(network)


def test_the_check_can_fail(monkeypatch):
    """With downloads that are taken in as if they crossed nothing, a client forgets."""
    monkeypatch.setattr(
        LinearClients, "receive_late", lambda side, state, to, message, _: side.receive(state, to, message)
    )
    network = Tagged(*FEDERATIONS[0], seed=0)
    for client in (0, 1):
        network.turn(client)
    network.drain()
    network.turn(1)
    network.turn(0)
    other = next(each for each in network.bag if each.clients[0] == 0)
    for download in network.server.receive(other):
        network.clients.receive(download)
    with pytest.raises(AssertionError, match="knows its turns"):
        check(network)


def test_a_site_keeps_several_uploads_and_drops_a_download_that_lacks_more():
    sides = fb.algorithm("async-linucb", upload_threshold=1.0, download_threshold=1.0).build(fb.Setting(2, 2, TURNS, 1))
    site, other = ClientNode(sides.clients, 1), ClientNode(sides.clients, 1, first=1)
    server = ServerNode(sides.server, 2)

    def turn(node, number):
        seen = fb.core.turns.Observations(np.eye(TURNS)[np.newaxis], np.array([number]), np.ones(1))
        return node.learn(np.zeros(1, dtype=np.int64), seen)

    (first,) = turn(site, 0)
    server.receive(first)
    late = [download for envelope in turn(other, 1) for download in server.receive(envelope)]
    (download,) = [each for each in late if 0 in each.clients]
    for number in range(2, 6):
        turn(site, number)  # four uploads that the download lacks
    site.receive(download.only(np.flatnonzero(download.clients == 0)))
    assert np.diagonal(site.state.rows.gram[0])[:7].tolist() == [1, 1, 1, 1, 1, 1, 0]
    later = [download for envelope in turn(other, 6) for download in server.receive(envelope)]
    (download,) = [each for each in later if 0 in each.clients]
    for number in range(7, 14):
        turn(site, number)  # eleven now: more than a site keeps
    site.receive(download.only(np.flatnonzero(download.clients == 0)))
    assert np.diagonal(site.state.rows.gram[0])[:15].tolist() == [1] * 6 + [0] + [1] * 7 + [0]
