"""The dueling family chooses and communicates as the literal transcription does, turn by turn."""

from __future__ import annotations

import numpy as np
import pytest

import fedbandit as fb
from fedbandit.algorithms.dueling.shared.gradient_duels import Information, SharedInformation
from fedbandit.algorithms.dueling.shared.online_duels import Progress, Synchronised
from fedbandit.algorithms.dueling.shared.search import Gradient, Probe
from fedbandit.core.messages import Message, Upload
from fedbandit.environments.recorded import Recorded
from fedbandit.simulation.in_process import simulate
from fedbandit.wire import encode
from fedbandit.wire.header import HEADER_BYTES
from reference import dueling as reference
from reference.recorded import dueling_rounds

LITERAL = {"fldb-ogd": reference.fldb_ogd, "fldb-gd": reference.fldb_gd, "ldb": reference.ldb}
ROUNDS, ARMS, DIMENSION = 40, 6, 4


def world_of(clients, seed=0, **sizes):
    return dueling_rounds(seed, **{"rounds": ROUNDS, "clients": clients, "arms": ARMS, "dimension": DIMENSION, **sizes})


def play(folder, world, name, **parameters):
    path = str(folder / "turns.npz")
    np.savez(path, **world)
    recorded = Recorded(path=path)
    return simulate(fb.algorithm(name, **parameters), recorded, recorded.setting().horizon)


def inner_steps(trace, literal, clients):
    """How many inner steps each turn's bill holds beyond what the transcription counts: whole ones, or it is wrong."""
    steps = (np.cumsum(trace.messages) - literal["messages"]) / (2 * clients)
    assert (steps == steps.astype(int)).all()
    return np.diff(steps, prepend=0).astype(int)


def assert_same(trace, literal):
    assert trace.choice[:, 0].tolist() == literal["arm"].tolist()
    assert trace.choice[:, 1].tolist() == literal["rival"].tolist()
    assert trace.rounds == literal["rounds"]


@pytest.mark.parametrize("average", [False, True])
@pytest.mark.parametrize("period", [1, 2, 4])
@pytest.mark.parametrize("clients", [5, 20])
def test_ogd_equals_the_transcription(tmp_path, clients, period, average):
    world = world_of(clients)
    literal = reference.fldb_ogd(world, period=period, average_gradient=average)
    trace, wire = play(tmp_path, world, "fldb-ogd", period=period, average_gradient=average)
    assert_same(trace, literal)
    np.testing.assert_allclose(wire.clients.state.estimate, np.tile(literal["theta_sync"], (clients, 1)), atol=1e-9)
    np.testing.assert_allclose(wire.server.state.information, literal["W_sync"], atol=1e-9)


@pytest.mark.parametrize("name", ["fldb-gd", "ldb"])
@pytest.mark.parametrize("seed", [0, 1])
@pytest.mark.parametrize("clients", [5, 20])
def test_gd_and_ldb_equal_the_transcription(tmp_path, clients, seed, name):
    world = world_of(clients, seed)
    literal = LITERAL[name](world)
    trace, wire = play(tmp_path, world, name)
    assert_same(trace, literal)
    theta = literal["theta"] if name == "ldb" else np.tile(literal["theta_sync"], (clients, 1))
    np.testing.assert_allclose(wire.clients.state.estimate, theta, atol=1e-9)


@pytest.mark.parametrize(
    "parameters",
    [{"ridge": 0.5}, {"curvature": 1.0}, {"curvature": 0.05}, {"delta": 0.3}, {"beta": 0.5}, {"beta": 0.0}],
)
@pytest.mark.parametrize("name", LITERAL)
def test_every_parameter_does_what_it_says(tmp_path, name, parameters):
    world = world_of(6, seed=2, rounds=25)
    assert_same(play(tmp_path, world, name, **parameters)[0], LITERAL[name](world, **parameters))


def test_a_large_step_is_projected_as_in_the_transcription(tmp_path):
    world = world_of(6, seed=3, rounds=25)
    parameters = {"step_scale": 1e-9, "ridge": 5.0, "curvature": 1.0}
    trace, wire = play(tmp_path, world, "fldb-ogd", **parameters)
    literal = reference.fldb_ogd(world, **parameters)
    assert_same(trace, literal)
    np.testing.assert_allclose(wire.server.state.anchor, literal["estimates"][-1], rtol=1e-9)


@pytest.mark.parametrize("name", LITERAL)
@pytest.mark.parametrize("sizes", [{"clients": 1}, {"clients": 3, "dimension": 1}, {"clients": 3, "arms": 1}])
def test_the_smallest_worlds_equal_the_transcription(tmp_path, sizes, name):
    world = world_of(**{"seed": 4, "rounds": 20, **sizes})
    assert_same(play(tmp_path, world, name)[0], LITERAL[name](world))


@pytest.mark.slow
@pytest.mark.parametrize("name", LITERAL)
def test_a_long_run_stays_with_the_transcription(tmp_path, name):
    world = dueling_rounds(seed=5, rounds=300, clients=20, arms=10, dimension=5)
    assert_same(play(tmp_path, world, name)[0], LITERAL[name](world))


@pytest.mark.parametrize("period", [1, 3])
def test_ogd_bills_every_communication_and_the_inner_steps_of_round_one(tmp_path, period):
    clients = 7
    world = world_of(clients, seed=6)
    trace, _ = play(tmp_path, world, "fldb-ogd", period=period)
    literal = reference.fldb_ogd(world, period=period)
    steps = inner_steps(trace, literal, clients)
    assert np.flatnonzero(steps).tolist() == literal["exchange_turns"]
    inner = 2 * clients * DIMENSION * np.cumsum(steps)
    assert np.cumsum(trace.scalars).tolist() == (literal["scalars"] + inner).tolist()
    assert trace.ledger.uploads == literal["uploads"] + clients * steps.sum()
    assert trace.ledger.downloads == literal["downloads"] + clients * steps.sum()


