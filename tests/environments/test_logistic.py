"""The synthetic logistic world."""

from __future__ import annotations

import numpy as np
import pytest

import fedbandit as fb
from fedbandit.core.randomness import stream
from fedbandit.environments.logistic import Logistic


def block(world, count, seed=0):
    return next(world.turns(count, seed, count))


@pytest.mark.parametrize(("source", "length"), [("sphere", 1.0), ("pool", np.sqrt(2.0))])
def test_arms_have_their_length_and_odds_follow_theta(source, length):
    world = Logistic(clients=5, arms=7, dimension=4, source=source, radius=2.0)
    turns = block(world, 500)
    np.testing.assert_allclose(np.linalg.norm(turns.features, axis=2), length)
    odds = np.log(turns.outcomes.mean / (1 - turns.outcomes.mean))
    theta, *_ = np.linalg.lstsq(turns.features.reshape(-1, 4), odds.ravel(), rcond=None)
    np.testing.assert_allclose(turns.features @ theta, odds, atol=1e-9)
    assert np.linalg.norm(theta) == pytest.approx(2.0)


def test_rewards_are_coins_with_these_odds():
    turns = block(Logistic(clients=1, arms=2, dimension=3), 40_000)
    assert set(np.unique(turns.outcomes.payoff)) == {0.0, 1.0}
    surplus = (turns.outcomes.payoff - turns.outcomes.mean).mean(axis=0)
    assert np.abs(surplus).max() < 4 * 0.5 / np.sqrt(40_000)


def test_an_arm_with_better_odds_pays_whenever_a_worse_one_does():
    outcomes = block(Logistic(clients=1, arms=6, dimension=3), 500).outcomes
    ordered = np.take_along_axis(outcomes.payoff, np.argsort(outcomes.mean, axis=1), axis=1)
    assert (np.diff(ordered, axis=1) >= 0).all()


def test_pool_arms_are_few_and_drawn_with_replacement():
    turns = block(Logistic(clients=1, arms=30, dimension=3, source="pool", pool=10), 50)
    assert len(np.unique(turns.features.reshape(-1, 3), axis=0)) == 10
    assert (turns.features[:, :, -1] == 1.0).all()


def test_clients_act_in_rounds_across_blocks():
    world = Logistic(clients=3, arms=2, dimension=2)
    clients = np.concatenate([turns.client for turns in world.turns(12, 0, 6)])
    assert clients.tolist() == [0, 1, 2] * 4


@pytest.mark.parametrize("source", ["sphere", "pool"])
def test_one_seed_is_one_world_however_it_is_cut_into_blocks(source):
    world = Logistic(clients=3, arms=4, dimension=3, source=source)
    whole = block(world, 60, seed=7)
    parts = list(world.turns(60, 7, 9))
    assert (np.concatenate([part.features for part in parts]) == whole.features).all()
    assert (np.concatenate([part.outcomes.payoff for part in parts]) == whole.outcomes.payoff).all()
    assert not (block(world, 60, seed=8).features == whole.features).all()
    stream(7, "noise").random()  # other purposes do not disturb it
    assert (block(world, 60, seed=7).features == whole.features).all()


def test_a_pool_needs_a_coordinate_to_differ_in():
    with pytest.raises(fb.InvalidInput, match="dimension must be at least 2 with source=pool, not 1"):
        Logistic(dimension=1, source="pool")
