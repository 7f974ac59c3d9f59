"""A world that changes: theta turns as said, in one plane, and nothing else differs from the world that stays."""

import numpy as np
import pytest

import fedbandit as fb
from fedbandit.environments.drifting import Drifting

SIZES = {"clients": 4, "arms": 5, "dimension": 6}


def block_of(world, turns=200, seed=0):
    return next(world.turns(turns, seed, turns))


def angles(world, turns, seed=0):
    """By how many degrees theta has turned before each of some turns."""
    theta = world.parameter(seed, np.array([0, *turns]))
    np.testing.assert_allclose(np.linalg.norm(theta, axis=1), 1.0)
    return np.degrees(np.arccos(np.clip(theta[1:] @ theta[0], -1, 1)))


@pytest.mark.parametrize("source", ["pool", "sphere"])
def test_a_still_world_is_the_homogeneous_one(source):
    ours = block_of(Drifting(**SIZES, drift="still", source=source))
    plain = block_of(fb.environment("linear", **SIZES, source=source))
    np.testing.assert_array_equal(ours.outcomes.payoff, plain.outcomes.payoff)
    np.testing.assert_array_equal(ours.features, plain.features)


@pytest.mark.parametrize("drift", ["abrupt", "slow"])
@pytest.mark.parametrize("source", ["pool", "sphere"])
def test_means_are_linear_in_the_theta_of_the_turn_and_arms_and_noise_are_those_of_the_still_world(drift, source):
    world = Drifting(**SIZES, drift=drift, length=100, source=source)
    block, still = block_of(world), block_of(Drifting(**SIZES, drift="still", source=source))
    theta = world.parameter(0, np.arange(200))
    for turn in range(200):
        np.testing.assert_allclose(block.outcomes.mean[turn], block.features[turn] @ theta[turn], atol=1e-12)
    np.testing.assert_array_equal(block.features, still.features)
    np.testing.assert_array_equal(block.client, still.client)
    np.testing.assert_allclose(
        block.outcomes.payoff - block.outcomes.mean, still.outcomes.payoff - still.outcomes.mean, atol=1e-12
    )


def test_an_abrupt_world_turns_at_once_and_only_then():
    world = Drifting(**SIZES, drift="abrupt", length=101)
    np.testing.assert_allclose(angles(world, [0, 49, 50, 99, 500]), [0, 0, 120, 120, 120], atol=1e-6)


def test_a_slow_world_turns_evenly_and_goes_on():
    world = Drifting(**SIZES, drift="slow", length=100)
    np.testing.assert_allclose(angles(world, [0, 1, 25, 50, 100]), [0, 1.8, 45, 90, 180], atol=1e-5)
    np.testing.assert_allclose(angles(world, [150]), [90], atol=1e-5)  # 270 on the way round


def test_the_angle_can_be_chosen():
    world = Drifting(**SIZES, drift="abrupt", degrees=45, length=10)
    np.testing.assert_allclose(angles(world, [4, 5]), [0, 45], atol=1e-6)


def test_it_turns_in_one_plane():
    theta = Drifting(**SIZES, drift="slow", length=100).parameter(3, np.arange(100))
    assert np.linalg.matrix_rank(theta, tol=1e-9) == 2


def test_the_length_is_the_natural_number_of_turns():
    assert Drifting(**SIZES, length=77).setting().horizon == 77
    assert Drifting(**SIZES).setting().horizon == 1200


@pytest.mark.parametrize(
    ("how", "sentence"),
    [
        ({"dimension": 1}, "dimension=1 leaves theta nowhere to turn: give at least 2, or drift=still"),
        ({"length": 1}, "length must be at least 2, not 1: give a whole number in that range"),
        ({"degrees": 400}, "degrees must be at least 0 and at most 360, not 400: give a number in that range"),
        ({"drift": "sudden"}, "unknown drift 'sudden': known: abrupt, slow, still"),
    ],
)
def test_a_world_that_cannot_be_is_refused_in_one_sentence(how, sentence):
    with pytest.raises(fb.InvalidInput) as error:
        Drifting(**{**SIZES, **how})
    assert str(error.value) == sentence


def test_one_dimension_is_enough_for_a_world_that_stays():
    assert Drifting(**{**SIZES, "dimension": 1, "drift": "still"}).setting().dimension == 1


def test_heavy_tails_change_the_noise_alone_and_keep_its_deviation():
    normal, heavy = (
        block_of(Drifting(**SIZES, drift="slow", length=100, tails=tails), turns=20_000)
        for tails in ("normal", "heavy")
    )
    np.testing.assert_array_equal(heavy.outcomes.mean, normal.outcomes.mean)
    noise = (heavy.outcomes.payoff - heavy.outcomes.mean)[:, 0]
    assert noise.std() == pytest.approx(0.1, rel=0.1)
    assert np.abs(noise).max() > 0.8, "eight deviations, which no normal noise of this length shows"
