"""From what a linear model expects to the chance of a reward of 1."""

import numpy as np
import pytest
from scipy.special import expit

from fedbandit.advice.model.link import link_of


def test_a_logistic_world_is_found_again_from_its_best_straight_line():
    rng = np.random.default_rng(0)
    score = rng.standard_normal(50_000)
    chance = expit(1 + 2 * score)
    slope, level = np.polyfit(score, chance, 1)
    link = link_of(level + slope * score, (rng.random(len(score)) < chance) * 1.0)
    grid = np.linspace(-3, 3, 25)
    assert link(level + slope * grid) == pytest.approx(expit(1 + 2 * grid), abs=0.02)


def test_chances_that_are_linear_in_a_small_range_stay_so():
    rng = np.random.default_rng(1)
    chance = rng.uniform(0.3, 0.5, 50_000)
    link = link_of(chance, (rng.random(len(chance)) < chance) * 1.0)
    grid = np.linspace(0.3, 0.5, 5)
    assert link(grid) == pytest.approx(grid, abs=0.02)


@pytest.mark.parametrize("reward", [np.ones(20), np.zeros(20), (np.arange(20) > 9) * 1.0])
def test_a_link_is_finite_whatever_the_rewards_are(reward):
    link = link_of(np.linspace(0, 1, 20), reward)
    assert np.isfinite([link.level, link.slope]).all()
    assert np.abs(link(np.linspace(0, 1, 20)) - reward).mean() < 0.2


def test_a_link_is_the_most_likely_one_under_its_priors():
    rng = np.random.default_rng(2)
    expected = rng.uniform(0, 1, 30)
    reward = (rng.random(30) < expected) * 1.0
    found = link_of(expected, reward)
    mean = (reward.sum() + 0.5) / 31
    straight = 1 / (mean * (1 - mean))

    def likely(level, slope):
        chance = expit(level + slope * expected)
        middle = np.log(mean / (1 - mean)) - slope * expected.mean()
        fit = np.log(np.where(reward == 1, chance, 1 - chance)).sum()
        return fit - (level - middle) ** 2 / 2 - (slope / straight - 1) ** 2 / 2

    near = [likely(found.level + a, found.slope + b) for a in (-0.01, 0, 0.01) for b in (-0.01, 0, 0.01)]
    assert max(near) == pytest.approx(likely(found.level, found.slope), abs=1e-6)
