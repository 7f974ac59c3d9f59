"""Tangent features are the gradients that automatic differentiation gives, context by context."""

from __future__ import annotations

import numpy as np
import pytest

jax = pytest.importorskip("jax", reason="needs JAX: pip install '.[neural]'")
import jax.numpy as jnp  # noqa: E402

from fedbandit.kernels.neural import subspace  # noqa: E402
from fedbandit.kernels.neural.network import normal_network, symmetric_network  # noqa: E402
from fedbandit.kernels.neural.tangent_features import features, layers_of, predict, theta_of  # noqa: E402
from reference.networks import Normal, Symmetric  # noqa: E402

CASES = [
    pytest.param(make, literal, depth, id=f"{literal.__name__}, depth {depth}")
    for make, literal in ((symmetric_network, Symmetric), (normal_network, Normal))
    for depth in (1, 2, 3)
]


def written_network(literal, x, theta):
    """The network as appendix B (or the authors' code) writes it, for automatic differentiation."""
    if isinstance(literal, Symmetric):
        now = jnp.concatenate([x, x]) / jnp.sqrt(2.0)
        matrices = literal.unpack(theta)
        for matrix in matrices[:-1]:
            now = jax.nn.relu(matrix @ now)
        return jnp.sqrt(float(literal.width)) * (matrices[-1] @ now)[0]
    now = x
    layers = literal.unpack(theta)
    for matrix, bias in layers[:-1]:
        now = jax.nn.relu(matrix @ now + bias)
    return (layers[-1][0] @ now + layers[-1][1])[0]


@pytest.mark.parametrize(("make", "literal", "depth"), CASES)
def test_features_are_the_gradients_of_automatic_differentiation(make, literal, depth):
    with jax.enable_x64(True):
        network, written = make(4, 8, depth, seed=3), literal(4, 8, depth)
        contexts = np.random.default_rng(0).standard_normal((12, 4))
        gradient = jax.vmap(jax.grad(lambda theta, x: written_network(written, x, theta)), in_axes=(None, 0))
        expected = jax.jit(gradient)(jnp.asarray(network.initial), jnp.asarray(contexts))
        found = subspace.write_vector(network, features(network, 1.0, jnp.asarray(contexts)))
        np.testing.assert_allclose(found, expected, atol=1e-13)
        assert np.abs(found).max() > 0.1


@pytest.mark.parametrize(("make", "literal", "depth"), CASES)
def test_lengths_and_products_are_those_of_the_full_gradients(make, literal, depth):
    with jax.enable_x64(True):
        network = make(4, 8, depth, seed=4)
        contexts = np.random.default_rng(1).standard_normal((9, 4))
        full = np.array([literal(4, 8, depth).value_and_gradient(x, network.initial)[1] for x in contexts])
        small = features(network, 1.0, jnp.asarray(contexts))
        np.testing.assert_allclose(small @ small.T, full @ full.T, atol=1e-11)


@pytest.mark.parametrize(("make", "literal", "depth"), CASES)
def test_predictions_are_the_network_at_any_weights(make, literal, depth):
    with jax.enable_x64(True):
        network = make(4, 8, depth, seed=5)
        rng = np.random.default_rng(2)
        thetas, contexts = rng.standard_normal((3, network.parameters)), rng.standard_normal((3, 5, 4))
        expected = [
            [literal(4, 8, depth).value_and_gradient(x, theta)[0] for x in rows]
            for theta, rows in zip(thetas, contexts, strict=True)
        ]
        np.testing.assert_allclose(predict(network, jnp.asarray(thetas), jnp.asarray(contexts)), expected, atol=1e-11)
        shared = predict(network, jnp.asarray(thetas[:1]), jnp.asarray(contexts))
        np.testing.assert_allclose(shared[0], expected[0], atol=1e-11)


@pytest.mark.parametrize(("make", "literal", "depth"), CASES)
def test_weights_come_back_from_their_layers(make, literal, depth):
    with jax.enable_x64(True):
        network = make(4, 8, depth, seed=6)
        theta = jnp.asarray(np.random.default_rng(3).standard_normal(network.parameters))
        again = theta_of(network, layers_of(network, theta), theta, jnp.ones(()))
        np.testing.assert_allclose(again, theta, atol=1e-14)
