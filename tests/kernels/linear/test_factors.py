"""Factors of sums, also of sums that rounding has given negative directions."""

from __future__ import annotations

import numpy as np
import pytest

from fedbandit.kernels.linear.factors import multiplied_out, trapezoid

SIZE = 12


def factor_of(gram, most=SIZE, tolerance=1e-12):
    upper = np.zeros(gram.shape)
    rows = trapezoid(gram, most, tolerance, upper)
    assert not upper[rows:].any()
    assert (np.tril(upper, -1) == 0).all()
    return rows, upper


@pytest.mark.parametrize("observations", [1, 3, SIZE, 40])
def test_a_factor_has_as_many_rows_as_the_sums_have_directions(observations):
    arms = np.random.default_rng(observations).standard_normal((observations, SIZE))
    rows, upper = factor_of(arms.T @ arms)
    assert rows == min(observations, SIZE)
    np.testing.assert_allclose(multiplied_out(upper), arms.T @ arms, atol=1e-11)


@pytest.mark.parametrize("observations", [1, 3, SIZE - 1])
@pytest.mark.parametrize("seed", range(5))
def test_negative_directions_are_left_as_they_are(observations, seed):
    rng = np.random.default_rng(seed)
    arms, rest = rng.standard_normal((observations, SIZE)), rng.standard_normal((SIZE, SIZE))
    rest = 1e-3 * (rest + rest.T)
    _, upper = factor_of(arms.T @ arms + rest, tolerance=1e-7)
    left = arms.T @ arms + rest - multiplied_out(upper)
    largest = np.linalg.norm(rest, 2)
    assert np.linalg.norm(left, 2) <= 1.01 * largest, "what could not be sent has not grown"


def test_errors_that_are_sent_again_and_again_stay_small():
    rng = np.random.default_rng(3)
    buffer, largest = np.zeros((SIZE, SIZE)), 0.0
    for _ in range(300):
        arms = rng.standard_normal((3, SIZE)) / np.sqrt(SIZE)
        buffer += arms.T @ arms
        _, upper = factor_of(buffer, tolerance=4 * 2.0**-11)
        buffer -= multiplied_out(upper.astype(np.float16))
        largest = max(largest, float(np.abs(buffer).max()))
    assert largest < 0.02


@pytest.mark.parametrize("size", [8, 25])
def test_nor_do_they_grow_where_there_are_as_few_rows_as_observations(size):
    """One row can hold the observation or what was left before: it must hold the observation."""
    rng = np.random.default_rng(4)
    buffer, largest = np.zeros((size, size)), 0.0
    for _ in range(200):
        arm = rng.standard_normal(size)
        buffer += np.outer(arm, arm) / (arm @ arm)
        _, upper = factor_of(buffer, most=1, tolerance=4 * 2.0**-11)
        buffer -= multiplied_out(upper.astype(np.float16))
        largest = max(largest, float(np.linalg.norm(buffer, 2)))
    assert largest < 0.02


@pytest.mark.parametrize("scale", [2.0**-20, 2.0**10])
def test_rows_of_larger_sums_are_larger_and_the_same_else(scale):
    """However few rows there are, and however small they are."""
    arms = np.random.default_rng(5).standard_normal((7, SIZE))
    gram = arms.T @ arms
    _, upper = factor_of(gram, most=3, tolerance=4 * 2.0**-11)
    _, scaled = factor_of(scale * scale * gram, most=3, tolerance=4 * 2.0**-11)
    np.testing.assert_array_equal(scaled, scale * upper)
