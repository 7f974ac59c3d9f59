"""The eight worlds are as they say."""

import numpy as np
import pytest

import fedbandit as fb
from fedbandit.environments.testbed import CASES


def block(case, seed=0, count=200):
    return next(fb.environment("testbed", case=case).turns(count, seed, 10_000))


@pytest.mark.parametrize("case", CASES)
def test_rewards_are_linear_with_the_noise_that_is_said(case):
    turns = block(case, count=2000)
    dimension, arms, noise = CASES[case]
    assert turns.features.shape == (2000, arms, dimension)
    x, mean = turns.features.reshape(-1, dimension), turns.outcomes.mean.ravel()
    theta, *_ = np.linalg.lstsq(x, mean, rcond=None)
    np.testing.assert_allclose(x @ theta, mean, atol=1e-9)
    assert (turns.outcomes.payoff.ravel() - mean).std() == pytest.approx(noise, rel=0.05)


@pytest.mark.parametrize("case", ["scout", "noisy", "scaled", "pool"])
def test_arms_are_of_length_one(case):
    np.testing.assert_allclose(np.linalg.norm(block(case).features, axis=-1), 1.0)


def test_rewards_of_scaled_are_ten_times_as_large():
    turns = block("scaled")
    theta, *_ = np.linalg.lstsq(turns.features.reshape(-1, 8), turns.outcomes.mean.ravel(), rcond=None)
    assert np.linalg.norm(theta) == pytest.approx(10.0)


@pytest.mark.parametrize("case", ["pool", "fixed", "fixed-noisy", "optimism"])
def test_the_same_arms_are_on_offer_at_every_turn(case):
    assert (block(case).features == block(case).features[0]).all()


@pytest.mark.parametrize(("case", "gap"), [("fixed", 0.1), ("fixed-noisy", 0.2)])
def test_one_arm_is_better_than_all_others_by_the_gap(case, gap):
    best = set()
    for seed in range(10):
        mean = np.sort(block(case, seed).outcomes.mean[0])
        best.add(int(block(case, seed).outcomes.mean[0].argmax()))
        np.testing.assert_allclose(mean[-1] - mean[:-1], gap)
    assert len(best) > 1


def test_arms_of_disjoint_have_the_context_in_a_place_of_their_own():
    arms = block("disjoint").features.reshape(200, 4, 4, 5)
    for arm in range(4):
        np.testing.assert_array_equal(arms[:, arm, arm], arms[:, 0, 0])
        assert not np.delete(arms[:, arm], arm, axis=1).any()
