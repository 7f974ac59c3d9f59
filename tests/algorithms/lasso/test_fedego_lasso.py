"""Fedego Lasso and the Lasso Bandit: choice by choice against the transcription, and what goes over the wire."""

import numpy as np
import pytest

import fedbandit as fb
from fedbandit.algorithms.lasso.fedego_lasso import FederatedEstimates, TeamworkEstimates
from fedbandit.algorithms.lasso.teamwork_lasso import RawObservation
from fedbandit.environments.recorded import Recorded
from fedbandit.kernels.lasso import rows as kernel
from fedbandit.protocol.envelope import Envelope
from fedbandit.simulation.in_process import simulate
from fedbandit.simulation.wire import Wire
from fedbandit.wire import decode, encode
from reference import lasso as reference
from reference.recorded import lasso_rounds

WORLDS = {
    8: {"seed": 3, "rounds": 60, "clients": 4, "arms": 3, "dimension": 8},
    20: {"seed": 4, "rounds": 50, "clients": 2, "arms": 3, "dimension": 20},
    40: {"seed": 5, "rounds": 40, "clients": 2, "arms": 3, "dimension": 40},
}
SETTINGS = {
    "defaults": {},
    "narrower": {"unit": 2, "gap": 1.0, "forced_penalty": 0.1, "private_penalty": 0.3},
    "narrow": {"unit": 3, "gap": 0.4, "forced_penalty": 0.2, "private_penalty": 1.0},
}
LITERAL = {
    "fedego-lasso": reference.fedego_lasso,
    "lasso-bandit": reference.lasso_bandit,
    "teamwork-lasso": reference.teamwork_lasso,
}


LONG = {
    (20, "defaults"),
    (20, "narrower"),
    (40, "defaults"),
    (40, "narrower"),
}  # cold coordinate descent needs thousands of sweeps
CASES = [
    pytest.param(
        dimension, parameters, id=f"{dimension}-{name}", marks=[pytest.mark.slow] * ((dimension, name) in LONG)
    )
    for dimension in WORLDS
    for name, parameters in SETTINGS.items()
]


@pytest.fixture
def record(tmp_path):
    def write(dimension):
        world = lasso_rounds(**WORLDS[dimension])
        np.savez(tmp_path / "turns.npz", **world)
        return world, Recorded(path=str(tmp_path / "turns.npz"))

    return write


@pytest.mark.parametrize(("dimension", "parameters"), CASES)
@pytest.mark.parametrize("algorithm", LITERAL)
def test_choices_messages_and_estimates_equal_those_of_the_literal_transcription(
    record, algorithm, dimension, parameters
):
    world, environment = record(dimension)
    expected = LITERAL[algorithm](world, **parameters)
    trace, wire = simulate(fb.algorithm(algorithm, **parameters), environment, len(world["client"]))
    assert np.array_equal(trace.choice, expected["arm"])
    assert np.array_equal(np.cumsum(trace.messages), expected["messages"])
    assert np.array_equal(np.cumsum(trace.scalars), expected["scalars"])
    # Coordinate descent stops when a sweep moves nothing by more than the tolerance, which is some way off.
    state = wire.clients.state
    for name, estimate in (("private", state.private.estimate), ("screening", state.screening)):
        np.testing.assert_allclose(estimate.reshape(expected[name].shape), expected[name], atol=1e-6)


@pytest.mark.parametrize("dimension", WORLDS)
def test_the_narrow_setting_tells_the_algorithms_apart(record, dimension):
    _, environment = record(dimension)
    narrow = [fb.run(name, environment, **SETTINGS["narrow"]).choice for name in LITERAL]
    assert not np.array_equal(narrow[0], narrow[1])
    assert not np.array_equal(narrow[0], narrow[2])


def envelopes_of(monkeypatch, algorithm, world, turns):
    """Run and return every envelope that was carried."""
    carried = []

    def record(self, envelopes):
        queue = list(envelopes)
        carried.extend(queue)
        for envelope in queue:
            node = self.server if envelope.is_upload else self.clients
            answers = node.receive(envelope)
            carried.extend(answers)
            queue.extend(answers)

    monkeypatch.setattr(Wire, "carry", record)
    simulate(fb.algorithm(algorithm), world, turns)
    return carried


def numbers_on_the_wire(envelopes):
    """Return every number that the bytes of the messages hold."""
    numbers = set()
    for envelope in envelopes:
        for each in envelope.split():
            message = decode(encode(each.message))
            numbers |= set(np.ravel(message.estimates).tolist())
    return numbers - {0.0}


