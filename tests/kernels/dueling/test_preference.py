"""The logistic loss of duels: gradients, and the minimiser that Newton's steps reach."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fedbandit.kernels.dueling.preference import (
    accumulate,
    gradients,
    gradients_of_one,
    keep_duels,
    learn_alone,
    outer_products,
)
from fedbandit.kernels.glm.kept_data import nothing_kept, recall
from fedbandit.kernels.linear.ridge_rows import REFRESH
from reference.dueling import loss_gradient, minimise_loss


def kept(differences):
    """One client with these duels."""
    record = nothing_kept(1, differences.shape[1])
    for row in differences:
        record = keep_duels(record, np.zeros(1, dtype=np.int64), row[np.newaxis])
    return record


def test_a_record_keeps_every_duel_of_every_client_as_it_grows():
    rng = np.random.default_rng(0)
    record, told = nothing_kept(3, 2), [[], [], []]
    for _ in range(300):
        who = np.flatnonzero(rng.random(3) < 0.7)
        rows = rng.standard_normal((len(who), 2))
        record = keep_duels(record, who, rows)
        for client, row in zip(who, rows, strict=True):
            told[client].append(row.tolist())
    arm = np.empty(2)
    for client in range(3):
        assert record.length[client] == len(told[client])
        for place, row in enumerate(told[client]):
            assert recall(record, client, place, arm) == 0.0
            assert (-arm).tolist() == row


def test_gradients_are_those_of_the_loss():
    rng = np.random.default_rng(1)
    data, theta = rng.standard_normal((40, 3)), rng.standard_normal(3)
    expected = loss_gradient(theta, data, np.ones(40))
    for count in (40, 25, 0):
        found = gradients(kept(data), np.zeros(1, dtype=np.int64), np.array([count]), theta[np.newaxis])
        some = loss_gradient(theta, data[:count], np.ones(count))
        np.testing.assert_allclose(found[0], some, rtol=1e-12)
    np.testing.assert_allclose(gradients_of_one(data, theta).sum(axis=0), expected, rtol=1e-12)


def test_a_margin_beyond_the_range_of_exp_gives_a_finite_gradient():
    data = np.array([[1000.0], [-1000.0]])
    assert gradients_of_one(data, np.ones(1)).tolist() == [[0.0], [1000.0]]


def test_sums_grow_where_a_client_acts_and_nowhere_else():
    rng = np.random.default_rng(2)
    anchor, rows = rng.standard_normal((3, 2)), rng.standard_normal((2, 2))
    gradient, information = np.zeros((3, 2)), np.zeros((3, 2, 2))
    accumulate(anchor, gradient, information, np.array([0, 2]), rows)
    np.testing.assert_allclose(gradient[2], loss_gradient(anchor[2], rows[1:], np.ones(1)), rtol=1e-12)
    np.testing.assert_allclose(information[[0, 2]], outer_products(rows))
    assert not gradient[1].any()
    assert not information[1].any()


@given(
    seed=st.integers(0, 2**16), size=st.integers(1, 5), ridge=st.sampled_from([1e-4, 0.002, 1.0]),
    length=st.sampled_from([0.1, 1.0, 10.0]),
)  # fmt: skip
def test_newton_finds_the_minimiser_from_wherever_it_stands(seed, size, ridge, length):
    """Separable duels too: with few of them and a small ridge the minimiser is far away and the loss nearly flat."""
    rng = np.random.default_rng(seed)
    data = length * rng.standard_normal((rng.integers(1, 12), size))
    theta, gram = 3 * rng.standard_normal((1, size)), (data[:-1].T @ data[:-1])[np.newaxis]
    inverse = np.linalg.inv(gram + np.eye(size))
    learn_alone(kept(data), np.zeros(1, dtype=np.int64), data[-1:], gram, inverse, theta, ridge, 1.0)
    np.testing.assert_allclose(gram[0], data.T @ data, rtol=1e-10, atol=1e-10)
    np.testing.assert_allclose(inverse[0], np.linalg.inv(data.T @ data + np.eye(size)), rtol=1e-8, atol=1e-10)
    slope = loss_gradient(theta[0], data, np.ones(len(data))) + ridge * theta[0]
    assert np.linalg.norm(slope) < 1e-9 * max(1.0, length)
    np.testing.assert_allclose(theta[0], minimise_loss(data, np.ones(len(data)), ridge), rtol=1e-5, atol=1e-5)


def test_an_arm_that_meets_itself_changes_nothing():
    data = np.array([[1.0, 2.0], [0.5, -1.0]])
    record, theta, gram, inverse = kept(data), np.ones((1, 2)), np.eye(2)[np.newaxis], np.eye(2)[np.newaxis]
    record = keep_duels(record, np.zeros(1, dtype=np.int64), np.zeros((1, 2)))
    learn_alone(record, np.zeros(1, dtype=np.int64), np.zeros((1, 2)), gram, inverse, theta, 0.1, 1.0)
    assert record.length.tolist() == [2]
    assert theta.tolist() == [[1.0, 1.0]]


@pytest.mark.parametrize("duels", [REFRESH - 1, REFRESH])
def test_the_inverse_is_computed_afresh_now_and_then(duels):
    rng = np.random.default_rng(3)
    data = rng.standard_normal((duels, 2))
    gram = (data[:-1].T @ data[:-1])[np.newaxis]
    inverse = np.full((1, 2, 2), 7.0)  # nonsense, which only a fresh inverse forgets
    learn_alone(kept(data), np.zeros(1, dtype=np.int64), data[-1:], gram, inverse, np.zeros((1, 2)), 0.1, 0.5)
    is_right = np.allclose(inverse[0], np.linalg.inv(data.T @ data + 0.5 * np.eye(2)))
    assert is_right == (duels == REFRESH)
