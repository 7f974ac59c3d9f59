"""What an application hands in is taken as it is meant, or refused in one sentence."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest

import fedbandit as fb
from fedbandit.core.bounds import SLACK, Bounds
from fedbandit.durable.checked_input import LARGEST, USUAL, InputCheck, checked_limits

LINEAR, DUEL, SHARED = fb.algorithm("async-linucb"), fb.algorithm("fldb-ogd"), fb.algorithm("fedego-lasso")
ONE = Bounds(context=1.0, reward=1.0)


def checked_offer(arms, algorithm, dimension, bounds=LARGEST):
    return InputCheck(algorithm, dimension, bounds).offer(arms)


def checked_reward(reward, algorithm, bounds=LARGEST):
    return InputCheck(algorithm, 2, bounds).reward(reward)


@pytest.mark.parametrize(
    ("arms", "reason"),
    [
        ([], r"arms has shape \(0,\), but \(K, 2\) is needed: reshape it"),
        (np.empty((0, 2)), r"arms has shape \(0, 2\), but \(K, 2\) is needed"),
        (3.0, r"arms has shape \(\), but \(K, 2\) is needed"),
        ([[1.0, 2.0], [3.0]], "arms must hold numbers in rows of one length: give an array of floats"),
        ([["1", "2"]], "arms must hold numbers"),
        (np.array([["1", "2"]], dtype=object), "arms must hold numbers"),
        (np.array([[1.0, None]], dtype=object), "arms must hold numbers"),
        ([[1 + 0j, 2]], "arms must hold numbers"),
        (np.ones((1, 2), dtype=complex), "arms must hold numbers"),
        (np.array([["2026-01-01", "2026-01-02"]], dtype="datetime64[D]"), "arms must hold numbers"),
        (None, "arms must hold numbers"),
        ({"red": [1.0, 2.0]}, "arms must hold numbers"),
        ([[10**400, 1]], "arms has a number that is too large for a float: scale the features"),
        ([[1.0, 0.0], [np.nan, 0.0]], r"arms\[1\] is not finite: give finite features"),
        ([[1.0, 0.0], [0.0, -np.inf]], r"arms\[1\] is not finite"),
        (
            [[1.0, 0.0], [1e200, 0.0]],
            r"arms\[1\] has length 1e\+200, more than the limit of 1e\+07: scale the features",
        ),
        ([[1.7e308, 1.7e308]], r"arms\[0\] has length"),
        ([[1.1e7, 0.0]], r"arms\[0\] has length 1.1e\+07, more than the limit of 1e\+07"),
    ],
)
def test_arms_that_cannot_be_meant_are_refused(arms, reason):
    with pytest.raises(fb.InvalidInput, match=reason):
        checked_offer(arms, LINEAR, 2, USUAL)


@pytest.mark.parametrize(
    "arms",
    [
        [[1, 2]],
        [[True, False]],
        np.ones((3, 2), dtype=np.float32),
        np.ones((3, 2), dtype=np.uint8),
        [[Decimal("0.5"), Fraction(1, 3)]],
        np.array([[1, 0.5]], dtype=object),
        np.asfortranarray(np.ones((3, 2)))[::2],
    ],
)
def test_real_numbers_of_any_type_are_taken(arms):
    offer = checked_offer(arms, LINEAR, 2, USUAL)
    assert offer.dtype == np.float64
    assert (offer[0] == np.array(arms, dtype=float)).all()


def test_the_offer_is_a_copy():
    arms = np.ones((2, 2))
    offer = checked_offer(arms, LINEAR, 2)
    arms[:] = 7
    assert (offer == 1).all()


def test_each_arm_is_held_to_the_limit_and_not_all_of_them_together():
    arms = np.eye(4)
    assert checked_offer(arms, LINEAR, 4, ONE).shape == (1, 4, 4)
    arms[2, 1] = 0.5
    with pytest.raises(fb.InvalidInput, match=r"arms\[2\] has length 1.11803, more than the limit of 1: scale"):
        checked_offer(arms, LINEAR, 4, ONE)


def test_a_shared_context_is_held_to_the_limit_too():
    assert checked_offer([0.6, 0.8], SHARED, 2, ONE).shape == (1, 2)
    with pytest.raises(fb.InvalidInput, match=r"arms\[0\] has length 1.41421"):
        checked_offer([1.0, 1.0], SHARED, 2, ONE)


def test_what_a_site_lets_in_a_coordinator_with_the_same_limits_takes_in():
    rng = np.random.default_rng(0)
    arms = rng.standard_normal((2000, 7))
    arms *= (1 + SLACK / 5) / np.linalg.norm(arms, axis=1, keepdims=True)
    seen = checked_offer(arms, LINEAR, 7, ONE)[0]
    ONE.check_sums(seen.T @ seen, seen.sum(axis=0), len(seen))


@pytest.mark.parametrize("reward", [np.nan, np.inf, -np.inf, "much", "0.5", b"1", None, 1 + 0j, [1, 2], {}, 10**400])
def test_a_reward_that_is_no_finite_number_is_refused(reward):
    with pytest.raises(
        fb.InvalidInput, match=r"reward must be a finite number, not .{1,70}: give what the decision earned"
    ):
        checked_reward(reward, LINEAR)


@pytest.mark.parametrize(("length", "shown"), [(58, f"'{'a' * 58}'"), (59, f"'{'a' * 59}...")])
def test_of_a_long_text_the_beginning_is_shown(length, shown):
    with pytest.raises(fb.InvalidInput) as told:
        checked_reward("a" * length, LINEAR)
    assert f"not {shown}: give" in str(told.value)


@pytest.mark.parametrize("reward", [1, True, 0.5, np.float32(0.5), np.array(0.5), Decimal("0.5"), Fraction(1, 2)])
def test_a_reward_may_be_any_real_number(reward):
    assert checked_reward(reward, LINEAR) in (0.5, 1.0)


@pytest.mark.parametrize("reward", [1000, -1.001, 1e300])
def test_a_reward_beyond_the_limit_is_refused(reward):
    with pytest.raises(fb.InvalidInput, match="is farther from 0 than the limit of 1: scale rewards, or give the site"):
        checked_reward(reward, LINEAR, ONE)
    assert checked_reward(-1.0, LINEAR, ONE) == -1.0


def test_the_reward_of_a_duel_is_one_or_zero():
    assert checked_reward(True, DUEL) == 1.0
    with pytest.raises(fb.InvalidInput, match="reward must be 1 if the first arm won and 0 if not, not 0"):
        checked_reward(0.5, DUEL)


def test_limits_that_are_not_given_are_those_beyond_which_input_is_absurd():
    assert checked_limits(None) == checked_limits({}) == USUAL
    assert checked_limits({"context": 3}) == Bounds(3.0, USUAL.reward)
    assert checked_limits({"context": 1e9, "reward": 2}) == Bounds(1e9, 2.0)
    assert LARGEST.context**2 * 1e15 < 1e100, "what a coordinator takes for a number"


@pytest.mark.parametrize(
    ("limits", "reason"),
    [
        ({"rewards": 1.0}, "unknown limit of a site 'rewards': did you mean 'reward'"),
        ({"context": 0}, r"limits\['context'\] must be a number greater than 0 and at most 1e\+30, not 0"),
        ({"context": np.nan}, "not nan"),
        ({"reward": np.inf}, "not inf"),
        ({"reward": "1"}, "not '1'"),
        ({"reward": True}, "not True"),
    ],
)
def test_limits_that_are_none_are_refused(limits, reason):
    with pytest.raises(fb.InvalidInput, match=reason):
        checked_limits(limits)


@pytest.mark.parametrize("name", ["async-linucb", "fedglb-ucb", "fldb-ogd"])
def test_the_largest_input_that_is_taken_without_limits_leaves_all_sums_finite(name):
    algorithm = fb.algorithm(name)
    site = fb.Site(name, dimension=3, arms=4, horizon=300, smallest_upload=1)
    rng = np.random.default_rng(1)
    for turn in range(300):
        arms = rng.standard_normal((4, 3))
        arms *= 0.999999 * USUAL.context / np.linalg.norm(arms, axis=1, keepdims=True)
        site.learn(site.choose(arms), 1.0 if algorithm.duels else USUAL.reward * (turn % 2))
    numbers = [each for each in parts(site.node.life.node.state) if isinstance(each, np.ndarray)]
    assert len(numbers) > 3
    assert all(np.isfinite(each).all() for each in numbers)


def parts(state):
    """All that a state consists of."""
    for part in state if isinstance(state, tuple) else vars(state).values():
        yield from parts(part) if isinstance(part, tuple) or hasattr(part, "__dict__") else [part]
