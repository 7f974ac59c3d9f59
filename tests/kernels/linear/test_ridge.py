"""The small-matrix kernels against NumPy."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fedbandit.kernels.linear.ridge import add_observation_to_inverse, factorise, invert, multiply

SIZES = [1, 2, 5, 25, 40]


def gram_of(seed, size, observations):
    arms = np.random.default_rng(seed).standard_normal((observations, size))
    return arms.T @ arms


@pytest.mark.parametrize("size", SIZES)
def test_the_factor_gives_the_matrix_back(size):
    gram = gram_of(0, size, 2 * size)
    upper = np.zeros((size, size))
    log_det = factorise(gram, 0.1, upper)
    np.testing.assert_allclose(np.triu(upper).T @ np.triu(upper), gram + 0.1 * np.eye(size), rtol=1e-12, atol=1e-12)
    assert log_det == pytest.approx(np.linalg.slogdet(gram + 0.1 * np.eye(size))[1])


@pytest.mark.parametrize("size", SIZES)
def test_the_inverse_is_the_inverse_and_symmetric_to_the_bit(size):
    gram = gram_of(1, size, 3)
    inverse = np.zeros((size, size))
    log_det = invert(gram, 0.5, inverse, np.empty((size, size)), np.empty((size, size)))
    np.testing.assert_allclose(inverse @ (gram + 0.5 * np.eye(size)), np.eye(size), atol=1e-10)
    assert (inverse == inverse.T).all()
    assert log_det == pytest.approx(np.linalg.slogdet(gram + 0.5 * np.eye(size))[1])


def test_scratch_larger_than_the_matrix_does_not_matter():
    gram = gram_of(2, 3, 5)
    tight, wide = np.zeros((3, 3)), np.zeros((3, 3))
    invert(gram, 0.5, tight, np.empty((3, 3)), np.empty((3, 3)))
    invert(gram, 0.5, wide, np.full((9, 9), np.nan), np.full((9, 9), np.nan))
    assert (tight == wide).all()


@given(seed=st.integers(0, 10_000), size=st.integers(1, 12), ridge=st.floats(1e-3, 1e3))
def test_rank_one_updates_stay_with_the_exact_inverse(seed, size, ridge):
    rng = np.random.default_rng(seed)
    inverse, exact, log_det = np.eye(size) / ridge, ridge * np.eye(size), size * np.log(ridge)
    for _ in range(50):
        arm = rng.standard_normal(size)
        exact += np.outer(arm, arm)
        log_det += add_observation_to_inverse(inverse, arm, np.empty(size))
    assert (inverse == inverse.T).all()
    scale = np.abs(np.linalg.inv(exact)).max()
    np.testing.assert_allclose(inverse, np.linalg.inv(exact), atol=1e-8 * scale)
    assert log_det == pytest.approx(np.linalg.slogdet(exact)[1], rel=1e-9, abs=1e-9)


def test_multiply_is_the_product():
    matrix, vector, out = gram_of(3, 7, 9), np.arange(7.0), np.empty(7)
    multiply(matrix, vector, out)
    np.testing.assert_allclose(out, matrix @ vector)
