"""The synthetic linear world is what the specification says, and the same for everybody who asks for a seed."""

import numpy as np
import pytest

from fedbandit.core.errors import InvalidInput
from fedbandit.core.randomness import stream
from fedbandit.environments.linear import Linear

SMALL = {"clients": 7, "arms": 4, "dimension": 3, "pool": 20}


def turns(world, count=60, seed=0, block=1000):
    """All turns of a seed as one: clients, features, payoff, mean."""
    blocks = list(world.turns(count, seed, block))
    return tuple(
        np.concatenate(each)
        for each in zip(
            *((block.client, block.features, block.outcomes.payoff, block.outcomes.mean) for block in blocks),
            strict=True,
        )
    )


@pytest.mark.parametrize("source", ["pool", "sphere"])
@pytest.mark.parametrize("arrivals", ["uniform", "skewed", "round-robin"])
@pytest.mark.parametrize("block", [1, 7, 59, 60])
def test_a_seed_gives_the_same_world_for_any_size_of_blocks(source, arrivals, block):
    world = Linear(**SMALL, source=source, arrivals=arrivals)
    for whole, cut in zip(turns(world), turns(world, block=block), strict=True):
        np.testing.assert_array_equal(whole, cut)


def test_fewer_turns_are_the_first_of_more():
    world = Linear(**SMALL)
    for more, fewer in zip(turns(world), turns(world, count=25), strict=True):
        np.testing.assert_array_equal(more[:25], fewer)


@pytest.mark.parametrize("source", ["pool", "sphere"])
def test_another_seed_gives_another_world(source):
    world = Linear(**SMALL, source=source)
    for one, other in zip(turns(world, seed=0), turns(world, seed=1), strict=True):
        assert (one != other).any()


def test_blocks_are_no_longer_than_asked_for_and_together_as_many_turns():
    sizes = [len(block) for block in Linear(**SMALL).turns(60, 0, 25)]
    assert sizes == [25, 25, 10]


@pytest.mark.parametrize("source", ["pool", "sphere"])
def test_arms_have_unit_norm(source):
    features = turns(Linear(**SMALL, source=source))[1]
    assert features.shape == (60, 4, 3)
    np.testing.assert_allclose(np.linalg.norm(features, axis=-1), 1.0, atol=1e-12)


def test_the_pool_is_that_of_the_authors_and_the_arms_of_a_turn_are_distinct_members_of_it():
    world, seed = Linear(clients=2, arms=15, dimension=4, pool=16), 5
    deviation = [np.sqrt((4 - i) / 4) for i in range(4)]  # coordinate i has variance (d - i) / d
    raw = stream(seed, "pool").standard_normal((16, 4)) * deviation
    pool = {tuple((row / np.linalg.norm(row)).round(12)) for row in raw}
    met = set()
    for offer in turns(world, count=200, seed=seed)[1]:
        members = {tuple(arm.round(12)) for arm in offer}
        assert len(members) == 15
        assert members <= pool
        met |= members
    assert met == pool, "every member of the pool is on offer at some time"


def test_each_member_of_the_pool_is_offered_equally_often():
    world = Linear(clients=1, arms=5, dimension=2, pool=10)
    features = turns(world, count=4000)[1].reshape(-1, 2)
    counts = np.unique(features.round(12), axis=0, return_counts=True)[1]
    assert len(counts) == 10
    assert np.abs(counts - 2000).max() < 200


def test_the_pools_later_coordinates_vary_less():
    world = Linear(clients=1, arms=1000, dimension=10, pool=1000)
    variance = (turns(world, count=1)[1][0] ** 2).mean(axis=0)
    expected = np.arange(10, 0, -1) / 10
    np.testing.assert_allclose(variance / variance.sum(), expected / expected.sum(), atol=0.03)


@pytest.mark.parametrize("source", ["pool", "sphere"])
def test_expected_rewards_are_linear_with_one_unit_parameter_for_all(source):
    _, features, _, mean = turns(Linear(**SMALL, source=source))
    theta = np.linalg.lstsq(features.reshape(-1, 3), mean.ravel())[0]
    np.testing.assert_allclose(features @ theta, mean, atol=1e-12)
    assert np.linalg.norm(theta) == pytest.approx(1.0)


def test_rewards_are_the_means_plus_noise_of_the_declared_scale():
    *_, payoff, mean = turns(Linear(**SMALL, noise=0.3), count=5000)
    noise = payoff - mean
    assert noise.std() == pytest.approx(0.3, rel=0.05)
    assert noise.mean() == pytest.approx(0.0, abs=0.02)
    *_, payoff, mean = turns(Linear(**SMALL, noise=0))
    np.testing.assert_array_equal(payoff, mean)


def test_the_noise_does_not_depend_on_how_many_arms_there_are():
    few, many = (turns(Linear(**{**SMALL, "arms": arms})) for arms in (2, 5))
    np.testing.assert_allclose((few[2] - few[3])[:, 0], (many[2] - many[3])[:, 0], atol=1e-12)
    assert (few[0] == many[0]).all()


def test_the_setting_has_the_sizes_and_three_hundred_turns_a_client():
    setting = Linear(**SMALL).setting()
    assert (setting.clients, setting.arms, setting.dimension, setting.horizon) == (7, 4, 3, 2100)


@pytest.mark.parametrize(
    ("how", "sentence"),
    [
        ({"pool": 3}, "pool=3 has fewer arms than the arms=4 of a turn: make the pool larger"),
        ({"noise": -1}, "noise must be at least 0, not -1: give a number in that range"),
        ({"arrivals": "skew"}, "unknown arrivals 'skew': did you mean 'skewed'?"),
        ({"clients": 0}, "clients must be at least 1, not 0: give a whole number in that range"),
        ({"source": "pond"}, "unknown source 'pond': known: pool, sphere"),
    ],
)
def test_a_world_that_cannot_be_is_refused_in_one_sentence(how, sentence):
    with pytest.raises(InvalidInput) as error:
        Linear(**{**SMALL, **how})
    assert str(error.value) == sentence


def test_a_small_pool_is_no_matter_where_arms_come_from_the_sphere():
    assert Linear(**{**SMALL, "pool": 1, "source": "sphere"}).setting().arms == 4
