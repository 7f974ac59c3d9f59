"""The synthetic dueling world."""

from __future__ import annotations

import numpy as np
import pytest

import fedbandit as fb


def whole(world, count, seed=0, block=None):
    blocks = list(world.turns(count, seed, block or count))
    utility = np.concatenate([each.outcomes.utility for each in blocks])
    coin = np.concatenate([each.outcomes.coin for each in blocks])
    return (
        np.concatenate([each.client for each in blocks]),
        np.concatenate([each.features for each in blocks]),
        utility,
        coin,
    )


def theta_of(features, utility):
    rows, values = features.reshape(-1, features.shape[-1]), utility.ravel()
    return np.linalg.lstsq(rows, values, rcond=None)


def test_blocks_do_not_change_the_world():
    world = fb.environment("dueling", clients=4, arms=3, dimension=2, spread=0.3)
    for one, many in zip(whole(world, 24), whole(world, 24, block=8), strict=True):
        assert (one == many).all()


def test_a_seed_is_a_world_and_another_seed_another():
    world = fb.environment("dueling", clients=4, arms=3, dimension=2)
    assert (whole(world, 8, seed=1)[1] == whole(world, 8, seed=1)[1]).all()
    assert (whole(world, 8, seed=1)[1] != whole(world, 8, seed=2)[1]).any()


def test_every_client_acts_once_a_round_in_order():
    client, *_ = whole(fb.environment("dueling", clients=3), 9)
    assert client.tolist() == [0, 1, 2] * 3


def test_without_spread_one_theta_explains_every_utility():
    _, features, utility, _ = whole(fb.environment("dueling", clients=5, arms=4, dimension=3), 50)
    theta, rest, *_ = theta_of(features, utility)
    assert rest[0] < 1e-20
    assert np.linalg.norm(theta) > 0


def test_with_spread_every_client_has_a_theta_of_its_own_at_that_distance():
    clients, size, spread = 400, 5, 0.3
    world = fb.environment("dueling", clients=clients, arms=4, dimension=size, spread=spread)
    client, features, utility, _ = whole(world, 4 * clients)
    common = theta_of(*whole(fb.environment("dueling", clients=clients, arms=4, dimension=size), 4 * clients)[1:3])[0]
    own = np.array([theta_of(features[client == i], utility[client == i])[0] for i in range(clients)])
    assert (own - common).std() == pytest.approx(spread, rel=0.1)
    assert np.abs((own - common).mean()) < 0.05


def test_arms_are_standard_normal_and_coins_uniform():
    _, features, _, coin = whole(fb.environment("dueling", clients=10, arms=10, dimension=5), 2000)
    assert features.std() == pytest.approx(1.0, rel=0.02)
    assert coin.min() >= 0
    assert coin.max() < 1
    assert coin.mean() == pytest.approx(0.5, abs=0.03)


def test_a_negative_spread_is_refused():
    with pytest.raises(fb.InvalidInput, match="spread must be at least 0, not -1"):
        fb.environment("dueling", spread=-1)
