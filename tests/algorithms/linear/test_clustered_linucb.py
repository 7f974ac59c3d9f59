"""Clustered-LinUCB chooses and communicates as the literal transcription does, turn by turn, and tells groups apart."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import fedbandit as fb
from fedbandit.algorithms.linear.shared.messages import Hello, Statistics
from fedbandit.core.bounds import Bounds
from fedbandit.core.errors import ProtocolError
from fedbandit.core.randomness import ClientStreams
from fedbandit.kernels.linear.peers import peers_of
from fedbandit.simulation.in_process import simulate
from fedbandit.wire.state import encode_state
from reference.clusters import clustered_linucb, grouped_turns
from reference.recorded import linear_turns
from samples.worlds import recorded

WORLDS = [
    pytest.param({"seed": 0, "turns": 700, "clients": 9, "arms": 5, "dimension": 3, "groups": 3}, id="three groups"),
    pytest.param({"seed": 1, "turns": 700, "clients": 9, "arms": 5, "dimension": 4, "groups": 1}, id="no groups"),
    pytest.param({"seed": 2, "turns": 700, "clients": 6, "arms": 5, "dimension": 3, "groups": 6}, id="all differ"),
    pytest.param(
        {"seed": 3, "turns": 800, "clients": 17, "arms": 4, "dimension": 2, "groups": 2, "skew": 1.0}, id="skewed"
    ),
    pytest.param(
        {"seed": 4, "turns": 600, "clients": 8, "arms": 4, "dimension": 3, "groups": 1, "liars": 2}, id="liars"
    ),
    pytest.param({"seed": 5, "turns": 100, "clients": 1, "arms": 4, "dimension": 3, "groups": 1}, id="one client"),
]
OFTEN = {"upload_threshold": 1.0, "download_threshold": 1.0}


def play(folder, world, name="clustered-linucb", **parameters):
    environment = recorded(folder, world)
    return simulate(fb.algorithm(name, **parameters), environment, environment.setting().horizon)


def verdicts(state):
    """The matrix of who is told apart from whom."""
    clients = len(state.told.uploads)
    return np.unpackbits(state.verdicts.apart, axis=1, count=clients, bitorder="little").astype(bool)


def sets(bits, clients):
    return [set(np.flatnonzero(row)) for row in np.unpackbits(bits, axis=1, count=clients, bitorder="little")]


def assert_same(trace, wire, literal):
    assert trace.choice.tolist() == literal["arm"].tolist()
    assert np.cumsum(trace.messages).tolist() == literal["messages"].tolist()
    assert np.cumsum(trace.scalars).tolist() == literal["scalars"].tolist()
    assert (trace.ledger.uploads, trace.ledger.downloads) == (literal["uploads"], literal["downloads"])
    state = wire.server.state
    np.testing.assert_allclose(state.told.gram, literal["S"], atol=1e-9)
    np.testing.assert_allclose(state.told.moment, literal["s"], atol=1e-9)
    np.testing.assert_allclose(state.shared.gram, literal["C"], atol=1e-9)
    assert (verdicts(state) == literal["apart"]).all()
    assert sets(state.shared.held, len(literal["u"])) == literal["H"]


@pytest.mark.parametrize(
    "thresholds",
    [{}, OFTEN, {"upload_threshold": 1.3, "download_threshold": 2.0}, {"upload_threshold": 12.0}, {"test_level": 0.9},
     {"test_level": 0.0}],
    ids=["default", "every turn", "often", "seldom", "level 0.9", "level 0"],
)  # fmt: skip
@pytest.mark.parametrize("sizes", WORLDS)
def test_it_equals_the_transcription(tmp_path, sizes, thresholds):
    world = grouped_turns(**sizes)
    assert_same(*play(tmp_path, world, **thresholds), clustered_linucb(world, **thresholds))


@pytest.mark.parametrize("parameters", [{"ridge": 2.0}, {"noise": 1.0}, {"noise": 0.0}, {"delta": 0.5}, {"alpha": 0.3}])
def test_every_parameter_does_what_it_says(tmp_path, parameters):
    world = grouped_turns(seed=6, turns=500, clients=7, arms=5, dimension=4, groups=2)
    assert_same(*play(tmp_path, world, **parameters), clustered_linucb(world, **parameters))


def test_thresholds_per_client_equal_the_transcription(tmp_path):
    world = grouped_turns(seed=7, turns=500, clients=6, arms=6, dimension=4, groups=2, skew=0.5)
    thresholds = {
        "upload_threshold": np.array([1.0, 1.1, 2.0, 5.0, 50.0, np.inf]),
        "download_threshold": np.array([1.0, 50.0, np.inf, 1.3, 2.0, 3.0]),
    }
    assert_same(*play(tmp_path, world, **thresholds), clustered_linucb(world, **thresholds))


@pytest.mark.parametrize("exploration", ["thompson", "perturbed"])
def test_sampling_equals_the_transcription(tmp_path, exploration):
    world = grouped_turns(seed=8, turns=400, clients=8, arms=6, dimension=4, groups=2)
    draws = ClientStreams(seed=0).normals(world["client"], 4)
    literal = clustered_linucb(world, exploration=exploration, draws=draws)
    assert_same(*play(tmp_path, world, exploration=exploration), literal)


def test_a_long_run_stays_with_the_transcription(tmp_path):
    """More own observations than inverses go without being computed afresh, with something not uploaded then."""
    world = grouped_turns(seed=9, turns=2600, clients=2, arms=3, dimension=2, groups=2)
    assert_same(*play(tmp_path, world, upload_threshold=1.4), clustered_linucb(world, upload_threshold=1.4))


def test_ties_of_determinants_do_not_depend_on_rounding(tmp_path):
    """A first unit arm multiplies the determinant by 1 + 1/ridge = 11 exactly: a threshold of 11 is not passed."""
    world = linear_turns(seed=3, turns=6, clients=6, arms=4, dimension=5)
    assert play(tmp_path, world, upload_threshold=11.0)[0].ledger.uploads == 0
    assert play(tmp_path, world, upload_threshold=10.999)[0].ledger.uploads == 6


def test_a_zero_arm_uploads_nothing(tmp_path):
    world = linear_turns(seed=10, turns=20, clients=3, arms=2, dimension=3)
    world["arms"] = np.zeros_like(world["arms"])
    assert play(tmp_path, world, **OFTEN)[0].ledger.messages == 0


@pytest.mark.parametrize("download", [1.0, 3.0])
def test_nobody_told_apart_and_every_turn_uploaded_is_async(tmp_path, download):
    world = grouped_turns(seed=11, turns=400, clients=7, arms=5, dimension=4, groups=3)
    thresholds = {"upload_threshold": 1.0, "download_threshold": download}
    ours, _ = play(tmp_path, world, test_level=0, **thresholds)
    theirs, _ = play(tmp_path, world, "async-linucb", **thresholds)
    assert ours.choice.tolist() == theirs.choice.tolist()
    assert ours.messages.tolist() == theirs.messages.tolist()


@pytest.mark.parametrize("thresholds", [{"upload_threshold": np.inf}, {"download_threshold": np.inf}])
def test_with_either_threshold_infinite_clients_are_alone(tmp_path, thresholds):
    world = grouped_turns(seed=12, turns=400, clients=7, arms=5, dimension=4, groups=3)
    ours, _ = play(tmp_path, world, **thresholds)
    assert ours.choice.tolist() == play(tmp_path, world, "local-linucb")[0].choice.tolist()
    assert ours.ledger.downloads == 0


@pytest.mark.parametrize("groups", [1, 2, 4])
def test_groups_are_found(groups):
    world = fb.environment("grouped", clients=12, groups=groups, arms=8, dimension=5, source="sphere")
    _, wire = simulate(fb.algorithm("clustered-linucb"), world, turns=6000, seed=1)
    group = world.group_of(1)
    assert (verdicts(wire.server.state) == (group[:, np.newaxis] != group)).all()
    assert wire.server.side.peers(wire.server.state).tolist() == [12 // groups - 1] * 12


# What must hold whatever is uploaded.


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


@pytest.mark.parametrize(
    ("how", "sentence"),
    [
        ({"test_level": 1}, "test_level must be at least 0 and less than 1, not 1: give a number in that range"),
        ({"upload_threshold": 0.5}, "upload_threshold must be at least 1, not 0.5: give a number in that range"),
    ],
)
def test_parameters_out_of_range_are_refused_in_one_sentence(how, sentence):
    with pytest.raises(fb.InvalidInput) as error:
        fb.algorithm("clustered-linucb", **how)
    assert str(error.value) == sentence


def test_a_list_of_thresholds_must_name_every_client():
    with pytest.raises(fb.InvalidInput, match="download_threshold lists 2 values for 3 clients"):
        server_of(3, download_threshold=(2.0, 3.0))
