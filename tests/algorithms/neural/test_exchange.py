"""What FN-UCB sends: counted as in section 3.4, the same over a network, and conserved when rounds do not keep step."""

from __future__ import annotations

import numpy as np
import pytest

jax = pytest.importorskip("jax", reason="needs JAX: pip install '.[neural]'")

import fedbandit as fb  # noqa: E402
from fedbandit.algorithms.neural.shared.compact_arrays import CompactArray  # noqa: E402
from fedbandit.algorithms.neural.shared.messages import Call  # noqa: E402
from fedbandit.core.turns import Observations  # noqa: E402
from fedbandit.kernels.neural import subspace  # noqa: E402
from fedbandit.kernels.neural.network import symmetric_network  # noqa: E402
from fedbandit.protocol.client import ClientNode  # noqa: E402
from fedbandit.protocol.server import ServerNode  # noqa: E402
from fedbandit.simulation.in_process import simulate  # noqa: E402
from fedbandit.wire import decode, encode, weigh  # noqa: E402
from reference.networks import Symmetric  # noqa: E402
from reference.nonlinear import nonlinear_rounds  # noqa: E402
from samples.worlds import recorded  # noqa: E402

SMALL = {"width": 6, "train_steps": 3, "precision": "float64"}
CLIENTS, ARMS, DIMENSION = 3, 4, 3
PARAMETERS = 6 * (2 * DIMENSION + 1)


def sides(name="fn-ucb-less", **changes):
    built = fb.algorithm(name, **SMALL, **changes).build(fb.Setting(CLIENTS, ARMS, DIMENSION, 1))
    return ClientNode(built.clients, CLIENTS), ServerNode(built.server, CLIENTS)


def one_round(clients, server, seed=0):
    """All clients act once; return the contributions, unsent to the server, and the call that asked for them."""
    rng = np.random.default_rng(seed)
    who, arms = np.arange(CLIENTS), rng.standard_normal((CLIENTS, ARMS, DIMENSION))
    choice = clients.decide(who, arms, np.empty((CLIENTS, 0))).choices
    (request,) = clients.learn(who, Observations(arms, choice, rng.standard_normal(CLIENTS)))
    (call,) = server.receive(request)
    return call, clients.receive(call)


@pytest.mark.parametrize("name", ["fn-ucb", "fn-ucb-less"])
@pytest.mark.parametrize("diagonal", [False, True])
def test_a_round_counts_what_section_3_4_counts(name, diagonal):
    clients, server = sides(name, diagonal=diagonal)
    _, (upload,) = one_round(clients, server)
    (download,) = server.receive(upload)
    matrix = PARAMETERS if diagonal else PARAMETERS**2
    inverses = CLIENTS if name == "fn-ucb" else 1
    assert weigh(upload.message.rows(slice(0, 1))).scalars == 2 * matrix + 2 * PARAMETERS + 1
    assert weigh(download.message).scalars == (1 + inverses) * matrix + 2 * PARAMETERS + 1
    assert upload.clients.tolist() == download.clients.tolist() == [0, 1, 2]


@pytest.mark.parametrize("name", ["fn-ucb", "fn-ucb-less"])
@pytest.mark.parametrize("diagonal", [False, True])
def test_the_server_sums_averages_and_takes_the_least(name, diagonal):
    clients, server = sides(name, diagonal=diagonal, weight="theory")
    whole = {"gram": 0.0, "moment": 0.0}
    for number in range(4):
        _, (upload,) = one_round(clients, server, seed=number)
        sent = {field: np.asarray(getattr(upload.message, field)) for field in upload.message.shapes()}
        (download,) = server.receive(upload)
        got = {field: np.asarray(getattr(download.message, field)) for field in sent}
        for field in whole:
            whole[field] = whole[field] + sent[field].sum(axis=0)
            np.testing.assert_allclose(got[field], whole[field], atol=1e-12)
        np.testing.assert_allclose(got["weights"], sent["weights"].mean(axis=0), atol=1e-14)
        assert got["ratio"] == sent["ratio"].min() < 1
        expected = sent["inverse"] if name == "fn-ucb" else sent["inverse"].mean(axis=0)
        np.testing.assert_allclose(got["inverse"], expected, atol=1e-14)
        clients.receive(download)