def test_private_estimates_rewards_and_contexts_never_appear_on_the_wire(monkeypatch):
    world = fb.environment("sparse", clients=3, arms=3, dimension=12)
    rounds = 24  # the last round ends a stage
    told = []
    refit_each = kernel.refit_each

    def note(rows, row, arm, penalty, tolerance):
        refit_each(rows, row, arm, penalty, tolerance)
        if len(row) == 3:  # one arm each of three clients: the private estimates
            told.append(rows.estimate[row, arm].copy())

    monkeypatch.setattr(kernel, "refit_each", note)
    carried = envelopes_of(monkeypatch, "fedego-lasso", world, 3 * rounds)
    assert {type(each.message) for each in carried} == {TeamworkEstimates, FederatedEstimates}
    assert len(told) == rounds
    sent = numbers_on_the_wire(carried)
    assert sent
    private = set(np.ravel(told).tolist()) - {0.0}
    assert private
    assert not sent & private
    block = next(world.turns(3 * rounds, seed=0, block=3 * rounds))
    assert not sent & set(np.ravel(block.features).tolist())
    assert not sent & set(np.ravel(block.outcomes.payoff).tolist())


def test_what_travels_is_a_function_of_teamwork_data_alone(monkeypatch):
    world = fb.environment("sparse", clients=2, arms=2, dimension=12)
    plain = envelopes_of(monkeypatch, "fedego-lasso", world, 2 * 32)
    turns = type(world).turns

    def altered(self, count, seed, block):
        for each in turns(self, count, seed, block):
            rounds = np.arange(len(each)) // 2 + 1
            selfish = ~np.isin(rounds, [1, 2, 3, 4, 7, 8, 15, 16, 31, 32])
            each.features[selfish] *= -2.0
            each.outcomes.payoff[selfish] += 5.0
            yield each

    monkeypatch.setattr(type(world), "turns", altered)
    other = envelopes_of(monkeypatch, "fedego-lasso", world, 2 * 32)
    assert len(plain) == len(other) == 10
    for left, right in zip(plain, other, strict=True):
        assert np.array_equal(left.message.estimates, right.message.estimates)


def test_the_lasso_bandit_is_silent():
    world = fb.environment("sparse", clients=2, arms=2, dimension=12)
    assert fb.run("lasso-bandit", world, turns=40).messages[-1] == 0


def test_sparse_estimates_travel_as_pairs():
    estimates = np.zeros((1, 3, 50))
    estimates[0, 1, 7] = 2.0
    data = encode(TeamworkEstimates(estimates, np.array([4])))
    assert len(data) < 80
    again = decode(data)
    assert np.array_equal(again.estimates, estimates)
    assert again.stage.tolist() == [4]


def test_clients_by_hand_choose_as_the_simulator_does():
    world = fb.environment("sparse", clients=2, arms=3, dimension=12)
    count = 2 * 30
    block = next(world.turns(count, seed=1, block=count))
    whole = fb.run("fedego-lasso", world, turns=count, seed=1, gap=0.5)
    sizes = {"dimension": 12, "arms": 3, "clients": 2, "gap": 0.5}
    clients = [fb.Client("fedego-lasso", number=number, **sizes) for number in range(2)]
    server = fb.Server("fedego-lasso", **sizes)
    chosen = []
    for first in range(0, count, 2):
        sent: list[Envelope] = []
        for number, client in enumerate(clients):
            chosen.append(client.choose(block.features[first + number]))
            sent += client.learn(block.outcomes.payoff[first + number, chosen[-1]])
        for envelope in sent:
            for answer in server.receive(envelope):
                for client in clients:
                    client.receive(answer)
    assert chosen == whole.choice.tolist()


def test_pooling_reports_every_observation_once():
    world = fb.environment("sparse", clients=3, arms=2, dimension=12)
    result = fb.run("teamwork-lasso", world, turns=30)
    assert result.messages.tolist() == list(range(1, 31))
    assert result.scalars[-1] == 30 * 13
    assert fb.algorithm("teamwork-lasso").shares_raw_data
    assert set(RawObservation.layout()) == {"context", "reward"}


def test_pooling_wins_where_clients_are_identical():
    world = fb.environment("sparse", clients=4, arms=3, dimension=20, clients_are="identical")
    pooled, alone = (fb.run(name, world, turns=4 * 100).regret[-1] for name in ("teamwork-lasso", "lasso-bandit"))
    assert pooled < alone
