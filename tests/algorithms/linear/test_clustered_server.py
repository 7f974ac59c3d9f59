"""What must hold at the server of Clustered-LinUCB, whatever is uploaded."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import fedbandit as fb
from fedbandit.algorithms.linear.shared.messages import Hello, Statistics
from fedbandit.core.bounds import Bounds
from fedbandit.core.errors import ProtocolError
from fedbandit.kernels.linear.peers import peers_of
from fedbandit.wire.state import encode_state
from samples.groups import sets, verdicts


def server_of(clients, dimension=3, **parameters):
    setting = fb.Setting(clients, arms=2, dimension=dimension, horizon=100)
    side = fb.algorithm("clustered-linucb", **parameters).build(setting).server
    return side, side.start(clients)


def upload(rng, theta, observations=4, noise=0.1):
    arms = rng.standard_normal((observations, len(theta)))
    rewards = arms @ theta + noise * rng.standard_normal(observations)
    return Statistics((arms.T @ arms)[np.newaxis], (arms.T @ rewards)[np.newaxis], np.array([observations]))


def send(side, state, client, message):
    return side.receive(state, np.array([client]), message)


@settings(max_examples=60)
@given(
    senders=st.lists(st.integers(0, 8), min_size=1, max_size=40),
    seed=st.integers(0, 2**16),
    level=st.sampled_from([0.0, 0.1, 0.9]),
    download=st.sampled_from([1.0, 3.0, 100.0]),
)
def test_after_each_upload_copies_are_of_peers_and_hold_no_more_than_those_have_told(senders, seed, level, download):
    rng = np.random.default_rng(seed)
    side, state = server_of(9, test_level=level, download_threshold=download)
    theta = rng.standard_normal((3, 3)) * rng.choice([0.1, 1.0])
    for greeted in rng.permutation(9)[:4].tolist():
        send(side, state, greeted, Hello())
    for sender in senders:
        sent = send(side, state, sender, upload(rng, theta[sender % 3]))
        apart = verdicts(state)
        assert (apart == apart.T).all()
        assert not apart.diagonal().any()
        peers, held = sets(peers_of(state.verdicts, np.arange(9)), 9), sets(state.shared.held, 9)
        for j in range(9):
            assert held[j] <= peers[j]
            assert (j in peers[j]) == (state.told.uploads[j] > 0)
            total = sum((state.told.gram[k] for k in sorted(peers[j])), np.zeros((3, 3)))
            copy = state.shared.gram[j] + 0.1 * np.eye(3)
            np.testing.assert_allclose(state.shared.inverse[:, :, j] @ copy, np.eye(3), atol=1e-9)
            assert np.linalg.slogdet(total + 0.1 * np.eye(3))[1] <= state.verdicts.most[j] + 1e-9
            assert np.linalg.eigvalsh(total - state.shared.gram[j]).min() > -1e-9
        for outgoing in sent:
            assert len({frozenset(peers[j]) for j in outgoing.clients}) == 1, "equal peers get one payload"
            for j in outgoing.clients:
                assert (state.shared.gram[j] == outgoing.message.gram).all()
        assert len({frozenset(peers[each.clients[0]]) for each in sent}) == len(sent)


@settings(max_examples=40)
@given(senders=st.lists(st.integers(0, 5), min_size=2, max_size=30), seed=st.integers(0, 2**16))
def test_no_third_client_parts_two_or_joins_two(senders, seed):
    """The verdict on two is a function of what these two have told; and clients renumbered are told apart alike."""
    rng = np.random.default_rng(seed)
    theta, order = rng.standard_normal((2, 3)) * 0.3, rng.permutation(6)
    messages = [upload(rng, theta[sender % 2]) for sender in senders]
    side, whole = server_of(6)
    _, renumbered = server_of(6)
    for sender, message in zip(senders, messages, strict=True):
        send(side, whole, sender, message)
        send(side, renumbered, int(order[sender]), message)
    assert (verdicts(renumbered)[np.ix_(order, order)] == verdicts(whole)).all()
    for i in range(6):
        for j in range(i):
            _, alone = server_of(6)
            for sender, message in zip(senders, messages, strict=True):
                if sender in (i, j):
                    send(side, alone, sender, message)
            assert verdicts(alone)[i, j] == verdicts(whole)[i, j]


def test_an_error_heals():
    rng = np.random.default_rng(0)
    side, state = server_of(2)
    theta = np.array([0.3, -0.2, 0.5])
    send(side, state, 0, upload(rng, theta, 50))
    send(side, state, 1, upload(rng, -theta, 3))
    assert verdicts(state)[0, 1]
    assert side.peers(state).tolist() == [0, 0]
    healed = 0
    while verdicts(state)[0, 1]:
        send(side, state, 1, upload(rng, theta, 2000))
        healed += 1
        assert healed < 200
    assert side.peers(state).tolist() == [1, 1]


def test_who_leaves_a_group_is_sent_what_is_left_at_once_and_so_is_the_group():
    rng = np.random.default_rng(1)
    side, state = server_of(3, download_threshold=1.0)
    theta = np.array([0.3, -0.2, 0.5])
    for client in range(3):
        send(side, state, client, upload(rng, theta, 2))
    assert sets(state.shared.held, 3) == [{0, 1, 2}] * 3
    sent = send(side, state, 2, upload(rng, -5 * theta, 100))
    assert sets(state.shared.held, 3) == [{0, 1}, {0, 1}, {2}]
    assert [each.clients.tolist() for each in sent] == [[0, 1], [2]]
    np.testing.assert_array_equal(sent[1].message.gram, state.told.gram[2])
    np.testing.assert_allclose(sent[0].message.moment, state.told.moment[0] + state.told.moment[1])


def test_a_hello_is_answered_by_nothing_and_changes_nothing_when_it_comes_again():
    side, state = server_of(3)
    assert send(side, state, 1, Hello()) == ()
    before = encode_state(state)
    send(side, state, 1, Hello())
    assert encode_state(state) == before


def test_sums_that_could_not_be_inverted_are_refused():
    side, state = server_of(2, dimension=2)
    huge = Statistics(np.full((1, 2, 2), 1e14), np.zeros((1, 2)), np.array([10**15]))
    with pytest.raises(ProtocolError, match="no inverse exists"):
        side.check(state, 0, huge, Bounds(), 0)
    side.check(state, 0, Hello(), Bounds(), 0)


def test_peers_whose_sums_together_could_not_be_inverted_are_not_shared():
    side, state = server_of(2, dimension=1, download_threshold=1.0)
    send(side, state, 0, Statistics(np.full((1, 1, 1), -0.06), np.zeros((1, 1)), np.array([1])))
    with pytest.raises(ProtocolError, match="sums over the peers of client 0 could not be inverted"):
        send(side, state, 1, Statistics(np.full((1, 1, 1), -0.06), np.zeros((1, 1)), np.array([1])))


def test_a_list_of_thresholds_must_name_every_client():
    with pytest.raises(fb.InvalidInput, match="download_threshold lists 2 values for 3 clients"):
        server_of(3, download_threshold=(2.0, 3.0))
