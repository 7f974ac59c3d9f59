"""The transcription of Async-LinUCB-AM: its start, its bill, conservation, and that it learns."""

import numpy as np
import pytest

from reference.am import alternate, async_linucb_am, generalised_inverse
from reference.linear_ends import local_linucb
from reference.recorded import personal_turns, turn_regret


@pytest.fixture(scope="module")
def world():
    return personal_turns(seed=1, turns=200, clients=4, arms=5, dimension=5, global_dimension=3)


def started(world, run):
    return np.arange(200) >= run["start_turn"][world["client"]]


def test_the_generalised_inverse_leaves_out_what_is_below_the_cut():
    directions = np.linalg.qr(np.random.default_rng(0).standard_normal((3, 3)))[0]
    matrix = directions @ np.diag([4.0, 1e-3, 1e-9]) @ directions.T
    expected = directions @ np.diag([0.25, 1e3, 0.0]) @ directions.T
    np.testing.assert_allclose(generalised_inverse(matrix), expected, atol=1e-6)


def test_an_alternation_solves_the_joint_least_squares_that_it_alternates_over():
    rng = np.random.default_rng(0)
    xs, theta = rng.standard_normal((40, 5)), np.array([0.3, -0.2, 0.4, 0.5, -0.1])
    nothing = [(np.zeros((size, size)), np.zeros(size)) for size in (3, 2)]
    data = (*nothing, xs[:, :3], xs[:, 3:], xs @ theta)
    theta_g, theta_l = alternate(np.zeros(3), np.zeros(2), *data, 1000)
    np.testing.assert_allclose(np.concatenate([theta_g, theta_l]), theta, atol=1e-8)
    # Started from the answer it stops after one pass; with one pass from afar it has not arrived.
    again = alternate(theta_g, theta_l, *data, 1000)
    np.testing.assert_allclose(again[0], theta_g, atol=1e-10)
    assert np.linalg.norm(alternate(np.zeros(3), np.zeros(2), *data, 1)[0] - theta[:3]) > 1e-3


@pytest.mark.parametrize("gammas", [(1.0, 1.0), (1.3, 2.0), (5.0, 5.0)])
def test_the_global_part_is_conserved_over_the_clients_that_have_started(world, gammas):
    run = async_linucb_am(world, upload_threshold=gammas[0], download_threshold=gammas[1], global_dimension=3)
    # Every observation of a client that has started counts, those kept from before its start included.
    mine = run["start_turn"][world["client"]] >= 0
    turns = np.arange(200)[mine]
    x_g = world["arms"][turns, run["arm"][turns], :3]
    np.testing.assert_allclose(run["V_g"] + run["dV"].sum(axis=0), x_g.T @ x_g, atol=1e-10)
    x_l = world["arms"][turns, run["arm"][turns], 3:]
    np.testing.assert_allclose(run["V_l"].sum(axis=0), x_l.T @ x_l, atol=1e-10)
    assert run["scalars"][-1] == run["messages"][-1] * (9 + 3)
    assert run["messages"][-1] > 0


def test_before_its_start_a_client_is_plain_linucb_alone(world):
    run = async_linucb_am(world, global_dimension=3)
    before = ~started(world, run)
    # The turn that starts is still chosen by plain LinUCB.
    before[run["start_turn"][run["start_turn"] >= 0]] = True
    assert before.sum() > 12
    assert np.array_equal(run["arm"][before], local_linucb(world)["arm"][before])


def test_alone_a_client_starts_when_its_own_data_have_full_rank(world):
    run = async_linucb_am(world, upload_threshold=np.inf, download_threshold=np.inf, global_dimension=3)
    for i in range(4):
        assert run["start_turn"][i] == np.flatnonzero(world["client"] == i)[5 - 1]
    assert run["messages"][-1] == 0


def test_a_download_of_full_rank_starts_a_client_sooner():
    world = personal_turns(seed=1, turns=60, clients=3, arms=5, dimension=5, global_dimension=3)
    world["client"] = np.array([0] * 20 + [1] + [0] * 19 + [2] + [1] * 19)
    run = async_linucb_am(world, upload_threshold=1.0, download_threshold=1.0, global_dimension=3)
    assert run["start_turn"].tolist() == [4, 41, -1]


def test_estimates_stay_in_the_unit_ball_and_the_turn_that_starts_may_upload(world):
    run = async_linucb_am(world, upload_threshold=1.0, global_dimension=3)
    assert np.linalg.norm(run["theta_g"], axis=1).max() <= 1 + 1e-12
    assert np.linalg.norm(run["theta_l"], axis=1).max() <= 1 + 1e-12
    first = run["start_turn"][run["start_turn"] >= 0].min()
    assert np.flatnonzero(run["messages"])[0] == first
    assert run["uploads"] == started(world, run).sum()


def test_shared_features_use_all_of_x_twice():
    world = personal_turns(seed=3, turns=120, clients=3, arms=5, dimension=3, shared_features=True)
    run = async_linucb_am(world, shared_features=True)
    assert run["V_g"].shape == (3, 3)
    assert run["V_l"].shape == (3, 3, 3)
    assert run["scalars"][-1] == run["messages"][-1] * (9 + 3)
    alone = async_linucb_am(world, shared_features=True, upload_threshold=np.inf)
    for i in range(3):  # the rank of x x^T decides, not that of [x; x], which is never full
        assert alone["start_turn"][i] == np.flatnonzero(world["client"] == i)[3 - 1]


def test_it_beats_chance_and_finds_the_shared_part():
    world = personal_turns(seed=2, turns=400, clients=4, arms=6, dimension=5, global_dimension=4, noise=0.05)
    run = async_linucb_am(world, global_dimension=4, upload_threshold=1.2, download_threshold=1.2, noise=0.05)
    chance = turn_regret(world, np.random.default_rng(0).integers(6, size=400)).sum()
    assert turn_regret(world, run["arm"]).sum() < 0.7 * chance
    spread = np.linalg.norm(run["theta_g"] - run["theta_g"].mean(axis=0), axis=1)
    assert spread.max() < 0.2
    for i in range(4):  # what is kept of the local part explains itself by the local estimate
        np.testing.assert_allclose(run["b_l"][i], run["V_l"][i] @ run["theta_l"][i], atol=1.5)
        assert np.linalg.norm(run["b_l"][i]) > 3
