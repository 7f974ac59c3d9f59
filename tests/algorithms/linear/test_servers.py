"""The server sides of the linear family, message by message."""

from __future__ import annotations

import numpy as np
import pytest

import fedbandit as fb
from fedbandit.algorithms.linear.shared.messages import Hello, Statistics
from fedbandit.core.bounds import Bounds
from fedbandit.core.errors import ProtocolError
from fedbandit.wire.state import encode_state

CLIENTS, DIMENSION = 3, 2


def server_of(name, **parameters):
    setting = fb.Setting(CLIENTS, arms=2, dimension=DIMENSION, horizon=100)
    side = fb.algorithm(name, **parameters).build(setting).server
    return side, side.start(CLIENTS)


def statistics(size=1.0, observations=1):
    gram = np.diag([size, 0.0])[np.newaxis]
    return Statistics(gram, gram[:, 0], np.array([observations]))


def only(client):
    return np.array([client])


def test_a_hello_after_an_upload_changes_nothing():
    side, state = server_of("async-linucb")
    side.receive(state, only(1), statistics(5.0))
    before = encode_state(state)
    assert side.receive(state, only(1), Hello()) == ()
    assert encode_state(state) == before


def test_a_hello_that_comes_again_after_a_download_changes_nothing():
    side, state = server_of("async-linucb", download_threshold=1.0)
    side.receive(state, only(1), Hello())
    assert side.receive(state, only(0), statistics(5.0))
    before = encode_state(state)
    side.receive(state, only(1), Hello())
    assert encode_state(state) == before


def test_sums_that_only_others_make_up_for_are_refused_from_whoever_uploaded_first():
    """What was shared with a client and what it uploaded itself must be invertible without what others uploaded."""
    side, state = server_of("async-linucb", ridge=1.0, download_threshold=1e30)
    hidden = np.diag([1e9, -0.4])[np.newaxis]  # a little less than nothing, beside very much
    uploaded = Statistics(hidden, hidden[:, 0], np.array([1]))
    side.receive(state, only(0), uploaded)
    side.receive(state, only(1), Statistics(1e9 * np.eye(2)[np.newaxis], np.zeros((1, 2)), np.array([1])))
    assert (state.contacts.row_of[0], state.contacts.slot_of[0]) == (0, -1)
    side.check(state, 2, uploaded, Bounds(), 0)
    with pytest.raises(ProtocolError, match="so large beside the ridge of 1 that no inverse exists"):
        side.check(state, 0, uploaded, Bounds(), 1)


def test_an_empty_upload_calls_nobody():
    side, state = server_of("sync-linucb")
    assert side.receive(state, only(2), statistics(0.0, observations=0)) == ()
    assert not state.attendance.is_open
    assert side.awaited(state).size == 0
    (call,) = side.receive(state, only(0), statistics())
    assert call.clients.tolist() == [1, 2], "who sent nothing before is called with the others"


def test_what_stays_alone_takes_in_nothing():
    for name in ("local-linucb", "linear-ucb", "linear-ts"):
        assert server_of(name)[0].kinds == ()
    assert server_of("async-linucb")[0].kinds == (Statistics, Hello)


def test_the_global_part_of_alternating_clients_adds_up_residuals():
    """y - x^T theta with theta in the unit ball: its bound is R + L, not R."""
    side, _ = server_of("async-linucb-am")
    assert side.bounds(Bounds(context=2.0, reward=3.0)) == Bounds(context=2.0, reward=5.0)


def test_where_only_clients_that_were_met_synchronise_the_others_are_neither_called_nor_sent_anything():
    side, state = server_of("sync-linucb", roster="met")
    assert side.receive(state, only(1), Hello()) == ()
    (call,) = side.receive(state, only(0), statistics())
    assert call.clients.tolist() == [1]
    (snapshot,) = side.receive(state, only(1), statistics(0.0, observations=0))
    assert snapshot.clients.tolist() == [0, 1]
    assert side.receive(state, only(2), Hello()) == ()
    (call,) = side.receive(state, only(0), statistics())
    assert call.clients.tolist() == [1, 2]


def test_a_client_that_is_met_while_a_synchronisation_is_open_is_called_and_waited_for():
    side, state = server_of("sync-linucb", roster="met")
    side.receive(state, only(1), Hello())
    side.receive(state, only(0), statistics())
    (call,) = side.receive(state, only(2), Hello())
    assert (call.clients.tolist(), type(call.message).__name__) == ([2], "Call")
    assert side.receive(state, only(2), Hello()) == ()
    assert side.receive(state, only(1), statistics()) == ()
    assert side.awaited(state).tolist() == [2]
    (snapshot,) = side.deadline(state)
    assert snapshot.clients.tolist() == [0, 1, 2]
    assert state.attendance.missed.tolist() == [0, 0, 1]


def test_the_first_client_synchronises_with_nobody_but_itself():
    side, state = server_of("sync-linucb", roster="met")
    (snapshot,) = side.receive(state, only(2), statistics())
    assert snapshot.clients.tolist() == [2]
    assert not state.attendance.is_open
