"""Generalised inverses that grow by one observation at a time agree with the eigenvalue decomposition."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fedbandit.kernels.linear.generalised_inverse import (
    DEFICIENT,
    FULL,
    REFRESH,
    STALE,
    add_observation,
    compute,
    empty_inverses,
    has_full_rank,
)
from reference.am import generalised_inverse


def grow(vectors):
    """Yield the Gram matrix and the kernel's inverse after each vector."""
    size = vectors.shape[1]
    rows, gram, scratch = empty_inverses(1, size), np.zeros((size, size)), np.empty((2, size + 2, size + 2))
    for vector in vectors:
        add_observation(rows, 0, gram, vector, scratch)
        gram = gram + np.outer(vector, vector)
        yield gram, rows.inverse[0].copy(), int(rows.state[0])


def agree(gram, inverse):
    expected = generalised_inverse(gram)
    scale = max(1.0, np.abs(expected).max())
    np.testing.assert_allclose(inverse / scale, expected / scale, atol=1e-9)


@pytest.mark.parametrize(("trace", "state"), [(1e6 - 0.1, FULL), (1e6 + 0.1, STALE)])
def test_an_inverse_may_be_updated_if_its_trace_is_calm(trace, state):
    inverse, outside, scratch = np.empty((1, 1)), np.empty((1, 1)), np.empty((2, 3, 3))
    assert compute(np.array([[1.0 / trace]]), inverse, outside, scratch) == state
    np.testing.assert_allclose(inverse, trace)


@given(seed=st.integers(0, 10_000), size=st.integers(1, 8), rank=st.integers(1, 8), count=st.integers(1, 30))
@settings(max_examples=60, deadline=None)
def test_it_follows_data_that_lie_in_a_subspace(seed, size, rank, count):
    rng = np.random.default_rng(seed)
    basis = rng.standard_normal((min(rank, size), size))
    for gram, inverse, _ in grow(rng.standard_normal((count, len(basis))) @ basis):
        agree(gram, inverse)


def test_a_repeated_vector_opens_no_new_direction():
    steps = list(grow(np.array([[1.0, 2.0, 0.0]] * 5)))
    agree(steps[-1][0], steps[-1][1])
    assert steps[-1][2] == DEFICIENT


def test_it_notices_when_every_direction_is_there():
    states = [state for _, _, state in grow(np.eye(4))]
    assert states == [DEFICIENT, DEFICIENT, DEFICIENT, FULL]


def test_it_stays_true_over_many_updates():
    vectors = np.random.default_rng(0).standard_normal((3 * REFRESH, 5)) * np.array([1.0, 1.0, 0.1, 0.01, 0.001])
    for step, (gram, inverse, _) in enumerate(grow(vectors)):
        if step % 50 == 49:
            agree(gram, inverse)


@pytest.mark.parametrize("length", [1e-3, 1.1e-4, 9e-5, 1e-5, 1e-7])
def test_a_direction_counts_only_when_its_eigenvalue_passes_the_cut(length):
    vectors = np.array([[1.0, 0.0], [0.0, length], [1.0, 0.0]])
    for gram, inverse, _ in grow(vectors):
        np.testing.assert_allclose(inverse, generalised_inverse(gram), rtol=1e-6, atol=1e-9)


def test_many_small_steps_in_one_direction_add_up_to_one_that_counts():
    vectors = np.vstack([[[1.0, 0.0]], np.tile([0.0, 3e-5], (40, 1))])
    steps = list(grow(vectors))
    assert steps[5][1][1, 1] == 0.0
    assert steps[5][2] == STALE  # an eigenvalue near the cut is looked at each time
    np.testing.assert_allclose(steps[-1][1][1, 1], 1 / (40 * 9e-10), rtol=1e-6)


def test_full_rank_means_a_smallest_eigenvalue_above_the_cut():
    assert has_full_rank(np.diag([1.0, 1.1e-8]))
    assert not has_full_rank(np.diag([1.0, 0.9e-8]))


def test_a_part_without_features_has_an_empty_inverse():
    nothing = np.empty((0, 0))
    assert compute(nothing, nothing.copy(), nothing.copy(), np.empty((2, 2, 2))) == FULL
