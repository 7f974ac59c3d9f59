"""Attacks on single uploads: what the coordinator can compute of a site's observations, and from which number on not.

Each succeeds where the page on privacy says that it does, and fails where it says that the smallest upload stops it.
"""

from __future__ import annotations

import numpy as np
import pytest

import fedbandit as fb
from samples.attacks import (
    bits_of_known_arms,
    counts_of_known_arms,
    one_observation,
    rewards_of_known_arms,
    two_unit_arms,
)

DIMENSION = 8
TRIALS = 10
RNG_OF_CATALOGUE = 7


def unit(rng, count):
    arms = rng.standard_normal((count, DIMENSION))
    return arms / np.linalg.norm(arms, axis=1, keepdims=True)


def first_upload(seed, smallest_upload, *, catalogue=None, bits=False, name="async-linucb"):
    """The first upload of a site, and what it saw: arms (n, d) and rewards (n,)."""
    rng = np.random.default_rng(seed)
    site = fb.Client(name, dimension=DIMENSION, upload_threshold=1.0, smallest_upload=smallest_upload)
    arms, rewards = [], []
    while True:
        offer = unit(rng, 3) if catalogue is None else catalogue[rng.choice(len(catalogue), 3, replace=False)]
        arms.append(offer[site.choose(offer)])
        rewards.append(float(rng.integers(0, 2)) if bits else float(rng.standard_normal()))
        sums = [each.message for each in site.learn(rewards[-1]) if not each.message.is_signal()]
        if sums:
            return sums[0].gram[0], sums[0].moment[0], np.array(arms), np.array(rewards)


@pytest.fixture(scope="module")
def catalogue():
    """As many arms as a matrix of 8 features has different entries."""
    return unit(np.random.default_rng(RNG_OF_CATALOGUE), DIMENSION * (DIMENSION + 1) // 2)


def test_an_upload_of_one_observation_is_the_observation():
    for seed in range(TRIALS):
        gram, moment, arms, rewards = first_upload(seed, 1)
        assert len(arms) == 1
        x, y = one_observation(gram, moment)
        sign = np.sign(x @ arms[0])
        np.testing.assert_allclose(sign * x, arms[0], atol=1e-12)
        np.testing.assert_allclose(sign * y, rewards[0], atol=1e-12)


def test_an_upload_of_two_unit_arms_is_both_observations():
    for seed in range(TRIALS):
        gram, moment, arms, rewards = first_upload(seed, 2)
        found, values = two_unit_arms(gram, moment)
        for arm, reward in zip(arms, rewards, strict=True):
            alike = np.abs(found @ arm)
            assert alike.max() > 1 - 1e-9
            place = alike.argmax()
            np.testing.assert_allclose(np.sign(found[place] @ arm) * values[place], reward, atol=1e-6)


def test_with_the_smallest_upload_of_deployments_neither_attack_finds_anything():
    for seed in range(TRIALS):
        gram, moment, arms, _ = first_upload(seed, 2 * DIMENSION)
        assert len(arms) == 2 * DIMENSION
        for found in (one_observation(gram, moment)[0][np.newaxis], two_unit_arms(gram, moment)[0]):
            lengths = np.linalg.norm(found, axis=1, keepdims=True)
            assert np.abs(arms @ (found / lengths).T).max() < 0.99


@pytest.mark.parametrize("smallest_upload", [1, 2, 8, 9, 16, 32])
def test_who_knows_the_catalogue_learns_which_arms_were_chosen_whatever_the_number(catalogue, smallest_upload):
    """This the smallest upload does not stop, and no page says that it does."""
    for seed in range(TRIALS):
        gram, _, arms, _ = first_upload(seed, smallest_upload, catalogue=catalogue)
        truth = [int((np.abs(arms - arm).max(axis=1) < 1e-12).sum()) for arm in catalogue]
        assert counts_of_known_arms(gram, catalogue).tolist() == truth


@pytest.mark.parametrize(("smallest_upload", "is_found"), [(4, True), (8, True), (9, False), (16, False)])
def test_rewards_of_known_arms_are_found_by_linear_algebra_up_to_the_dimension(catalogue, smallest_upload, is_found):
    found = []
    for seed in range(TRIALS):
        _, moment, arms, rewards = first_upload(seed, smallest_upload, catalogue=catalogue)
        if len(np.unique(arms, axis=0)) == len(arms):  # an arm that was chosen twice tells the sum of its rewards
            found.append(np.allclose(rewards_of_known_arms(moment, arms), rewards, atol=1e-6))
    assert len(found) > 1
    assert found == [is_found] * len(found)


def test_rewards_of_zero_and_one_are_found_by_trying_even_so(catalogue):
    """Eight real numbers hold more than sixteen bits: no number is a guarantee."""
    for seed in range(2):
        _, moment, arms, rewards = first_upload(seed, 2 * DIMENSION, catalogue=catalogue, bits=True)
        ways = bits_of_known_arms(moment, arms)
        fitting = np.abs(ways @ arms - rewards @ arms).max(axis=1) < 1e-9
        assert fitting.all()
        distinct = [place for place, arm in enumerate(arms) if (np.abs(arms - arm).max(axis=1) < 1e-12).sum() == 1]
        assert (ways[:, distinct] == rewards[distinct]).all()
