"""The growing Cholesky factor against the matrix it stands for."""

import numpy as np
import pytest

from fedbandit.kernels.shared import cholesky


@pytest.fixture
def grown():
    rng = np.random.default_rng(0)
    rows = rng.standard_normal((12, 6))
    gram = rows.T @ rows
    upper = np.full((8, 8), np.nan)  # what lies outside the factor is never read
    for size in range(6):
        solved = gram[:size, size].copy()
        cholesky.forward(upper, size, solved)
        cholesky.append(upper, size, solved, gram[size, size] - solved @ solved)
    return gram, upper


def matrix_of(upper, size):
    factor = np.triu(upper[:size, :size])
    return factor.T @ factor


def test_a_factor_grown_column_by_column_is_the_factor_of_the_matrix(grown):
    gram, upper = grown
    np.testing.assert_allclose(matrix_of(upper, 6), gram, rtol=1e-12)


def test_forward_and_backward_solve_the_system(grown):
    gram, upper = grown
    vector = np.arange(1.0, 7.0)
    solution = vector.copy()
    cholesky.forward(upper, 6, solution)
    cholesky.backward(upper, 6, solution)
    np.testing.assert_allclose(gram @ solution, vector, rtol=1e-10)


@pytest.mark.parametrize("observed", [[1.0, -2.0, 0.5, 3.0, 0.1, -1.0], [0.0, 0.0, 2.0, 0.0, -1.0, 0.0], [0.0] * 6])
def test_an_observation_adds_its_outer_product(grown, observed):
    gram, upper = grown
    observed = np.array(observed)
    cholesky.add_observation(upper, 0, 6, observed.copy())
    np.testing.assert_allclose(matrix_of(upper, 6), gram + np.outer(observed, observed), rtol=1e-10, atol=1e-10)


@pytest.mark.parametrize("place", range(6))
def test_dropping_takes_out_a_row_and_its_column(grown, place):
    gram, upper = grown
    cholesky.drop(upper, 6, place)
    rest = np.delete(np.arange(6), place)
    np.testing.assert_allclose(matrix_of(upper, 5), gram[np.ix_(rest, rest)], rtol=1e-11)
