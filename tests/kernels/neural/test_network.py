"""Networks at theta_0: sizes, the distributions of appendix B, and the subspace of their gradients."""

from __future__ import annotations

import numpy as np
import pytest

from fedbandit.core.errors import InvalidInput
from fedbandit.kernels.neural import subspace
from fedbandit.kernels.neural.network import normal_network, symmetric_network
from reference.networks import Normal, Symmetric

CASES = [
    pytest.param(symmetric_network, Symmetric, 1, id="symmetric"),
    pytest.param(symmetric_network, Symmetric, 3, id="symmetric, deep"),
    pytest.param(normal_network, Normal, 1, id="normal"),
    pytest.param(normal_network, Normal, 2, id="normal, deep"),
]


@pytest.mark.parametrize(
    ("make", "width", "parameters"),
    [
        (symmetric_network, 20, 2540),
        (symmetric_network, 50, 6350),
        (normal_network, 20, 1301),
        (normal_network, 50, 3251),
    ],
)
def test_shuttle_has_the_number_of_parameters_that_the_paper_gives(make, width, parameters):
    assert make(inputs=63, width=width, depth=1, seed=0).parameters == parameters


def test_the_symmetric_network_begins_as_in_appendix_b():
    network = symmetric_network(inputs=300, width=200, depth=2, seed=1)
    first, second, last = Symmetric(300, 200, 2).unpack(network.initial)
    assert (first[:100, :300] == first[100:, 300:]).all()
    assert (second[:100, :100] == second[100:, 100:]).all()
    assert not first[:100, 300:].any()
    assert not second[100:, :100].any()
    assert (last[0, :100] == -last[0, 100:]).all()
    assert first[:100, :300].std() == pytest.approx(np.sqrt(4 / 200), rel=0.02)
    assert second[:100, :100].std() == pytest.approx(np.sqrt(4 / 200), rel=0.05)
    assert last[0, :100].std() == pytest.approx(np.sqrt(2 / 200), rel=0.3)


def test_the_symmetric_network_begins_at_zero():
    network = symmetric_network(inputs=5, width=8, depth=2, seed=0)
    contexts = np.random.default_rng(0).standard_normal((20, 5))
    assert max(abs(Symmetric(5, 8, 2).value_and_gradient(x, network.initial)[0]) for x in contexts) < 1e-14


def test_the_normal_network_begins_with_unit_variance():
    network = normal_network(inputs=300, width=100, depth=2, seed=1)
    assert network.initial.std() == pytest.approx(1.0, rel=0.02)
    assert network.initial.mean() == pytest.approx(0.0, abs=0.02)


def test_a_seed_gives_one_network_and_another_seed_another():
    one, same, other = (symmetric_network(3, 4, 1, seed).initial for seed in (0, 0, 1))
    assert (one == same).all()
    assert not (one == other).any() or (one[one == other] == 0).all()


def test_the_initial_weights_cannot_be_written_to():
    with pytest.raises(ValueError, match="read-only"):
        symmetric_network(3, 4, 1, seed=0).initial[0] = 1.0


def test_an_odd_width_has_no_two_halves():
    with pytest.raises(InvalidInput, match=r"width must be even .* not 5: give 6"):
        symmetric_network(inputs=3, width=5, depth=1, seed=0)


@pytest.mark.parametrize(("make", "literal", "depth"), CASES)
def test_every_gradient_lies_in_the_subspace(make, literal, depth):
    network = make(inputs=3, width=6, depth=depth, seed=2)
    for x in np.random.default_rng(1).standard_normal((10, 3)):
        gradient = literal(3, 6, depth).value_and_gradient(x, network.initial)[1]
        again = subspace.write_vector(network, subspace.read_vector(network, gradient))
        np.testing.assert_allclose(again, gradient, atol=1e-14)


@pytest.mark.parametrize(("make", "literal", "depth"), CASES)
def test_matrices_are_written_out_as_they_are_in_all_coordinates(make, literal, depth):
    network = make(inputs=3, width=6, depth=depth, seed=2)
    contexts = np.random.default_rng(2).standard_normal((15, 3))
    full = np.array([literal(3, 6, depth).value_and_gradient(x, network.initial)[1] for x in contexts])
    small = subspace.read_vector(network, full)
    np.testing.assert_allclose(subspace.write_matrix(network, small.T @ small), full.T @ full, atol=1e-12)
    exact = np.linalg.inv(0.3 * np.eye(network.parameters) + full.T @ full)
    inverse = np.linalg.inv(0.3 * np.eye(network.coordinates) + small.T @ small)
    np.testing.assert_allclose(subspace.write_inverse(network, 0.3, inverse), exact, atol=1e-12)
    np.testing.assert_allclose(subspace.read_matrix(network, exact), inverse, atol=1e-12)
    squares = (small**2 / network.copies).sum(axis=0)
    np.testing.assert_allclose(subspace.write_diagonal(network, squares), (full**2).sum(axis=0), atol=1e-12)
    np.testing.assert_allclose(subspace.read_diagonal(network, (full**2).sum(axis=0)), squares, atol=1e-12)
