"""Sums that travel as rounded factors: nothing is lost for good, and an estimate is as good as before."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import fedbandit as fb
from fedbandit.algorithms.linear.shared import encoding
from fedbandit.core.bounds import Bounds
from fedbandit.kernels.linear.confidence import width
from fedbandit.kernels.linear.ridge import invert
from fedbandit.simulation.in_process import simulate
from samples.examples import examples

LOW = ("float32", "float16")


def assert_conserved(world, turns, **parameters):
    """V_g and the buffers add up to the sums over all observations, and so do the moments."""
    trace, wire = simulate(fb.algorithm("lean-linucb", **parameters), world, turns)
    size = world.setting().dimension
    gram, moment, first = np.zeros((size, size)), np.zeros(size), 0
    for block in world.turns(turns, seed=0, block=4096):
        now = np.arange(len(block))
        choice = trace.choice[first : first + len(block)]
        arms = block.features[now, choice]
        gram += arms.T @ arms
        moment += arms.T @ block.outcomes.payoff[now, choice]
        first += len(block)
    server, clients = wire.server.state, wire.clients.state
    rows = slice(0, int(clients.used[0]))
    kept = server.gram + clients.rows.new_gram[rows].sum(axis=0)
    assert np.linalg.norm(kept - gram) <= 1e-9 * np.linalg.norm(gram)
    kept = server.moment + clients.rows.new_moment[rows].sum(axis=0)
    assert np.linalg.norm(kept - moment) <= 1e-9 * np.linalg.norm(moment)
    assert trace.ledger.uploads > 0


@pytest.mark.parametrize("precision", LOW)
@pytest.mark.parametrize("delivery", ["turn", "upload", "push"])
def test_what_rounding_leaves_stays_in_the_buffers(precision, delivery):
    world = fb.environment("linear", clients=30, arms=5, dimension=6)
    assert_conserved(world, 3_000, precision=precision, delivery=delivery)


@pytest.mark.slow
@pytest.mark.parametrize(("dimension", "turns"), [(10, 1_000_000), (25, 1_000_000), (100, 100_000)])
def test_so_it_does_in_long_runs(dimension, turns):
    assert_conserved(fb.environment("linear", clients=100, arms=10, dimension=dimension), turns, precision="float16")


def test_single_precision_rarely_changes_a_choice():
    world = fb.environment("linear", clients=50, arms=10, dimension=10)
    exact, single = (fb.run("lean-linucb", world, turns=5_000, precision=name) for name in ("float64", "float32"))
    assert np.mean(exact.choice != single.choice) < 0.01
    assert single.bytes[-1] < exact.bytes[-1]


def told(sizes, condition, ridge, precision, seed):
    """Sums whose V + ridge I has a condition number, and what a client makes of them: both as (A, theta)."""
    rng = np.random.default_rng(seed)
    spread = ridge * condition ** np.concatenate([[0.0], rng.random(sizes - 2), [1.0]])
    turned = np.linalg.qr(rng.standard_normal((sizes, sizes)))[0]
    gram = (turned * (spread - ridge)) @ turned.T
    gram = (gram + gram.T) / 2
    theta = rng.standard_normal(sizes)
    moment = gram @ (theta / np.linalg.norm(theta))
    found = []
    for v, b in ((gram, moment), encoding.download(precision, gram, moment, ridge, version=1).sums(ridge)):
        inverse, scratch = np.empty((sizes, sizes)), np.empty((2, sizes, sizes))
        log_det = invert(v, ridge, inverse, scratch[0], scratch[1])
        found.append((v + ridge * np.eye(sizes), inverse @ b, log_det))
    return found


CASES = {
    "sizes": st.integers(2, 25),
    "ridge": st.sampled_from([0.01, 0.1, 1.0, 10.0]),
    "precision": st.sampled_from(LOW),
    "seed": st.integers(0, 10_000),
}


@settings(max_examples=examples(150), deadline=None)
@given(power=st.floats(0.1, 10.0), **CASES)
def test_an_estimate_told_differs_by_less_than_the_width_at_every_arm(sizes, power, ridge, precision, seed):
    (matrix, theta, log_det), (_, heard, _) = told(sizes, 10.0**power, ridge, precision, seed)
    off = theta - heard
    shape = fb.algorithm("lean-linucb", ridge=ridge).rule(sizes).width
    # The largest |x . off| / |x| in the norm of the inverse, over all arms x, is |off| in that of the matrix.
    assert math.sqrt(off @ matrix @ off) < width(log_det, shape)


@settings(max_examples=examples(150), deadline=None)
@given(power=st.floats(0.1, 6.0), **CASES)
def test_widths_told_differ_by_a_share_that_grows_with_the_root_of_the_condition(sizes, power, ridge, precision, seed):
    (matrix, _, _), (heard, _, _) = told(sizes, 10.0**power, ridge, precision, seed)
    squares = np.linalg.eigvals(np.linalg.solve(heard, matrix)).real  # of the ratios of widths, over all arms
    most = (2.0**-11 if precision == "float16" else 2.0**-24) * 10.0 ** (power / 2)
    assert np.abs(np.sqrt(squares) - 1.0).max() < 1.5 * most + 1e-6


@pytest.mark.parametrize("ridge", [0.1, 0.7, 70.0])
@pytest.mark.parametrize("precision", LOW)
def test_a_question_of_a_client_whose_copy_came_rounded_and_all_but_empty_is_no_lie(precision, ridge):
    """U with U^T U = ridge I, rounded, may have a determinant below that of ridge I."""
    sides = fb.algorithm("lean-linucb", precision=precision, ridge=ridge).federation(fb.Setting(1, 2, 43, 1))
    state = sides.server.start(1)
    told = encoding.download(precision, state.gram, state.moment, ridge, version=0)
    level = 2.0 * np.log(np.diagonal(told.factor).astype(np.float64)).sum()
    sides.server.check(state, 0, sides.clients.way.question(np.array([0]), np.array([level])), Bounds(), 0)
    wrong = sides.clients.way.question(np.array([0]), np.array([43 * math.log(ridge) - 1.0]))
    with pytest.raises(fb.ProtocolError, match="level is"):
        sides.server.check(state, 0, wrong, Bounds(), 0)
