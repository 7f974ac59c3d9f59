"""The client node numbers what its clients send and lets through only downloads newer than the last."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fedbandit.algorithms.linear.shared.messages import Snapshot
from fedbandit.core.errors import ProtocolError
from fedbandit.core.turns import Observations, Rewards, Turns
from fedbandit.protocol.client import ClientNode
from fedbandit.protocol.envelope import Envelope
from fedbandit.protocol.held_uploads import nothing_told
from samples.examples import examples
from samples.messages import Ping, Pong
from samples.sides import ListeningClients, pings

CLIENTS = 4


def download(to, number, epoch=0):
    return Envelope(np.array(to, dtype=np.int64), Pong(number), epoch, np.asarray(number))


def seen(count):
    return Observations(np.zeros((count, 2, 1)), np.zeros(count, dtype=np.int64), np.zeros(count))


@settings(deadline=None, max_examples=examples(200))
@given(
    st.lists(st.tuples(st.lists(st.integers(0, CLIENTS - 1), min_size=1, unique=True), st.integers(1, 9)), max_size=20)
)
def test_each_client_takes_a_download_in_iff_it_is_newer_than_all_before(arrivals):
    node = ClientNode(ListeningClients(), CLIENTS)
    newest = dict.fromkeys(range(CLIENTS), 0)
    wanted = []
    for to, number in arrivals:
        node.receive(download(to, number))
        fresh = [client for client in to if number > newest[client]]
        newest.update(dict.fromkeys(fresh, number))
        if fresh:
            wanted.append(("receive", fresh, Pong(number)))
    assert node.state == wanted


def test_a_server_that_starts_again_is_heard_though_it_counts_from_one():
    node = ClientNode(ListeningClients(), CLIENTS)
    node.receive(download([0, 1], 7))
    node.receive(download([0], 1, epoch=1))
    assert node.state[-1] == ("receive", [0], Pong(1))
    node.receive(download([0, 1], 8, epoch=0))
    assert len(node.state) == 2, "what the server sent in its earlier life is late for ever"
    node.receive(download([0, 1], 1, epoch=1))
    assert node.state[-1] == ("receive", [1], Pong(1))


@settings(deadline=None, max_examples=100)
@given(st.lists(st.lists(st.integers(0, CLIENTS - 1), min_size=1, unique=True), max_size=10))
def test_each_client_numbers_its_own_uploads_from_one_without_a_gap(turns):
    node = ClientNode(ListeningClients(pings), CLIENTS)
    node.epoch = 3
    numbers = {client: [] for client in range(CLIENTS)}
    for who in turns:
        for envelope in node.learn(np.array(who), seen(len(who))):
            assert envelope.epoch == 3
            for client, number in zip(envelope.clients.tolist(), envelope.sequence.tolist(), strict=True):
                numbers[client].append(number)
    for given_out in numbers.values():
        assert given_out == list(range(1, len(given_out) + 1))


def test_a_cohort_within_a_larger_roster_is_known_outside_by_its_own_numbers():
    node = ClientNode(ListeningClients(pings), 2, first=5)
    (envelope,) = node.learn(np.array([1]), seen(1))
    assert envelope.clients.tolist() == [6]
    node.receive(download([6, 5], 1))
    assert node.state[-1] == ("receive", [1, 0], Pong(1))


def test_of_a_download_that_some_have_had_the_others_get_what_is_said_to_them():
    node = ClientNode(ListeningClients(), 3, first=5)
    node.receive(download([6], 2))
    told = nothing_told(3)
    message = Snapshot(np.eye(2), np.zeros(2)).holding(told)
    node.receive(Envelope(np.array([5, 6, 7]), message, 0, np.array(2)))
    kind, to, heard = node.state[-1]
    assert (kind, to) == ("receive", [0, 2])
    assert heard.holds.tolist() == told[[0, 2]].tolist()


def test_playing_stops_at_the_turn_that_sends():
    node = ClientNode(ListeningClients(lambda who: pings(who) if who[0] == 2 else ()), CLIENTS)
    block = Turns(np.array([0, 1, 2, 3]), np.zeros((4, 2, 1)), Rewards(np.arange(8.0).reshape(4, 2)))
    (choices, *_), envelopes, asks = node.play(block, 1, np.empty((4, 0)))
    assert not asks
    assert choices.tolist() == [0, 0]
    assert [(each.clients.tolist(), each.message) for each in envelopes] == [([2], Ping())]
    assert node.state == [("learn", [1], [2.0]), ("learn", [2], [4.0])]
    (choices, *_), envelopes, _ = node.play(block, 3, np.empty((4, 0)))
    assert len(choices) == 1
    assert envelopes == []


@pytest.mark.parametrize("stranger", [-1, CLIENTS, 10**9])
def test_a_download_to_somebody_else_is_refused_and_nothing_changes(stranger):
    node = ClientNode(ListeningClients(), CLIENTS)
    with pytest.raises(ProtocolError, match=f"a download to client {stranger}, who is not here"):
        node.receive(download([0, stranger], 1))
    node.receive(download([0], 1))
    assert node.state == [("receive", [0], Pong(1))]


@pytest.mark.parametrize(("message", "sequence"), [(Ping(), [1]), (Ping(), 1), (Pong(1), [1])])
def test_an_upload_at_a_client_is_refused_and_what_is_numbered_as_one(message, sequence):
    with pytest.raises(ProtocolError, match="a client takes downloads"):
        ClientNode(ListeningClients(), 1).receive(Envelope(np.array([0]), message, 0, np.array(sequence)))
