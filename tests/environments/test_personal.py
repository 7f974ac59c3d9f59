"""The heterogeneous world: one part of the reward for all, one for each."""

import numpy as np
import pytest

import fedbandit as fb


def everything(world, turns=4000, seed=0):
    return next(world.turns(turns, seed, turns))


def own_parameters(block, clients):
    """Return each client's whole parameter, from the exact means of its arms."""
    features, mean = block.features, block.outcomes.mean
    return np.array(
        [
            np.linalg.lstsq(
                features[block.client == client].reshape(-1, features.shape[2]),
                mean[block.client == client].ravel(),
                rcond=None,
            )[0]
            for client in range(clients)
        ]
    )


@pytest.mark.parametrize("source", ["pool", "sphere"])
def test_the_first_features_weigh_the_same_for_all_and_the_rest_differ(source):
    world = fb.environment("personal", clients=5, arms=4, dimension=6, global_dimension=4, source=source)
    theta = own_parameters(everything(world), 5)
    np.testing.assert_allclose(theta[:, :4], np.broadcast_to(theta[0, :4], (5, 4)), atol=1e-9)
    assert np.linalg.norm(theta[0, 4:] - theta[1, 4:]) > 1e-3
    np.testing.assert_allclose(np.linalg.norm(theta[:, :4], axis=1), 1.0)
    np.testing.assert_allclose(np.linalg.norm(theta[:, 4:], axis=1), 1.0)


def test_with_every_feature_shared_it_is_the_homogeneous_world():
    sizes = {"clients": 3, "arms": 4, "dimension": 5}
    ours, plain = fb.environment("personal", **sizes, global_dimension=5), fb.environment("linear", **sizes)
    left, right = everything(ours, 50), everything(plain, 50)
    np.testing.assert_array_equal(left.outcomes.payoff, right.outcomes.payoff)
    np.testing.assert_array_equal(left.features, right.features)


def test_with_no_feature_shared_each_client_is_on_its_own():
    world = fb.environment("personal", clients=3, arms=4, dimension=5, global_dimension=0)
    theta = own_parameters(everything(world), 3)
    assert np.linalg.norm(theta[0] - theta[1]) > 1e-3


def test_blocks_of_any_length_show_the_same_world():
    world = fb.environment("personal", clients=3, arms=4, dimension=5)
    whole = everything(world, 60, seed=7)
    parts = list(world.turns(60, 7, 17))
    np.testing.assert_allclose(np.concatenate([part.outcomes.mean for part in parts]), whole.outcomes.mean, atol=1e-12)
    np.testing.assert_array_equal(np.concatenate([part.client for part in parts]), whole.client)


def test_more_shared_features_than_features_are_refused():
    with pytest.raises(fb.InvalidInput, match="global_dimension=9, but arms have dimension=5"):
        fb.environment("personal", dimension=5, global_dimension=9)
