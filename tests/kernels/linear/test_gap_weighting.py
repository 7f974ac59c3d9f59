"""Inverse gap weighting: chances that are chances, whatever is shifted or scaled; and lots that Python draws alike."""

import math

import numpy as np
import pytest

from fedbandit.core import lots
from fedbandit.kernels.linear.confidence import Width
from fedbandit.kernels.linear.gap_weighting import noise_of, weigh_gaps
from fedbandit.kernels.linear.ridge_rows import scratch_for
from fedbandit.kernels.linear.rules import AUTO, IGW, GapRule
from fedbandit.kernels.shared.lot import arm_by_lot, lot_of

FIXED = Width(0.7, 0.0, 0.0)


def world(seed, arms=6, dimension=4):
    """Arms with a last feature of 1, an estimate, and the inverse of a plausible A."""
    rng = np.random.default_rng(seed)
    offered = rng.standard_normal((arms, dimension))
    offered[:, -1] = 1.0
    root = rng.standard_normal((dimension, 3 * dimension))
    return offered, rng.standard_normal(dimension), np.linalg.inv(root @ root.T + 0.1 * np.eye(dimension))


def chances(arms, estimate, inverse, greed=AUTO, noise=0.1, width=FIXED, squares=0.0, turns=0.0):
    rule = GapRule(0.1, IGW, False, greed, noise, width, width)
    scratch = scratch_for(*arms.shape)
    weigh_gaps(arms, estimate, inverse, 1.0, squares, turns, rule, scratch)
    return scratch[0, 0, : len(arms)].copy()


@pytest.mark.parametrize("greed", [AUTO, 0.0, 1.0, 1e6])
@pytest.mark.parametrize("arms", [1, 2, 7, 60])
def test_chances_are_not_negative_and_sum_to_one(greed, arms):
    for seed in range(50):
        found = chances(*world(seed, arms=arms), greed=greed)
        assert (found >= 0).all()
        assert found.sum() == pytest.approx(1.0, abs=1e-12)


@pytest.mark.parametrize("size", [0.5, 10.0])
def test_without_doubt_arms_that_differ_by_more_than_rounding_are_not_plausible(size):
    tie = 1e-9 * max(1.0, size)
    arms = np.array([[size], [size - 0.5 * tie], [size - 1.5 * tie]])
    found = chances(arms, np.ones(1), np.eye(1), width=Width(0.0, 0.0, 0.0))
    assert (found > 0).tolist() == [True, True, False]


def test_no_greed_is_uniform_and_much_greed_is_greedy():
    arms, estimate, inverse = world(1)
    np.testing.assert_allclose(chances(arms, estimate, inverse, greed=0.0), 1 / 6, atol=1e-15)
    greedy = chances(arms, estimate, inverse, greed=1e12)
    assert greedy.argmax() == (arms @ estimate).argmax()
    assert greedy.max() > 1 - 1e-9


def test_better_arms_are_likelier():
    arms, estimate, inverse = world(2)
    found = chances(arms, estimate, inverse, greed=10.0)
    assert np.argsort(found).tolist() == np.argsort(arms @ estimate).tolist()


@pytest.mark.parametrize("greed", [AUTO, 3.0])
def test_a_shift_of_all_scores_changes_nothing(greed):
    for seed in range(20):
        arms, estimate, inverse = world(seed)
        shifted = estimate + np.array([0, 0, 0, 5.0])
        np.testing.assert_allclose(
            chances(arms, estimate, inverse, greed), chances(arms, shifted, inverse, greed), atol=1e-9
        )


@pytest.mark.parametrize("scale", [0.125, 8.0, 1000.0])
def test_with_auto_the_unit_of_rewards_does_not_matter(scale):
    for seed in range(20):
        arms, estimate, inverse = world(seed)
        estimate = estimate + np.array([0, 0, 0, 100.0])  # scores well above 1, so that the tie rule scales too
        one = chances(arms, estimate, inverse, noise=0.3, squares=2.0, turns=5.0)
        other = chances(
            arms, scale * estimate, inverse, noise=scale * 0.3, width=Width(scale * 0.7, 0.0, 0.0),
            squares=scale**2 * 2.0, turns=5.0,
        )  # fmt: skip
        np.testing.assert_allclose(one, other, atol=1e-9)


def test_an_arm_that_is_surely_worse_has_no_chance_with_auto():
    arms = np.array([[1.0, 0.0], [0.9, 0.1], [0.0, 1.0]])
    found = chances(arms, np.array([1.0, -50.0]), 0.01 * np.eye(2))
    assert found[2] == 0.0
    assert chances(arms, np.array([1.0, -50.0]), 0.01 * np.eye(2), greed=5.0)[2] > 0.0


def test_where_nothing_can_be_learnt_all_arms_are_alike():
    np.testing.assert_allclose(chances(np.zeros((4, 2)), np.ones(2), np.eye(2)), 0.25, atol=1e-15)


def test_larger_errors_than_the_noise_allows_lower_the_greed():
    arms, estimate, inverse = world(3)
    width = Width(100.0, 0.0, 0.0)  # so that all arms are plausible
    calm = chances(arms, estimate, inverse, noise=0.1, width=width)
    shaken = chances(arms, estimate, inverse, noise=0.1, width=width, squares=400.0, turns=4.0)
    assert shaken.max() < calm.max()
    assert noise_of(400.0, 4.0, 0.1) == pytest.approx(math.sqrt((0.01 + 400) / 5))
    assert noise_of(0.0, 50.0, 0.1) == 0.1, "not less than what was told"


def test_compiled_lots_are_those_of_python():
    rng = np.random.default_rng(4)
    for _ in range(500):
        found, normal = rng.dirichlet(np.ones(5)), rng.standard_normal()
        assert lot_of(normal) == lots.lot_of(normal)
        assert arm_by_lot(found, lot_of(normal)) == lots.arm_by_lot(found, lots.lot_of(normal))
