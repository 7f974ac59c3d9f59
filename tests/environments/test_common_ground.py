"""Common ground: one world in three forms."""

from __future__ import annotations

import numpy as np
import pytest

import fedbandit as fb

SIZES = {"clients": 3, "arms": 4, "dimension": 5, "support": 2}
FORMS = ("arms", "contexts", "duels")


def block_of(count=600, seed=0, **parameters):
    return next(fb.environment("common-ground", **SIZES, **parameters).turns(count, seed, count))


@pytest.mark.parametrize("rewards", ["linear", "logistic"])
def test_all_forms_show_the_same_world(rewards):
    arms, contexts, duels = (block_of(form=form, rewards=rewards) for form in FORMS)
    np.testing.assert_array_equal(arms.features, duels.features)
    np.testing.assert_array_equal(arms.outcomes.mean, contexts.outcomes.mean)
    np.testing.assert_array_equal(arms.outcomes.mean, duels.outcomes.mean)
    np.testing.assert_array_equal(arms.outcomes.payoff, contexts.outcomes.payoff)
    blocks = arms.features.reshape(600, 4, 4, 5)
    for arm in range(4):
        np.testing.assert_array_equal(blocks[:, arm, arm], contexts.features)
        assert not np.delete(blocks[:, arm], arm, axis=1).any()


def test_linear_rewards_are_margins_and_noise_that_all_arms_share():
    theta = fb.environment("common-ground", **SIZES).parameter(seed=0)
    block = block_of(count=20_000, form="contexts")
    np.testing.assert_allclose(block.outcomes.mean, block.features @ theta.T)
    noise = block.outcomes.payoff - block.outcomes.mean
    np.testing.assert_allclose(noise, noise[:, :1].repeat(4, axis=1), atol=1e-12)
    assert noise.std() == pytest.approx(0.1, rel=0.05)
    np.testing.assert_allclose(np.linalg.norm(theta, axis=1), 1.0)
    assert ((theta != 0).sum(axis=1) == 2).all()


def test_logistic_rewards_are_coins_with_the_odds_of_the_steep_margin():
    theta = fb.environment("common-ground", **SIZES).parameter(seed=0)
    block = block_of(count=20_000, form="contexts", rewards="logistic", steepness=3.0)
    odds = np.exp(3.0 * block.features @ theta.T)
    np.testing.assert_allclose(block.outcomes.mean, odds / (1 + odds))
    assert set(np.unique(block.outcomes.payoff)) == {0.0, 1.0}
    np.testing.assert_allclose(block.outcomes.payoff.mean(axis=0), block.outcomes.mean.mean(axis=0), atol=0.02)


@pytest.mark.parametrize("rewards", ["linear", "logistic"])
def test_a_duel_is_won_by_the_odds_of_its_margins_and_its_regret_is_the_mean_of_its_arms(rewards):
    block = block_of(count=20_000, form="duels", rewards=rewards)
    theta = fb.environment("common-ground", **SIZES).parameter(seed=0)
    margin = block_of(count=20_000, form="contexts", rewards=rewards).features @ theta.T
    pair = np.tile([2, 0], (20_000, 1))
    won = block.outcomes.feedback(slice(None), pair)
    expected = 1 / (1 + np.exp(-6.0 * (margin[:, 2] - margin[:, 0])))
    assert won.mean() == pytest.approx(expected.mean(), abs=0.01)
    surely = expected > 0.95
    assert won[surely].mean() > 0.93
    mean = block.outcomes.mean
    literal = mean.max(axis=1) - (mean[:, 2] + mean[:, 0]) / 2
    np.testing.assert_allclose(block.outcomes.regret(slice(None), pair), literal)
    np.testing.assert_allclose(block.outcomes.take(slice(5, 9)).regret(slice(None), pair[:4]), literal[5:9])


def test_a_pair_of_one_arm_has_the_regret_of_the_arm():
    duels, arms = block_of(form="duels"), block_of(form="arms")
    for arm in range(4):
        one = arms.outcomes.regret(slice(None), np.full(600, arm))
        np.testing.assert_allclose(duels.outcomes.regret(slice(None), np.full((600, 2), arm)), one)


def test_the_worlds_of_tuning_are_others():
    reported, tuning = (fb.environment("common-ground", **SIZES, draw=draw) for draw in ("reported", "tuning"))
    found = [world.parameter(seed).tobytes() for world in (reported, tuning) for seed in range(5)]
    assert len(set(found)) == 10
    assert (block_of().features != block_of(draw="tuning").features).any()


@pytest.mark.parametrize(("form", "dimension"), [("arms", 20), ("contexts", 5), ("duels", 20)])
def test_its_setting_has_the_features_of_its_form(form, dimension):
    assert fb.environment("common-ground", **SIZES, form=form).setting().dimension == dimension


def test_more_features_that_matter_than_there_are_is_refused():
    with pytest.raises(fb.InvalidInput, match="support=6 features of a context matter, but it has dimension=5: give"):
        fb.environment("common-ground", dimension=5, support=6)