def test_gd_bills_the_information_once_a_round_and_every_inner_step(tmp_path):
    clients = 7
    world = world_of(clients, seed=7)
    trace, _ = play(tmp_path, world, "fldb-gd")
    literal = reference.fldb_gd(world)
    steps = inner_steps(trace, literal, clients)
    assert np.flatnonzero(steps).tolist() == literal["exchange_turns"]
    inner = 2 * clients * DIMENSION * np.cumsum(steps)
    assert np.cumsum(trace.scalars).tolist() == (literal["scalars"] + inner).tolist()
    assert trace.ledger.uploads == literal["uploads"] + clients * steps.sum()
    assert trace.ledger.downloads == literal["downloads"] + clients * steps.sum()


def test_gradient_steps_are_as_many_as_was_asked_for_and_do_what_the_paper_says(tmp_path):
    clients, wanted, step = 5, 3, 0.01
    world = world_of(clients, seed=8, rounds=2)
    trace, wire = play(tmp_path, world, "fldb-gd", solver="gradient", inner_steps=wanted, step=step)
    assert trace.ledger.messages == 2 * 2 * clients * (1 + wanted)
    turns = np.arange(len(world["client"]))
    differences = world["arms"][turns, trace.choice[:, 0]] - world["arms"][turns, trace.choice[:, 1]]
    wins = [reference.first_wins(world, turn, *trace.choice[turn]) for turn in turns]
    theta = np.zeros(DIMENSION)
    for known in (clients, 2 * clients):
        for _ in range(wanted):
            gradient = reference.loss_gradient(theta, differences[:known], np.array(wins[:known]))
            theta = theta - step * (gradient + theta / 2)
    np.testing.assert_allclose(wire.clients.state.estimate[0], theta, atol=1e-12)


def test_alone_nothing_is_sent(tmp_path):
    trace, _ = play(tmp_path, world_of(5), "ldb")
    assert (trace.ledger.messages, trace.ledger.signals, trace.rounds) == (0, 0, 0)


def size_of(kind: type[Message], shapes: dict[str, tuple[int, ...]]) -> int:
    """The bytes of one envelope: what the codec writes for such a message, and the envelope's own."""
    values = {}
    for name in kind.layout():
        value = np.ones(shapes.get(name, ()))
        values[name] = value[np.newaxis] if issubclass(kind, Upload) else value
        if name not in shapes:
            values[name] = np.ones(1, dtype=np.int64) if issubclass(kind, Upload) else 1
    return len(encode(kind(**values))) + HEADER_BYTES


def test_bytes_are_those_that_the_wire_would_carry(tmp_path):
    clients, vector, matrix = 5, (DIMENSION,), (DIMENSION, DIMENSION)
    world = world_of(clients, seed=9, rounds=10)
    probe, gradient = size_of(Probe, {"theta": vector}), size_of(Gradient, {"gradient": vector})
    online, _ = play(tmp_path, world, "fldb-ogd", period=2)
    up = size_of(Progress, {"gradient": vector, "information": matrix})
    down = size_of(Synchronised, {"estimate": vector, "anchor": vector, "information": matrix})
    steps = inner_steps(online, reference.fldb_ogd(world, period=2), clients).sum()
    assert online.ledger.bytes == clients * (6 * (up + down) + steps * (probe + gradient))
    joint, _ = play(tmp_path, world, "fldb-gd")
    up, down = size_of(Information, {"information": matrix}), size_of(SharedInformation, {"information": matrix})
    steps = inner_steps(joint, reference.fldb_gd(world), clients).sum()
    assert joint.ledger.bytes == clients * (10 * (up + down) + steps * (probe + gradient))


@pytest.mark.parametrize("name", LITERAL)
def test_a_file_that_does_not_divide_into_rounds_is_refused(tmp_path, name):
    world = world_of(4, seed=10, rounds=3)
    world["client"][5] = world["client"][4]
    with pytest.raises(fb.InvalidInput, match=r"client\[5\] is \d, which already had its turn in round 2"):
        play(tmp_path, world, name)


@pytest.mark.parametrize("name", LITERAL)
def test_a_world_of_rewards_is_refused(name):
    with pytest.raises(fb.InvalidInput, match=f"{name} needs .* duels, but linear has .* rewards"):
        fb.run(name, fb.environment("linear", clients=2, arms=3, dimension=2, arrivals="round-robin"), turns=4)


@pytest.mark.parametrize(
    ("name", "parameters", "sentence"),
    [
        ("fldb-ogd", {"period": 0}, "period must be at least 1, not 0"),
        ("fldb-ogd", {"step_scale": 0}, "step_scale must be greater than 0, not 0"),
        ("fldb-gd", {"curvature": 0}, "curvature must be greater than 0, not 0"),
        ("fldb-gd", {"inner_steps": 1.5}, "inner_steps must be a whole number, not 1.5"),
        ("fldb-gd", {"period": 2}, "fldb-gd has no parameter 'period'"),
        ("ldb", {"delta": 1}, "delta must be greater than 0 and less than 1, not 1"),
        ("ldb", {"ridge": -1}, "ridge must be greater than 0, not -1"),
    ],
)
def test_a_bad_parameter_gets_one_sentence(name, parameters, sentence):
    with pytest.raises(fb.InvalidInput, match=sentence):
        fb.algorithm(name, **parameters)