def test_what_a_client_sends_is_its_own_sum_since_the_last_upload():
    clients, server = sides()
    network = symmetric_network(DIMENSION, 6, 1, 0)
    literal = Symmetric(DIMENSION, 6, 1)
    rng = np.random.default_rng(0)
    who, arms = np.arange(CLIENTS), rng.standard_normal((CLIENTS, ARMS, DIMENSION))
    rewards = rng.standard_normal(CLIENTS)
    choice = clients.decide(who, arms, np.empty((CLIENTS, 0))).choices
    (request,) = clients.learn(who, Observations(arms, choice, rewards))
    (call,) = server.receive(request)
    (upload,) = clients.receive(call)
    for client in range(CLIENTS):
        gradient = literal.value_and_gradient(arms[client, choice[client]], network.initial)[1]
        feature = gradient / np.sqrt(6)
        message = upload.message
        np.testing.assert_allclose(np.asarray(message.gram)[client], np.outer(feature, feature), atol=1e-12)
        np.testing.assert_allclose(np.asarray(message.moment)[client], rewards[client] * feature, atol=1e-12)
        exact = np.linalg.inv(0.1 * np.eye(PARAMETERS) + np.outer(feature, feature))
        np.testing.assert_allclose(np.asarray(message.inverse)[client], exact, atol=1e-10)


@pytest.mark.parametrize("diagonal", [False, True])
@pytest.mark.parametrize("name", ["fn-ucb", "fn-ucb-less"])
def test_messages_from_a_network_are_read_as_those_of_the_same_process(name, diagonal):
    parameters = {"diagonal": diagonal, "weight": "theory"}
    clients, server = sides(name, **parameters)
    _, (upload,) = one_round(clients, server)
    exchange = clients.side.exchange
    near = exchange.read_share(upload.message)
    for row, part in enumerate(upload.split()):
        data = encode(part.message)
        assert len(data) == weigh(part.message).bytes
        with exchange.rounds.active():
            far = exchange.read_share(decode(data))
        np.testing.assert_allclose(far.moment[0], near.moment[row], atol=1e-12)
        np.testing.assert_allclose(far.weights[0], near.weights[row], atol=1e-12)
        np.testing.assert_allclose(far.inverse[0], near.inverse[row], atol=1e-12)
        np.testing.assert_allclose(far.gram.diagonal[0], near.gram.diagonal[row], atol=1e-12)


@pytest.mark.parametrize("threshold", [0.0, 2.0])
@pytest.mark.parametrize("diagonal", [False, True])
def test_a_client_that_acts_between_upload_and_download_loses_nothing(threshold, diagonal):
    """W_sync + W_new of all clients stays the sum of all that was observed, whatever is on its way."""
    clients, server = sides(sync_threshold=threshold, diagonal=diagonal)
    rng = np.random.default_rng(1)
    bag, moment = [], np.zeros(PARAMETERS)
    network = symmetric_network(DIMENSION, 6, 1, 0)
    literal = Symmetric(DIMENSION, 6, 1)
    for _ in range(60):
        if bag and rng.random() < 0.6:
            envelope = bag.pop(int(rng.integers(len(bag))))
            answers = (server if envelope.is_upload else clients).receive(envelope)
        else:
            who, arms = rng.integers(CLIENTS, size=1), rng.standard_normal((1, ARMS, DIMENSION))
            choice, reward = clients.decide(who, arms, np.empty((1, 0))).choices, rng.standard_normal(1)
            answers = clients.learn(who, Observations(arms, choice, reward))
            feature = literal.value_and_gradient(arms[0, choice[0]], network.initial)[1] / np.sqrt(6)
            moment += reward[0] * feature
        bag += [part for envelope in answers for part in envelope.split()]
    state = clients.state
    shares = sum(np.asarray(share.moment)[0] for _, share in server.state.shares)
    travelling = sum(
        np.asarray(each.message.moment)[0] for each in bag if hasattr(each.message, "weights") and each.is_upload
    )
    known = np.asarray(server.state.moment)[0] + shares
    unsent = np.broadcast_to(np.asarray(state.learnt.moment), (CLIENTS, network.coordinates)).sum(axis=0)
    total = subspace.write_vector(network, known + unsent) + travelling
    np.testing.assert_allclose(total, moment, atol=1e-9)


