"""The sparse world: what its parameters are made of, and that one seed is one world."""

import numpy as np
import pytest

import fedbandit as fb


def test_each_parameter_has_its_support_among_the_arms_candidates():
    world = fb.environment("sparse", clients=6, arms=4, dimension=50, support=3, candidates=5)
    parameter = world.parameter(seed=2)
    assert ((parameter != 0).sum(axis=2) == 3).all()
    assert ((parameter != 0).any(axis=0).sum(axis=1) <= 5).all()
    assert (parameter >= 0).all()
    assert (parameter <= 1).all()
    assert not np.array_equal(parameter[0], parameter[1])


def test_identical_clients_share_their_parameters():
    parameter = fb.environment("sparse", clients=3, clients_are="identical").parameter(seed=0)
    assert (parameter == parameter[0]).all()


def test_more_clients_leave_the_parameters_of_the_first_as_they_were():
    few, many = (fb.environment("sparse", clients=clients).parameter(seed=5) for clients in (2, 7))
    assert np.array_equal(few, many[:2])


def test_means_are_products_and_rewards_have_the_noise():
    world = fb.environment("sparse", clients=3, dimension=30, noise=0.5)
    block = next(world.turns(3000, seed=1, block=3000))
    parameter = world.parameter(seed=1)
    expected = np.einsum("tkd,td->tk", parameter[block.client], block.features)
    np.testing.assert_allclose(block.outcomes.mean, expected)
    noise = block.outcomes.payoff - block.outcomes.mean
    assert abs(noise.std() - 0.5) < 0.03
    assert block.client[:4].tolist() == [0, 1, 2, 0]


def test_blocks_do_not_change_the_world():
    world = fb.environment("sparse", clients=2, dimension=12)
    whole = next(world.turns(20, seed=3, block=20))
    parts = list(world.turns(20, seed=3, block=6))
    assert np.array_equal(np.concatenate([part.features for part in parts]), whole.features)
    assert np.array_equal(np.concatenate([part.outcomes.payoff for part in parts]), whole.outcomes.payoff)


@pytest.mark.parametrize("sizes", [{"support": 11}, {"dimension": 8}])
def test_a_support_that_cannot_be_drawn_is_refused(sizes):
    with pytest.raises(fb.InvalidInput, match="no larger than"):
        fb.environment("sparse", **sizes)
