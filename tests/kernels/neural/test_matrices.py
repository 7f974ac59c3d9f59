"""Inverses that are updated stay with inverses that are computed, and diagonals with diagonals."""

from __future__ import annotations

import numpy as np
import pytest

jax = pytest.importorskip("jax", reason="needs JAX: pip install '.[neural]'")
import jax.numpy as jnp  # noqa: E402

import fedbandit as fb  # noqa: E402
from fedbandit.algorithms.neural.shared.learner import Learner  # noqa: E402
from fedbandit.core.turns import Observations  # noqa: E402
from fedbandit.kernels.neural import subspace  # noqa: E402
from fedbandit.kernels.neural.matrices import Diagonal, Full, growth, squares  # noqa: E402
from fedbandit.kernels.neural.network import symmetric_network  # noqa: E402
from fedbandit.kernels.neural.rounds import rounds_of  # noqa: E402
from fedbandit.kernels.neural.steps import Plan  # noqa: E402
from fedbandit.simulation.in_process import simulate  # noqa: E402
from samples.worlds import recorded  # noqa: E402

PLAN = Plan(
    inputs=10, width=20, depth=1, initialisation="symmetric", network_seed=0, scale_features=True, ridge=0.1,
    nu_pooled=0.1, nu_local=0.1, diagonal=False, train_steps=0, train_rate=0.01, regulariser="anchor",
    precision="float32", device="cpu",
)  # fmt: skip


def observed(plan, updates):
    """Two clients that observe unit contexts; return their matrices, and the features in double precision."""
    learner = Learner(rounds_of(plan), train_until=0, warm_start=True, rate_bound="lengths")
    rng = np.random.default_rng(0)
    contexts = rng.standard_normal((updates, 2, 1, plan.inputs))
    contexts /= np.linalg.norm(contexts, axis=-1, keepdims=True)
    who, first = np.arange(2), np.zeros(2, dtype=np.int64)
    with learner.rounds.active():
        own = learner.start(2)
        for offer in contexts:
            learner.observe(own, who, Observations(offer, first, np.zeros(2)))
        matrix = np.asarray(own.matrix, dtype=np.float64)
    exact = rounds_of(plan._replace(precision="float64"))
    with exact.active():
        features = np.asarray(exact.steps.features(jnp.asarray(contexts[:, :, 0])))
    return matrix, features.swapaxes(0, 1)


@pytest.mark.parametrize(
    ("precision", "initialisation", "tolerance"),
    [
        pytest.param("float32", "symmetric", 1e-5, marks=pytest.mark.slow),
        ("float64", "symmetric", 1e-11),
        pytest.param("float32", "normal", 1e-5, marks=pytest.mark.slow),
    ],
)
def test_five_thousand_updates_stay_with_the_exact_inverse(precision, initialisation, tolerance):
    """The error of |phi|^2 in the norm of the inverse, relative to its value: what a choice depends on."""
    plan = PLAN._replace(precision=precision, initialisation=initialisation)
    matrix, features = observed(plan, updates=5000)
    for client in range(2):
        exact = np.linalg.inv(plan.ridge * np.eye(features.shape[2]) + features[client].T @ features[client])
        assert np.abs(matrix[client] - exact).max() < tolerance * np.abs(exact).max()
        latest = features[1 - client, -200:]
        found, right = (((latest @ each) * latest).sum(axis=1) for each in (matrix[client], exact))
        assert np.abs(found / right - 1).max() < 100 * tolerance
        assert (matrix[client] == matrix[client].T).all()


def test_five_thousand_updates_of_the_pooled_matrix_stay_with_its_exact_inverse(tmp_path):
    """Five clients and a thousand rounds, each of which adds the features of all of them to one inverse."""
    rng = np.random.default_rng(0)
    arms = rng.standard_normal((5000, 3, 4))
    arms /= np.linalg.norm(arms, axis=-1, keepdims=True)
    world = recorded(tmp_path, {"client": np.arange(5000) % 5, "arms": arms, "reward": rng.random((5000, 3))})
    trace, wire = simulate(fb.algorithm("fn-ucb-less", width=10, train_steps=0), world, 5000)
    exact = rounds_of(wire.clients.side.rounds.plan._replace(precision="float64"))
    with exact.active():
        features = np.asarray(exact.steps.features(jnp.asarray(arms[np.arange(5000), trace.choice])))
    right = np.linalg.inv(0.1 * np.eye(features.shape[1]) + features.T @ features)
    found = np.asarray(wire.clients.state.synced.matrix[0], dtype=np.float64)
    assert trace.rounds == 1000
    assert np.abs(found - right).max() < 1e-5 * np.abs(right).max()


def test_diagonals_are_the_sums_of_squares():
    plan = PLAN._replace(diagonal=True, precision="float64")
    sums, features = observed(plan, updates=700)
    network = rounds_of(plan).network
    full = subspace.write_vector(network, features)
    np.testing.assert_allclose(subspace.write_diagonal(network, sums), (full**2).sum(axis=1), rtol=1e-12)


@pytest.mark.parametrize("rows", [1, 3, 40])
def test_an_update_by_many_rows_is_the_inverse_of_their_sum(rows):
    with jax.enable_x64(True):
        network = symmetric_network(inputs=3, width=8, depth=1, seed=0)
        full = Full(network, ridge=0.5)
        rng = np.random.default_rng(1)
        before, more = rng.standard_normal((30, full.size)), rng.standard_normal((rows, full.size))
        inverse = full.invert(jnp.asarray(before.T @ before))
        padded = jnp.asarray(np.vstack([more, np.zeros((2, full.size))]))
        found = full.absorb_rows(inverse, padded)
        exact = np.linalg.inv(0.5 * np.eye(full.size) + before.T @ before + more.T @ more)
        np.testing.assert_allclose(found, exact, atol=1e-11)


def test_a_row_of_zeros_changes_nothing():
    full = Full(symmetric_network(inputs=3, width=8, depth=1, seed=0), ridge=0.5)
    inverses = full.start(2, np.float32)
    assert (full.absorb(inverses, jnp.zeros((2, full.size))) == inverses).all()


def test_growth_is_that_of_the_determinant_of_the_full_diagonal():
    with jax.enable_x64(True):
        network = symmetric_network(inputs=3, width=8, depth=1, seed=0)
        rng = np.random.default_rng(2)
        before, more = rng.standard_normal((5, network.coordinates)), rng.standard_normal((4, network.coordinates))
        copies = network.copies
        found = growth(copies, 0.3, squares(copies, before).sum(axis=0), squares(copies, more).sum(axis=0))
        old, new = ((subspace.write_vector(network, rows) ** 2).sum(axis=0) for rows in (before, more))
        assert float(found) == pytest.approx(np.log((0.3 + old + new) / (0.3 + old)).sum())


def test_norms_by_diagonals_are_those_of_the_full_diagonal():
    with jax.enable_x64(True):
        network = symmetric_network(inputs=3, width=8, depth=1, seed=0)
        diagonal = Diagonal(network, ridge=0.3)
        rng = np.random.default_rng(3)
        past, now = rng.standard_normal((5, network.coordinates)), rng.standard_normal((1, 1, network.coordinates))
        sums = squares(network.copies, past).sum(axis=0, keepdims=True)
        written = subspace.write_diagonal(network, diagonal.inverse(sums))[0]
        vector = subspace.write_vector(network, now)[0, 0]
        expected = vector**2 @ written
        assert float(diagonal.lengths(diagonal.inverse(sums)[0], now)[0, 0]) == pytest.approx(expected)
        assert float((diagonal.towards(sums, now) * now).sum()) == pytest.approx(expected)
