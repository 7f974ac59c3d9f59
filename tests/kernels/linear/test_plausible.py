"""What is plausible at first sight keeps every rule; what honest sites send is, but for a hair."""

from __future__ import annotations

import numpy as np
import pytest

from fedbandit.core.bounds import SLACK, Bounds
from fedbandit.core.errors import ProtocolError
from fedbandit.kernels.linear.plausible import are_plausible, excess_of

BOUNDS = Bounds(context=2.0, reward=3.0)


def honest(rng, size, observations, scale=1.0):
    contexts = rng.standard_normal((observations, size))
    contexts *= scale * BOUNDS.context / np.linalg.norm(contexts, axis=1, keepdims=True)
    rewards = rng.uniform(-BOUNDS.reward, BOUNDS.reward, observations)
    return contexts.T @ contexts, contexts.T @ rewards


def looked_at(gram, moment, observations, bounds=BOUNDS):
    gram = np.ascontiguousarray((gram + gram.T) / 2)
    return bool(are_plausible(gram, moment, observations, bounds.context, bounds.reward, 0.5 * SLACK))


@pytest.mark.parametrize("bounds", [BOUNDS, Bounds(), Bounds(context=2.0), Bounds(reward=3.0)])
def test_sums_of_honest_sites_are_plausible(bounds):
    rng = np.random.default_rng(1)
    for observations in (1, 2, 5, 40):
        gram, moment = honest(rng, 6, observations)
        assert looked_at(gram, moment, observations, bounds)


def test_nothing_is_plausible_that_the_rules_refuse():
    """Sums around every edge: whatever is let through at first sight must keep the rules themselves."""
    rng = np.random.default_rng(2)
    let_through = refused = 0
    for _ in range(3000):
        observations = int(rng.integers(1, 5))
        gram, moment = honest(rng, 4, observations, scale=rng.choice([0.9, 1.0, 1.0 + 1e-10, 1.0 + 1e-8, 1.1]))
        moment = moment * rng.choice([1.0, 1.0 + 1e-9, 1.5, 4.0])
        gram = gram + rng.choice([0.0, -1e-10, -1e-8, -0.1]) * np.eye(4)
        gram = (gram + gram.T) / 2
        plausible = looked_at(gram, moment, observations)
        try:
            BOUNDS.check_sums(gram, moment, observations)
        except ProtocolError:
            refused += 1
            assert not plausible
        else:
            let_through += plausible
    assert refused > 500
    assert let_through > 300


@pytest.mark.parametrize("wrong", [np.nan, np.inf, -1.0])
def test_what_is_no_number_is_left_to_the_rules(wrong):
    gram, moment = honest(np.random.default_rng(3), 3, 5)
    gram[1, 1] = wrong
    assert not looked_at(gram, moment, 5)


def test_sums_of_nothing_and_what_is_not_symmetric_are_left_to_the_rules():
    assert not looked_at(np.zeros((3, 3)), np.zeros(3), 0)
    gram, moment = honest(np.random.default_rng(4), 3, 5)
    gram[0, 1] += 1e-6
    assert not are_plausible(gram, moment, 5, BOUNDS.context, BOUNDS.reward, 0.5 * SLACK)


def literal_excess(gram, moment, observations, bounds):
    """The rules of `Bounds.check_sums` one by one, the last by the eigenvalues of the whole matrix."""
    trace, length = np.trace(gram), np.linalg.norm(moment)
    most = observations * (1 + SLACK)
    found = max(0.0, trace / bounds.context**2 - most, length / bounds.context / bounds.reward - most)
    least = np.linalg.eigvalsh(gram - np.outer(moment, moment) / (observations * bounds.reward**2))[0]
    return max(found, -least / bounds.context**2 if least < -SLACK * trace else 0.0)


def test_what_is_beyond_the_observations_is_what_the_eigenvalues_say():
    rng = np.random.default_rng(5)
    beyond = 0
    for _ in range(2000):
        size, observations = int(rng.integers(1, 9)), int(rng.integers(1, 12))
        gram, moment = honest(rng, size, observations, scale=rng.choice([0.5, 1.0, 1.001, 1.2]))
        gram = gram.astype(np.float16).astype(float) if rng.random() < 0.2 else gram
        gram = gram + max(0.0, -np.linalg.eigvalsh(gram)[0]) * np.eye(size)  # positive by itself, as R^T R is
        moment = moment * rng.choice([0.1, 1.0, 1.001, 3.0]) + rng.choice([0.0, 1e-4]) * rng.standard_normal(size)
        found = excess_of(gram, moment, observations, BOUNDS.context, BOUNDS.reward, SLACK)
        expected = literal_excess(gram, moment, observations, BOUNDS)
        assert found == pytest.approx(expected, rel=1e-6, abs=3 * SLACK * max(1.0, np.trace(gram)))
        beyond += expected > 1e-6
    assert 500 < beyond < 1900


@pytest.mark.parametrize("bounds", [Bounds(), Bounds(context=2.0), Bounds(reward=3.0)])
def test_without_bounds_nothing_is_beyond_them(bounds):
    gram, moment = honest(np.random.default_rng(6), 4, 3)
    assert excess_of(gram, 9 * moment, 3, bounds.context, bounds.reward, SLACK) == 0.0


def test_the_sums_of_nothing_are_beyond_it_by_all_that_they_are():
    assert excess_of(4.0 * np.eye(2), np.zeros(2), 0, 2.0, 3.0, SLACK) == pytest.approx(2.0)
