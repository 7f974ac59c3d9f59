"""What is plausible at first sight keeps every rule; what honest sites send is, but for a hair."""

from __future__ import annotations

import numpy as np
import pytest

from fedbandit.core.bounds import SLACK, Bounds
from fedbandit.core.errors import ProtocolError
from fedbandit.kernels.linear.plausible import are_plausible

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
