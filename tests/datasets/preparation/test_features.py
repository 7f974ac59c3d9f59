"""Features are what their formulas say, and the same on every run."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy import sparse

from fedbandit.core.errors import InvalidInput
from fedbandit.datasets.preparation.features import (
    block_one_hot,
    standardised,
    tag_features,
    tf_idf,
    truncated_svd,
    unit_rows,
)

matrices = arrays(np.float64, st.tuples(st.integers(1, 8), st.integers(1, 6)), elements=st.floats(-100, 100))


def random_counts(items: int = 300, terms: int = 200) -> sparse.csr_array:
    return sparse.csr_array((np.random.default_rng(1).random((items, terms)) < 0.05).astype(float))


def test_tf_idf_weighs_by_rarity_and_has_unit_rows() -> None:
    counts = np.array([[2.0, 1.0, 0.0], [0.0, 3.0, 0.0], [0.0, 0.0, 0.0], [0.0, 1.0, 5.0]])
    rarity = np.log(5 / (1 + np.array([1, 3, 1]))) + 1
    expected = counts * rarity
    expected[[0, 1, 3]] /= np.linalg.norm(expected[[0, 1, 3]], axis=1, keepdims=True)
    np.testing.assert_allclose(tf_idf(sparse.csr_array(counts)).toarray(), expected)


def test_stored_zeros_do_not_count_as_having_a_term() -> None:
    stored = sparse.csr_array((np.array([1.0, 0.0]), np.array([0, 1]), np.array([0, 1, 2])), shape=(2, 2))
    plain = sparse.csr_array(stored.toarray())
    np.testing.assert_allclose(tf_idf(stored).toarray(), tf_idf(plain).toarray())


@pytest.mark.parametrize("dimension", [3, 25, 60, 200])
def test_truncated_svd_is_the_best_approximation(dimension: int) -> None:
    matrix = tf_idf(random_counts())
    features = truncated_svd(matrix, dimension)
    values = np.linalg.svd(matrix.toarray(), compute_uv=False)[:dimension]
    np.testing.assert_allclose(np.linalg.norm(features, axis=0), values, atol=1e-8)
    gram = features.T @ features
    np.testing.assert_allclose(gram, np.diag(values**2), atol=1e-8)


def test_truncated_svd_is_the_same_every_time_and_for_the_opposite_sign() -> None:
    matrix = tf_idf(random_counts())
    first = truncated_svd(matrix, 25)
    assert np.array_equal(first, truncated_svd(matrix, 25))
    np.testing.assert_allclose(truncated_svd(matrix * -1.0, 25), first, atol=1e-8)
    assert (first[np.abs(first).argmax(axis=0), np.arange(25)] > 0).all()


def test_dense_and_sparse_agree() -> None:
    matrix = random_counts(60, 40)
    np.testing.assert_allclose(truncated_svd(matrix, 5), truncated_svd(matrix.toarray(), 5), atol=1e-8)


@pytest.mark.parametrize("dimension", [0, 21])
def test_a_dimension_beyond_the_matrix_is_refused(dimension: int) -> None:
    with pytest.raises(InvalidInput, match=f"dimension must be from 1 to 20, not {dimension}"):
        tag_features(random_counts(50, 20), dimension)


@given(matrices)
def test_standardised_columns_have_mean_0_and_deviation_1_or_0(rows: np.ndarray) -> None:
    result = standardised(rows)
    np.testing.assert_allclose(result.mean(axis=0), 0, atol=1e-6)
    deviation = result.std(axis=0)
    assert (np.isclose(deviation, 1) | np.isclose(deviation, 0)).all()


def test_a_constant_column_is_not_blown_up() -> None:
    assert not standardised(np.full((7, 1), 0.1)).any()


@given(matrices)
def test_unit_rows_have_length_1_or_0(rows: np.ndarray) -> None:
    lengths = np.linalg.norm(unit_rows(rows), axis=1)
    assert (np.isclose(lengths, 1) | (lengths == 0)).all()


@given(matrices, st.integers(1, 5))
def test_block_one_hot_puts_the_context_in_the_arms_block(contexts: np.ndarray, arms: int) -> None:
    rows, width = contexts.shape
    blocks = block_one_hot(contexts, arms)
    assert blocks.shape == (rows, arms, arms * width)
    for arm in range(arms):
        np.testing.assert_array_equal(blocks[:, arm, arm * width : (arm + 1) * width], contexts)
    np.testing.assert_allclose(np.abs(blocks).sum(), arms * np.abs(contexts).sum())


def test_no_arms_are_refused() -> None:
    with pytest.raises(InvalidInput, match="arms must be at least 1, not 0"):
        block_one_hot(np.ones((1, 2)), 0)
