"""How the world answers, compared with the formulas of the specification written out one turn at a time."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fedbandit.core.turns import Duels, Rewards, Turns

EVERYTHING = slice(None)


def rewards(seed, turns=6, arms=4):
    rng = np.random.default_rng(seed)
    return Rewards(rng.standard_normal((turns, arms)), rng.standard_normal((turns, arms)))


def duels(seed, turns=6, arms=4):
    rng = np.random.default_rng(seed)
    return Duels(3 * rng.standard_normal((turns, arms)), rng.random(turns))


def test_a_reward_is_the_payoff_of_the_chosen_arm():
    world, choice = rewards(0), np.array([0, 1, 2, 3, 0, 3])
    wanted = [world.payoff[turn, arm] for turn, arm in enumerate(choice)]
    assert world.feedback(EVERYTHING, choice).tolist() == wanted
    assert world.reward(EVERYTHING, choice).tolist() == wanted


def test_regret_is_the_best_mean_minus_the_mean_of_the_choice():
    world, choice = rewards(1), np.array([0, 1, 2, 3, 0, 3])
    wanted = [max(world.mean[turn]) - world.mean[turn, arm] for turn, arm in enumerate(choice)]
    assert world.regret(EVERYTHING, choice).tolist() == wanted


def test_regret_of_the_best_arm_is_zero_even_if_it_pays_badly():
    world = Rewards(payoff=np.array([[5.0, -5.0]]), mean=np.array([[0.0, 1.0]]))
    assert world.regret(EVERYTHING, np.array([1])).tolist() == [0.0]


def test_regret_is_unknown_without_means():
    world = Rewards(np.zeros((2, 3)))
    assert np.isnan(world.regret(EVERYTHING, np.array([0, 1]))).all()
    assert world.take(slice(1)).mean is None


@settings(deadline=None, max_examples=50)
@given(st.integers(0, 1000), st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3)), min_size=6, max_size=6))
def test_the_first_arm_of_a_duel_wins_iff_the_coin_is_below_the_sigmoid_of_the_margin(seed, pairs):
    world, choice = duels(seed), np.array(pairs)
    for turn, (first, second) in enumerate(pairs):
        f = world.utility[turn]
        wins = world.coin[turn] < 1 / (1 + math.exp(-(f[first] - f[second])))
        assert world.feedback(EVERYTHING, choice)[turn] == float(wins)
        shortfall = 2 * max(f) - f[first] - f[second]
        assert world.regret(EVERYTHING, choice)[turn] == pytest.approx(shortfall, abs=1e-12)


def test_a_coin_on_the_edge_is_won_by_the_second_arm():
    world = Duels(utility=np.zeros((1, 2)), coin=np.array([0.5]))
    assert world.feedback(EVERYTHING, np.array([[0, 1]])).tolist() == [0.0]


def test_duels_between_very_unequal_arms_are_decided_without_overflow():
    world = Duels(utility=np.array([[0.0, 5000.0]] * 2), coin=np.array([0.001, 0.999]))
    assert world.feedback(EVERYTHING, np.array([[0, 1], [1, 0]])).tolist() == [0.0, 1.0]


def test_a_duel_pays_nothing():
    assert np.isnan(duels(0).reward(EVERYTHING, np.zeros((6, 2), dtype=np.int64))).all()


@pytest.mark.parametrize("make", [rewards, duels])
@pytest.mark.parametrize("turn", [slice(2, 5), np.array([4, 0, 3])])
def test_some_of_the_turns_answer_as_they_do_among_all(make, turn):
    world = make(3)
    among_all = np.arange(6)[turn]
    choice = np.array([1, 0, 3]) if make is rewards else np.array([[1, 0], [3, 2], [2, 2]])
    for name in ("feedback", "reward", "regret"):
        part = getattr(world.take(turn), name)(EVERYTHING, choice)
        np.testing.assert_array_equal(part, getattr(world, name)(among_all, choice))
        np.testing.assert_array_equal(part, getattr(world, name)(turn, choice))


def test_a_block_of_turns_can_be_cut():
    block = Turns(np.array([2, 0, 1]), np.arange(12.0).reshape(3, 2, 2), rewards(0, turns=3, arms=2))
    part = block.take(slice(1, 3))
    assert len(block) == 3
    assert len(part) == 2
    assert part.client.tolist() == [0, 1]
    assert part.features.base is not None, "a slice copies nothing"
    assert (part.features == block.features[1:]).all()
    assert (part.outcomes.payoff == block.outcomes.payoff[1:]).all()
