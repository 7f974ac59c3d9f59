"""Who is told apart is told by the statistic itself, whatever spares its factorisation."""

import numpy as np
import pytest

from fedbandit.kernels.linear.ridge_rows import scratch_for
from fedbandit.kernels.linear.telling_apart import (
    AT_ONCE,
    SMALL,
    hear,
    nothing_told,
    room_to_compare,
    tell_apart,
)
from reference.clusters import statistic

RIDGE, RHO = 0.1, 1e-4


def told_by(rng, dimension, observations, theta, scale):
    """Clients that have told of so many observations each."""
    told = nothing_told(len(theta), dimension, RIDGE)
    scratch = scratch_for(0, dimension)
    for client in range(len(theta)):
        arms = rng.standard_normal((observations[client], dimension)) * scale
        rewards = arms @ theta[client] + 0.1 * rng.standard_normal(observations[client])
        hear(told, client, arms.T @ arms, arms.T @ rewards, client + 1, RIDGE, RHO, scratch)
    return told


def apart_from(told, one, limit):
    """Who is apart from one, which does not depend on what was thought before."""
    clients, room = np.arange(len(told.uploads)), room_to_compare(*told.moment.shape)
    answers = [clients >= 0, clients < 0, clients % 2 == 0]
    for apart in answers:
        tell_apart(told, one, RHO, limit, apart, room)
    assert answers[0].tolist() == answers[1].tolist() == answers[2].tolist()
    return answers[0]


@pytest.mark.parametrize("dimension", [1, 2, 5, 12, SMALL + 1])
@pytest.mark.parametrize("difference", [0.0, 0.01, 0.1, 1.0])
def test_two_clients_are_told_apart_by_the_statistic(dimension, difference):
    rng = np.random.default_rng([dimension, int(100 * difference)])
    answers = set()
    for _ in range(60):
        theta = rng.standard_normal(dimension) + difference * rng.standard_normal((2, dimension))
        scale = rng.choice([0.1, 1.0, 3.0], dimension)  # directions that are hardly seen, too
        told = told_by(rng, dimension, rng.choice([1, 2, 5, 30, 300], 2), theta, scale)
        exact = statistic((told.gram[0], told.moment[0]), (told.gram[1], told.moment[1]), RIDGE)
        for limit in exact * np.array([0.01, 0.3, 0.99, 0.9999, 1.0001, 1.01, 3.0, 100.0]):
            assert apart_from(told, 0, limit).tolist() == [False, exact > limit]
            assert apart_from(told, 1, limit).tolist() == [exact > limit, False]
            answers.add(exact > limit)
    assert answers == {True, False}


@pytest.mark.parametrize("clients", [AT_ONCE, AT_ONCE + 1, 2 * AT_ONCE + 3])
@pytest.mark.parametrize("dimension", [4, SMALL + 1])
def test_many_clients_are_told_apart_as_two_are(clients, dimension):
    rng = np.random.default_rng(clients)
    theta = rng.standard_normal(dimension) + 0.2 * rng.standard_normal((clients, dimension))
    told = told_by(rng, dimension, rng.choice([2, 5, 20, 60], clients), theta, np.ones(dimension))
    told.uploads[3] = 0
    sums = [(told.gram[client], told.moment[client]) for client in range(clients)]
    exact = np.array([statistic(sums[0], each, RIDGE) for each in sums])
    for limit in np.quantile(exact, [0.1, 0.5, 0.9]) * (1 + 1e-6):
        expected = exact > limit
        expected[[0, 3]] = False
        assert apart_from(told, 0, limit).tolist() == expected.tolist()


def test_a_statistic_equal_to_the_limit_is_alike():
    told = nothing_told(2, 2, RIDGE)
    told.uploads[:] = 1
    told.gram[:] = (2 - RHO) * np.eye(2)
    told.inverse[:] = np.eye(2) / 2
    told.spread[:] = 1.0
    told.estimate[0] = 2.0, 0.0
    assert not apart_from(told, 0, 4.0)[1]
    assert apart_from(told, 0, np.nextafter(4.0, 0))[1]


def test_what_was_told_and_what_follows_from_it():
    rng = np.random.default_rng(0)
    told = told_by(rng, 4, (30, 2), rng.standard_normal((2, 4)), np.ones(4))
    for client in range(2):
        gram = told.gram[client]
        inverse = np.linalg.inv(gram + RHO * np.eye(4))
        np.testing.assert_allclose(told.inverse[client], inverse, rtol=1e-6, atol=1e-8 * np.abs(inverse).max())
        np.testing.assert_allclose(told.spread[client], (np.linalg.eigvalsh(inverse) ** 8).sum() ** 0.125, rtol=1e-6)
        np.testing.assert_allclose(told.estimate[client], inverse @ told.moment[client], rtol=1e-5, atol=1e-6)
        np.testing.assert_allclose(told.log_det[client], np.linalg.slogdet(gram + RIDGE * np.eye(4))[1])
    assert told.uploads.tolist() == [1, 1]
    assert told.last_upload.tolist() == [1, 2]