def test_a_client_that_missed_a_version_knows_what_the_others_know(tmp_path):
    """Client 2 gets no download for three rounds; then its pooled matrix is again that of the others."""
    clients, server = sides()
    for number in range(5):
        _, (upload,) = one_round(clients, server, seed=number)
        (download,) = server.receive(upload)
        lost = [0, 1] if number < 4 else [0, 1, 2]
        clients.receive(download.only(np.array(lost)))
    state = clients.state
    assert state.version.tolist() == [5, 5, 5]
    pooled = np.broadcast_to(np.asarray(state.pooled), (CLIENTS, *state.pooled.shape[1:]))
    np.testing.assert_allclose(pooled[2], pooled[0], atol=1e-9)


def test_a_request_that_crossed_the_broadcast_starts_nothing():
    clients, server = sides()
    _, (upload,) = one_round(clients, server)
    rng = np.random.default_rng(3)
    arms = rng.standard_normal((CLIENTS, ARMS, DIMENSION))
    who = np.arange(CLIENTS)
    choice = clients.decide(who, arms, np.empty((CLIENTS, 0))).choices
    (late,) = clients.learn(who, Observations(arms, choice, np.zeros(CLIENTS)))
    server.receive(upload)
    assert server.receive(late) == []


def test_a_call_is_answered_by_clients_that_have_seen_nothing():
    clients, server = sides()
    who, arms = np.array([1]), np.random.default_rng(0).standard_normal((1, ARMS, DIMENSION))
    choice = clients.decide(who, arms, np.empty((1, 0))).choices
    (request,) = clients.learn(who, Observations(arms, choice, np.ones(1)))
    (call,) = server.receive(request)
    assert isinstance(call.message, Call)
    (upload,) = clients.receive(call)
    assert not np.asarray(upload.message.gram)[[0, 2]].any()
    assert not np.asarray(upload.message.moment)[[0, 2]].any()
    (download,) = server.receive(upload)
    clients.receive(download)
    assert clients.state.heard.all()


def test_the_sums_of_a_million_observations_travel_in_single_precision():
    """What rounding adds to W_sync stays below a tenth of the ridge."""
    rounds = fb.algorithm("fn-ucb-less").build(fb.Setting(CLIENTS, ARMS, 10, 1)).clients.rounds
    contexts = np.random.default_rng(0).standard_normal((4000, 10))
    contexts /= np.linalg.norm(contexts, axis=1, keepdims=True)
    with rounds.active():
        features = np.asarray(rounds.steps.features(rounds.device.put(contexts)), dtype=np.float64)
    whole = features.T @ features * (1e6 / len(features))
    travelled = subspace.write_matrix(rounds.network, whole).astype(np.float32)
    error = subspace.read_matrix(rounds.network, travelled) - whole
    assert np.abs(np.linalg.eigvalsh(error)).max() < 0.01


def test_theta_0_is_the_same_before_and_after_a_run(tmp_path):
    before = symmetric_network(DIMENSION, 6, 1, 0).initial.copy()
    world = nonlinear_rounds(seed=0, rounds=10, clients=CLIENTS, arms=ARMS, dimension=DIMENSION)
    environment = recorded(tmp_path, world)
    _, wire = simulate(fb.algorithm("fn-ucb-less", **SMALL), environment, environment.setting().horizon)
    rounds = wire.clients.side.rounds
    assert (rounds.network.initial == before).all()
    assert not np.allclose(wire.clients.state.own.thetas, before)


def test_the_rows_of_a_compact_array_are_those_of_the_whole():
    pairs = CompactArray((np.arange(6.0).reshape(3, 2),), lambda part: np.repeat(part, 2, axis=-1), (3, 4))
    assert len(pairs) == 3
    assert np.asarray(pairs[1]).tolist() == [2, 2, 3, 3]
    assert pairs[np.array([2, 0])].shape == (2, 4)
    assert np.asarray(pairs[1:]).tolist() == [[2, 2, 3, 3], [4, 4, 5, 5]]
    assert np.asarray(pairs.first).tolist() == [0, 0, 1, 1]
