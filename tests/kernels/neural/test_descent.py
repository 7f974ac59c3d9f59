"""Training follows the gradient that automatic differentiation gives, on the observations that there are."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

jax = pytest.importorskip("jax", reason="needs JAX: pip install '.[neural]'")
import jax.numpy as jnp  # noqa: E402

from fedbandit.kernels.neural.descent import REGULARISERS, descend  # noqa: E402
from fedbandit.kernels.neural.network import normal_network, symmetric_network  # noqa: E402
from fedbandit.kernels.neural.tangent_features import predict  # noqa: E402

MAKERS = {"symmetric": symmetric_network, "normal": normal_network}


def history(count, chunks, columns, inputs, seed=0):
    """Contexts and rewards in chunks of columns; beyond `count` there is rubbish that must not be read."""
    rng = np.random.default_rng(seed)
    contexts, rewards = rng.standard_normal((chunks * columns, inputs)), rng.standard_normal(chunks * columns)
    contexts[count:], rewards[count:] = 1e3, 1e3
    laid_out = contexts.reshape(chunks, columns, inputs).transpose(0, 2, 1)
    return contexts[:count], rewards[:count], jnp.asarray(laid_out), jnp.asarray(rewards.reshape(chunks, columns))


def loss(network, ridge, regulariser, contexts, rewards):
    """Equation (1), or the mean of squares with the decay's potential."""
    start = jnp.asarray(network.initial)

    def anchor(theta):
        error = predict(network, theta[None], jnp.asarray(contexts)[None])[0] - rewards
        return 0.5 * (error**2).sum() + 0.5 * network.width * ridge * ((theta - start) ** 2).sum()

    def decay(theta):
        error = predict(network, theta[None], jnp.asarray(contexts)[None])[0] - rewards
        return (error**2).mean() + 0.5 * ridge / len(rewards) * (theta**2).sum()

    return {"anchor": anchor, "decay": decay}[regulariser]


PAIRS = {("anchor", "symmetric", 1), ("anchor", "normal", 2), ("decay", "symmetric", 2), ("decay", "normal", 1)}


@pytest.mark.parametrize(
    ("regulariser", "initialisation", "depth"),
    [  # of all combinations those that have every pair; the others are left to `make test-all`
        pytest.param(*each, marks=[pytest.mark.slow] * (each not in PAIRS))
        for each in product(["anchor", "decay"], MAKERS, [1, 2])
    ],
)
def test_a_step_follows_the_gradient_of_the_loss(regulariser, initialisation, depth):
    with jax.enable_x64(True):
        network = MAKERS[initialisation](3, 6, depth, seed=1)
        contexts, rewards, columns, paid = history(count=7, chunks=3, columns=4, inputs=3)
        pull = REGULARISERS[regulariser](network, 0.2, 0.01, jnp.asarray(7.0), jnp.asarray(9.0))
        theta = jnp.asarray(network.initial)
        gradient = jax.jit(jax.grad(loss(network, 0.2, regulariser, contexts, rewards)))
        expected = theta
        for _ in range(4):
            expected = expected - pull.rate * gradient(expected)
        found = descend(network, pull, 4, theta, columns, paid, jnp.asarray(7))
        np.testing.assert_allclose(found, expected, atol=1e-12)
        assert np.abs(found - theta).max() > 1e-4


@pytest.mark.parametrize(("chunks", "columns"), [(1, 16), (2, 8), (16, 1), (5, 4)])
def test_how_observations_are_laid_out_does_not_matter(chunks, columns):
    with jax.enable_x64(True):
        network = normal_network(3, 6, 1, seed=2)
        results = []
        for shape in ((1, 9), (chunks, columns)):
            rng = np.random.default_rng(3)
            contexts = np.full((shape[0] * shape[1], 3), 1e3)
            rewards = np.full(shape[0] * shape[1], 1e3)
            contexts[:9], rewards[:9] = rng.standard_normal((9, 3)), rng.standard_normal(9)
            laid_out = jnp.asarray(contexts.reshape(*shape, 3).transpose(0, 2, 1))
            pull = REGULARISERS["anchor"](network, 0.2, 0.01, jnp.asarray(9.0), jnp.asarray(9.0))
            theta = jnp.asarray(network.initial)
            results.append(
                descend(network, pull, 5, theta, laid_out, jnp.asarray(rewards.reshape(shape)), jnp.asarray(9))
            )
        np.testing.assert_allclose(results[0], results[1], atol=1e-12)


def test_the_rate_of_theorem_1_takes_over_when_the_plain_one_is_too_large():
    network = symmetric_network(3, 6, 1, seed=2)
    few, many = (
        REGULARISERS["anchor"](network, 0.1, 0.01, jnp.asarray(float(n)), jnp.asarray(float(n))) for n in (1, 1000)
    )
    assert float(few.rate) == pytest.approx(0.01)
    assert float(many.rate) == pytest.approx(1 / (6 * (0.1 + 1000)))


@pytest.mark.parametrize("regulariser", ["anchor", "decay"])
def test_training_lowers_the_loss_on_long_contexts(regulariser):
    with jax.enable_x64(True):
        network = symmetric_network(10, 20, 1, seed=0)
        contexts, rewards, columns, paid = history(count=500, chunks=2, columns=256, inputs=10)
        load = jnp.asarray((contexts**2).sum())
        pull = REGULARISERS[regulariser](network, 0.1, 0.01, jnp.asarray(500.0), load)
        measured = jax.jit(loss(network, 0.1, regulariser, contexts, rewards))
        theta = jnp.asarray(network.initial)
        trained = descend(network, pull, 30, theta, columns, paid, jnp.asarray(500))
        assert float(measured(trained)) < float(measured(theta))
