"""The shortcuts of the test of two clients give the answer of the statistic itself."""

import numpy as np
import pytest

from fedbandit.kernels.linear.ridge_rows import scratch_for
from fedbandit.kernels.linear.telling_apart import are_apart, hear, nothing_told, passes
from reference.clusters import statistic

RIDGE, RHO = 0.1, 1e-4


def told_by(rng, dimension, observations, theta, scale):
    """Two clients that have told of so many observations each."""
    told = nothing_told(2, dimension, RIDGE)
    scratch = scratch_for(0, dimension)
    for client in range(2):
        arms = rng.standard_normal((observations[client], dimension)) * scale
        rewards = arms @ theta[client] + 0.1 * rng.standard_normal(observations[client])
        hear(told, client, arms.T @ arms, arms.T @ rewards, client + 1, RIDGE, RHO, scratch)
    return told


@pytest.mark.parametrize("dimension", [1, 2, 5, 12])
@pytest.mark.parametrize("difference", [0.0, 0.01, 0.1, 1.0])
def test_every_shortcut_agrees_with_the_statistic(dimension, difference):
    rng = np.random.default_rng([dimension, int(100 * difference)])
    scratch, answers = scratch_for(0, dimension), set()
    for _ in range(60):
        theta = rng.standard_normal(dimension) + difference * rng.standard_normal((2, dimension))
        scale = rng.choice([0.1, 1.0, 3.0], dimension)  # directions that are hardly seen, too
        told = told_by(rng, dimension, rng.choice([1, 2, 5, 30, 300], 2), theta, scale)
        exact = statistic((told.gram[0], told.moment[0]), (told.gram[1], told.moment[1]), RIDGE)
        for limit in exact * np.array([0.01, 0.3, 0.99, 0.9999, 1.0001, 1.01, 3.0, 100.0]):
            assert are_apart(told, 0, 1, RHO, limit, scratch) == (exact > limit)
            assert are_apart(told, 1, 0, RHO, limit, scratch) == (exact > limit)
            between = told.estimate[0] - told.estimate[1]
            assert passes(told.inverse[0], told.inverse[1], between, limit, scratch[1]) == (exact > limit)
            answers.add(exact > limit)
    assert answers == {True, False}


def test_a_statistic_equal_to_the_limit_is_alike():
    identity, between = np.eye(2) / 2, np.array([2.0, 0.0])
    assert not passes(identity, identity, between.copy(), 4.0, np.empty((2, 2)))
    assert passes(identity, identity, between.copy(), np.nextafter(4.0, 0), np.empty((2, 2)))


def test_what_was_told_and_what_follows_from_it():
    rng = np.random.default_rng(0)
    told = told_by(rng, 4, (30, 2), rng.standard_normal((2, 4)), np.ones(4))
    for client in range(2):
        gram = told.gram[client]
        inverse = np.linalg.inv(gram + RHO * np.eye(4))
        np.testing.assert_allclose(told.inverse[client], inverse, rtol=1e-6, atol=1e-8 * np.abs(inverse).max())
        np.testing.assert_allclose(told.trace[client], np.trace(inverse), rtol=1e-6)
        np.testing.assert_allclose(told.estimate[client], inverse @ told.moment[client], rtol=1e-5, atol=1e-6)
        np.testing.assert_allclose(told.log_det[client], np.linalg.slogdet(gram + RIDGE * np.eye(4))[1])
    assert told.uploads.tolist() == [1, 1]
    assert told.last_upload.tolist() == [1, 2]
