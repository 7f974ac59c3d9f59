"""The dueling transcriptions: their schedule, their bill, and that they learn."""

import numpy as np
import pytest

from reference.dueling import fldb_gd, fldb_ogd, ldb, loss_gradient, minimise_loss
from reference.recorded import dueling_rounds, turn_regret


@pytest.fixture(scope="module")
def world():
    return dueling_rounds(seed=1, rounds=24, clients=8, arms=5, dimension=3)


def regret(world, run):
    return turn_regret(world, run["arm"], run["rival"]).sum()


def test_the_minimiser_has_no_gradient_even_where_the_duels_are_separable():
    differences = np.array([[1.0, 0.0], [0.0, 2.0], [1.0, 1.0]])
    wins = np.ones(3)
    theta = minimise_loss(differences, wins, ridge=0.002)
    np.testing.assert_allclose(loss_gradient(theta, differences, wins) + 0.002 * theta, 0.0, atol=1e-13)
    assert np.linalg.norm(theta) > 3


def test_the_federated_algorithms_beat_being_alone_and_random(world):
    random = np.random.default_rng(0).integers(5, size=(2, len(world["client"])))
    by_chance = turn_regret(world, random[0], random[1]).sum()
    alone, descent = regret(world, ldb(world)), regret(world, fldb_gd(world))
    online = regret(world, fldb_ogd(world))
    assert descent < alone < by_chance
    assert online < alone


@pytest.mark.parametrize(
    ("period", "expected"), [(1, list(range(1, 25))), (5, [1, 5, 10, 15, 20]), (7, [1, 7, 14, 21])]
)
def test_ogd_communicates_in_round_one_and_then_every_period(world, period, expected):
    run = fldb_ogd(world, period=period)
    assert run["communication_rounds"] == expected
    assert len(run["estimates"]) == len(expected)
    assert run["messages"][-1] == 2 * 8 * len(expected)
    assert run["scalars"][-1] == 8 * len(expected) * (3 + 9 + 6 + 9)
    moved = np.flatnonzero(np.diff(run["messages"], prepend=0))
    assert moved.tolist() == [8 * t - 1 for t in expected]
    np.testing.assert_allclose(run["theta_sync"], run["estimates"].mean(axis=0), atol=1e-12)


def test_no_duel_is_lost_from_the_matrix(world):
    turns = np.arange(len(world["client"]))
    for run, ridge in [(fldb_ogd(world), 1 / 24), (fldb_gd(world, ridge=0.1), 0.1)]:
        v = world["arms"][turns, run["arm"]] - world["arms"][turns, run["rival"]]
        np.testing.assert_allclose(run["W_sync"], ridge / 0.25 * np.eye(3) + v.T @ v, atol=1e-9)


def test_the_order_of_clients_in_a_round_does_not_matter_to_gd(world):
    turned = {name: array.reshape(24, 8, *array.shape[1:])[:, ::-1] for name, array in world.items()}
    turned = {name: array.reshape(world[name].shape) for name, array in turned.items()}
    arm = fldb_gd(turned)["arm"].reshape(24, 8)[:, ::-1].ravel()
    assert np.array_equal(arm, fldb_gd(world)["arm"])


def test_both_federated_algorithms_agree_on_the_first_estimate(world):
    online, descent = fldb_ogd(world), fldb_gd(world)
    np.testing.assert_allclose(online["estimates"][0], descent["estimates"][0], atol=1e-11)
    assert np.array_equal(online["arm"][:16], descent["arm"][:16])
    assert np.array_equal(online["rival"][:16], descent["rival"][:16])


def test_steps_are_projected_on_the_ball_around_the_old_place(world):
    run = fldb_ogd(world, step_scale=1e-9, ridge=5.0, curvature=1.0)
    radius = np.sqrt((2 * np.log(100) + 3 * np.log(1 + 24 * 8 / (3 * 5.0))) / 5.0)
    steps = np.linalg.norm(np.diff(run["estimates"], axis=0), axis=1)
    assert (steps > 0).sum() > 10  # a round in which every arm met itself has no gradient
    np.testing.assert_allclose(steps[steps > 0], 2 * radius)


def test_the_averaged_gradient_steps_less_with_a_longer_period(world):
    literal = fldb_ogd(world, period=4)["estimates"]
    averaged = fldb_ogd(world, period=4, average_gradient=True)["estimates"]
    np.testing.assert_allclose(averaged[1] - averaged[0], (literal[1] - literal[0]) / (4 * 3), rtol=1e-9)
    same = fldb_ogd(world)["estimates"], fldb_ogd(world, average_gradient=True)["estimates"]
    np.testing.assert_allclose(*same, rtol=1e-12)


def test_alone_nothing_is_sent(world):
    assert ldb(world, beta=0.25)["messages"][-1] == 0


def test_zero_beta_duels_the_greedy_arm_with_itself(world):
    run = fldb_gd(world, beta=0.0)
    assert np.array_equal(run["arm"], run["rival"])
