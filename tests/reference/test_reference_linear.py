"""The linear transcriptions keep the family's invariants."""

import numpy as np
import pytest

from reference.linear import async_linucb, sync_linucb
from reference.linear_ends import local_linucb, pooled_linucb
from reference.recorded import count_clients, linear_turns, lowest_best, turn_regret


def observed(world, arm):
    turns = np.arange(len(arm))
    x, y = world["arms"][turns, arm], world["reward"][turns, arm]
    return x.T @ x, x.T @ y


@pytest.fixture
def world():
    return linear_turns(seed=3, turns=240, clients=6, arms=5, dimension=4, skew=1.0)


def test_ties_within_the_tolerance_go_to_the_lowest_index():
    assert lowest_best([0.0, 1.0 - 5e-10, 1.0]) == 1
    assert lowest_best([0.0, 1.0 - 2e-9, 1.0]) == 2
    assert lowest_best([100.0 - 5e-8, 100.0]) == 0


def test_a_recorded_world_is_dense_and_repeatable(world):
    assert set(world["client"]) == set(range(6))
    again = linear_turns(seed=3, turns=240, clients=6, arms=5, dimension=4, skew=1.0)
    assert all(np.array_equal(world[name], again[name]) for name in world)


@pytest.mark.parametrize("gammas", [(1.0, 1.0), (1.2, 5.0), (2.0, 2.0), (5.0, 1.1)])
@pytest.mark.parametrize("exploration", ["ucb", "thompson", "perturbed"])
def test_async_loses_and_repeats_nothing(world, gammas, exploration):
    draws = np.random.default_rng(0).standard_normal((240, 4))
    run = async_linucb(
        world,
        upload_threshold=gammas[0],
        download_threshold=gammas[1],
        exploration=exploration,
        draws=draws,
    )
    total_v, total_b = observed(world, run["arm"])
    np.testing.assert_allclose(run["V_g"] + run["dV"].sum(axis=0), total_v, atol=1e-10)
    np.testing.assert_allclose(run["b_g"] + run["db"].sum(axis=0), total_b, atol=1e-10)
    for j in range(6):  # identity (1): the copy last shared
        shared = run["V_g"] - run["unsent_V"][j]
        np.testing.assert_allclose(run["V"][j] - run["dV"][j], shared, atol=1e-10)
    assert run["messages"][-1] == run["uploads"] + run["downloads"] > 0
    assert run["scalars"][-1] == run["messages"][-1] * (4 * 4 + 4)


def test_unit_upload_threshold_uploads_every_turn(world):
    run = async_linucb(world, upload_threshold=1.0, download_threshold=np.inf)
    assert run["uploads"] == 240
    assert run["downloads"] == 0
    assert not run["dV"].any()


def test_a_zero_arm_uploads_nothing(world):
    world["arms"][100:] = 0.0
    run = async_linucb(world, upload_threshold=1.0, download_threshold=1.0)
    assert run["uploads"] == 100
    assert run["messages"][-1] == run["messages"][99]


def test_unit_thresholds_are_the_pooled_bandit_but_for_first_turns(world):
    for i in range(6):  # first turns offer one arm only, so that what a newcomer does not know cannot matter
        world["arms"][np.argmax(world["client"] == i)] = world["arms"][0, 0]
    run = async_linucb(world, upload_threshold=1.0, download_threshold=1.0)
    assert np.array_equal(run["arm"], pooled_linucb(world)["arm"])
    assert not run["unsent_V"].any()


def test_infinite_thresholds_send_nothing_and_are_the_local_bandit(world):
    run = async_linucb(world, upload_threshold=np.inf, download_threshold=np.inf)
    assert run["messages"][-1] == 0
    assert np.array_equal(run["arm"], local_linucb(world)["arm"])
    assert not run["V_g"].any()


def test_thresholds_may_differ_between_clients(world):
    uploads = np.full(count_clients(world), np.inf)
    uploads[2] = 1.0
    downloads = np.full(count_clients(world), np.inf)
    downloads[4] = 1.0
    run = async_linucb(world, upload_threshold=uploads, download_threshold=downloads)
    turns = np.arange(240)
    mine = (world["client"] == 2).sum()
    first = int(np.argmax(world["client"] == 4))
    assert run["uploads"] == mine
    assert run["downloads"] == ((world["client"] == 2) & (turns > first)).sum()


@pytest.mark.parametrize("threshold", [0.0, 1.0, 20.0])
def test_sync_exchanges_with_the_whole_roster_and_conserves(world, threshold):
    run = sync_linucb(world, sync_threshold=threshold)
    assert (run["messages"] % (2 * 6) == 0).all()
    assert run["messages"][-1] == 2 * 6 * run["rounds"]
    total_v, total_b = observed(world, run["arm"])
    np.testing.assert_allclose(run["V_g"] + run["dV"].sum(axis=0), total_v, atol=1e-10)
    np.testing.assert_allclose(run["b_g"] + run["db"].sum(axis=0), total_b, atol=1e-10)
    if threshold == 0.0:
        assert run["rounds"] == 240
        assert np.array_equal(run["arm"], pooled_linucb(world)["arm"])


def test_sync_counts_the_turns_since_the_last_synchronisation_by_hand():
    turns = 60
    world = {
        "client": np.zeros(turns, dtype=int),
        "arms": np.ones((turns, 1, 1)),
        "reward": np.ones((turns, 1)),
    }
    run = sync_linucb(world, sync_threshold=1.0, ridge=1.0)
    expected, shared = [], 0
    for turn in range(turns):
        since = turn + 1 - shared
        if since * np.log((1 + shared + since) / (1 + shared)) > 1.0:
            expected.append(turn)
            shared = turn + 1
    assert run["sync_turns"] == expected
    assert len(expected) > 3


def test_sharing_beats_being_alone():
    world = linear_turns(seed=5, turns=600, clients=20, arms=10, dimension=5)
    alone = turn_regret(world, local_linucb(world)["arm"]).sum()
    shared = turn_regret(world, async_linucb(world, upload_threshold=1.2)["arm"]).sum()
    pooled = turn_regret(world, pooled_linucb(world)["arm"]).sum()
    assert pooled < shared < alone < turn_regret(world, np.zeros(600, dtype=int)).sum()
