"""Secure aggregation of networks and their sums: the run of a plain federation, and nothing lost when all goes wrong.

What needs JAX compiles for long, so that all of it is slow.
"""

from __future__ import annotations

import numpy as np
import pytest

from fedbandit.core.algorithm import Setting
from fedbandit.core.around import innermost
from fedbandit.core.bounds import Bounds
from fedbandit.core.turns import Rewards, Turns
from fedbandit.durable.coordinator.validation import Limits
from fedbandit.protocol.charter import Charter
from fedbandit.simulation.faults.run import FAULTS, FaultyRun
from reference.networks import Symmetric
from samples import pair
from samples.secure_rounds import SITES, Rounds
from simulation.secure_runs import CHECKERS, KEEPING, ended, secure_sites

pytest.importorskip("jax", reason="needs JAX: pip install '.[neural]'")

from fedbandit.kernels.neural import subspace
from fedbandit.kernels.neural.sums import total

pytestmark = pytest.mark.slow
WIDTH, ROUNDS, DIMENSION, ARMS = 4, 8, 2, 2
SMALL = {"width": WIDTH, "train_steps": 2, "precision": "float64"}
FULL, DIAGONAL = SMALL | {"sync_threshold": 0.0}, SMALL | {"sync_threshold": 0.5, "diagonal": True}


def play_both(rounds=3, **parameters):
    plain, secure = (Rounds("fn-ucb-less", secure=each, **parameters) for each in (False, True))
    for run in (plain, secure):
        run.play(rounds)
    return plain, secure


@pytest.mark.parametrize("parameters", [FULL, DIAGONAL, FULL | {"smallest_upload": 2}, FULL | {"precision": "float32"}])
def test_a_run_is_that_of_a_plain_federation(parameters):
    plain, secure = play_both(4, **parameters)
    assert secure.choices == plain.choices
    np.testing.assert_allclose(secure.within.moment, plain.within.moment, atol=1e-5)
    for one, other in zip(secure.sites, plain.sites, strict=True):
        found, expected = one.life.node.state.within, other.life.node.state
        np.testing.assert_allclose(found.thetas, expected.thetas, atol=1e-5)
        np.testing.assert_allclose(found.sent, expected.sent, atol=1e-5)
    assert secure.state.gathering.finished == plain.within.version > 1
    assert secure.within.attendance.missed.tolist() == [0] * SITES


def neural_run(seed, faults):
    """Run one schedule, of full matrices or of diagonals by turns."""
    rng = np.random.default_rng([seed, 80])
    count = ROUNDS * SITES
    parameters = (FULL, DIAGONAL)[seed % 2]
    charter = Charter.named("fn-ucb-less", Setting(SITES, ARMS, DIMENSION, ROUNDS), smallest_cohort=3, **parameters)
    turns = Turns(
        np.tile(np.arange(SITES), ROUNDS), rng.standard_normal((count, ARMS, DIMENSION)),
        Rewards(rng.standard_normal((count, ARMS))),
    )  # fmt: skip
    return ended(FaultyRun(charter, turns, seed, client_node=secure_sites(seed), faults=faults).run())


def held(run):
    """Return B and W of all observations, in the coordinates of the networks: the coordinator's and the sites'."""
    server = run.coordinator.node.node.state.within
    states = [site.node.life.node.state.within for site in run.sites]
    moment = np.asarray(server.moment)[0] + sum(np.asarray(each.learnt.moment)[0] for each in states)
    if run.charter.algorithm.diagonal:
        diagonal = np.asarray(server.whole.gram.diagonal)[0]
        return moment, diagonal + sum(np.asarray(each.learnt.diagonal)[0] for each in states)
    grams = [total(server.whole.gram.base, server.whole.gram.rows)]
    grams += [total(each.new.base, each.new.rows) for each in states if each.new.rows is not None]
    return moment, sum(np.asarray(each)[0] for each in grams)


def amiss(run):
    """Return all that is amiss, in words; where disks were lost, but for what may be lost with them."""
    if run.coordinator.node.accounts.aside:  # it is for the checkers of all runs to tell of that
        return []
    found = [f"{checker.__name__}: {finding}" for checker in CHECKERS[1:] for finding in checker(run)]
    if {"restore", "lose_disk"} & set(run.history.steps):
        return found
    network = innermost(run.charter.build().clients).rounds.network
    literal = Symmetric(network.inputs, WIDTH, 1)
    waiting = {name for site in run.sites for name in site.node.life.waiting}
    features, rewards = [np.zeros(network.coordinates)], [0.0]
    for told in run.history.decisions:
        if told.is_safe and told.decision not in waiting:
            gradient = literal.value_and_gradient(told.features[0, told.choice[0]], network.initial)[1]
            features.append(subspace.read_vector(network, gradient / np.sqrt(WIDTH)))
            rewards.append(told.reward)
    moment, gram = held(run)
    rows = np.array(features)
    if np.abs(moment - np.array(rewards) @ rows).max() > 1e-5:
        found.append("sum phi y is not what the decisions give")
    if gram.ndim == 2 and np.abs(gram - rows.T @ rows).max() > 1e-5:
        found.append("sum phi phi^T is not what the decisions give")
    return found


@pytest.mark.parametrize("faults", [KEEPING, FAULTS], ids=["keeping", "losing"])
def test_every_observation_counts_once_in_many_schedules(faults):
    runs = {seed: neural_run(seed, faults) for seed in range(50)}
    assert not {seed: findings for seed, run in runs.items() if (findings := amiss(run))}
    gathered = [run.coordinator.node.node.state.gathering for run in runs.values()]
    assert sum(each.finished for each in gathered) >= 30
    assert sum(each.dropped for each in gathered) >= 10
    assert not sum(each.refused for each in gathered)


def test_sums_that_are_put_back_and_forgotten_are_caught(monkeypatch):
    from fedbandit.secure.fn_ucb import NeuralParts

    monkeypatch.setattr(NeuralParts, "put_back", lambda *_: None)
    assert any(amiss(neural_run(seed, KEEPING)) for seed in range(10))


@pytest.mark.parametrize("parameters", [FULL, DIAGONAL])
def test_a_sum_beyond_the_limits_is_not_taken_in(parameters):
    run = Rounds("fn-ucb-less", **parameters)
    run.server = pair.open_server(run.charter, run.journal, limits=Limits(Bounds(context=1.0, reward=1.0)))
    run.play(3)
    assert run.state.gathering.finished
    assert not run.state.gathering.refused
    for number in range(SITES):
        name, _ = run.sites[number].choose(np.full((1, 3, 2), 50.0 if number == 2 else 0.5), pair.NO_LOTS)
        run.sites[number].learn(name, 1.0)
    run.exchange()
    assert run.state.gathering.refused == 1
    assert "more than" in run.state.gathering.reason
