"""Clients in groups: as many parameters as groups, at the distance asked for; liars report what is said of them."""

import numpy as np
import pytest

import fedbandit as fb
from fedbandit.environments.grouped import Grouped

SIZES = {"clients": 12, "arms": 4, "dimension": 6}


def block_of(world, turns=600, seed=0):
    return next(world.turns(turns, seed, turns))


def test_one_group_is_the_homogeneous_world():
    for source in ("pool", "sphere"):
        ours = block_of(Grouped(**SIZES, groups=1, source=source))
        plain = block_of(fb.environment("linear", **SIZES, source=source))
        np.testing.assert_array_equal(ours.outcomes.payoff, plain.outcomes.payoff)
        np.testing.assert_array_equal(ours.features, plain.features)


@pytest.mark.parametrize("source", ["pool", "sphere"])
def test_the_means_of_a_client_are_those_of_its_group(source):
    world = Grouped(**SIZES, groups=3, source=source)
    block, theta, group = block_of(world), world.parameter(0), world.group_of(0)
    for turn in range(len(block)):
        np.testing.assert_allclose(
            block.outcomes.mean[turn], block.features[turn] @ theta[group[block.client[turn]]], atol=1e-12
        )


@pytest.mark.parametrize(("clients", "groups"), [(12, 4), (12, 5), (12, 12), (12, 1)])
def test_clients_are_dealt_to_groups_evenly_and_differently_for_each_seed(clients, groups):
    world = Grouped(clients=clients, groups=groups, arms=2, dimension=3)
    for seed in range(5):
        sizes = np.bincount(world.group_of(seed), minlength=groups)
        assert sizes.max() - sizes.min() <= 1
    if 1 < groups < clients:
        assert (world.group_of(0) != world.group_of(1)).any()


def test_parameters_have_length_1_and_are_independent_by_default():
    theta = Grouped(clients=400, groups=400, arms=2, dimension=10).parameter(0)
    np.testing.assert_allclose(np.linalg.norm(theta, axis=1), 1.0)
    apart = np.linalg.norm(theta[:200] - theta[200:], axis=1)
    assert apart.mean() == pytest.approx(np.sqrt(2), rel=0.05)


@pytest.mark.parametrize("distance", [0.0, 0.3, 1.0, np.sqrt(2)])
def test_at_a_distance_parameters_share_a_direction_and_differ_across_it(distance):
    theta = Grouped(clients=400, groups=400, arms=2, dimension=40, distance=distance).parameter(0)
    np.testing.assert_allclose(np.linalg.norm(theta, axis=1), 1.0)
    apart = np.linalg.norm(theta[:200] - theta[200:], axis=1)
    assert apart.mean() == pytest.approx(distance, rel=0.02, abs=1e-12)
    common = np.linalg.svd(theta)[2][0] if distance < 1 else None
    if common is not None:  # every parameter has the same share of the common direction
        np.testing.assert_allclose(np.abs(theta @ common), np.sqrt(1 - distance**2 / 2), atol=0.05)


LIES = {
    "flipped": lambda reward, arms: -reward,
    "extreme": lambda reward, arms: np.where(reward > 0, -10.0, 10.0),
    "slight": lambda reward, arms: reward + 0.2 * arms[:, :, 0],
}


@pytest.mark.parametrize("lie", LIES)
def test_liars_report_what_is_said_of_them_and_the_others_the_truth(lie):
    truth = block_of(Grouped(**SIZES, groups=2))
    told = block_of(Grouped(**SIZES, groups=2, liars=3, lie=lie))
    lies = truth.client < 3
    assert 0 < lies.sum() < len(lies)
    np.testing.assert_array_equal(told.features, truth.features)
    np.testing.assert_array_equal(told.outcomes.payoff[~lies], truth.outcomes.payoff[~lies])
    np.testing.assert_array_equal(told.outcomes.mean[~lies], truth.outcomes.mean[~lies])
    expected = LIES[lie](truth.outcomes.payoff, truth.features)
    np.testing.assert_array_equal(told.outcomes.payoff[lies], expected[lies])


def test_the_regret_of_liars_does_not_count():
    block = block_of(Grouped(**SIZES, liars=12))
    worst = block.outcomes.mean.argmin(axis=1)
    assert not block.outcomes.regret(slice(None), worst).any()


@pytest.mark.parametrize(
    ("how", "sentence"),
    [
        ({"groups": 13}, "groups=13, but there are clients=12: give at most that many"),
        ({"liars": 13}, "liars=13, but there are clients=12: give at most that many"),
        ({"groups": 0}, "groups must be at least 1, not 0: give a whole number in that range"),
        ({"distance": 2.0}, "distance must be at least 0 and at most 1.41421, not 2.0: give a number in that range"),
        ({"lie": "extrem"}, "unknown lie 'extrem': did you mean 'extreme'?"),
        (
            {"distance": 0.5, "dimension": 1},
            "distance=0.5 needs groups that differ across a common direction, but dimension=1: give a dimension of at "
            "least 2, or no distance",
        ),
    ],
)
def test_a_world_that_cannot_be_is_refused_in_one_sentence(how, sentence):
    with pytest.raises(fb.InvalidInput) as error:
        Grouped(**{**SIZES, **how})
    assert str(error.value) == sentence
