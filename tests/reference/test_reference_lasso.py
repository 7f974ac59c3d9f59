"""The lasso transcriptions: the solver, the stages, the bill, and that they learn."""

import numpy as np
import pytest

from reference.lasso import (
    ends_stage,
    fedego_lasso,
    lasso,
    lasso_bandit,
    private_level,
    selfish_arm,
    teamwork_lasso,
    teamwork_stage,
)
from reference.recorded import lasso_rounds, turn_regret


@pytest.fixture(scope="module")
def world():
    return lasso_rounds(seed=1, rounds=40, clients=4, arms=3, dimension=8)


@pytest.mark.parametrize(("n", "penalty"), [(30, 0.2), (5, 0.1), (12, 0.0), (1, 0.3)])
def test_coordinate_descent_satisfies_the_conditions_of_definition_one(n, penalty):
    rng = np.random.default_rng(n)
    x, y = rng.standard_normal((n, 8)), rng.standard_normal(n)
    beta = lasso(x, y, penalty, 1e-13)
    slope = 2 * x.T @ (y - x @ beta) / n  # no 1/2 in the square: the factor 2 stays
    active = beta != 0
    np.testing.assert_allclose(slope[active], penalty * np.sign(beta[active]), atol=1e-9)
    assert (np.abs(slope[~active]) <= penalty + 1e-9).all()
    assert active.any()


def test_a_penalty_above_the_largest_slope_gives_zero():
    rng = np.random.default_rng(0)
    x, y = rng.standard_normal((20, 5)), rng.standard_normal(20)
    edge = np.abs(2 * x.T @ y / 20).max()
    assert not lasso(x, y, edge * 1.001, 1e-12).any()
    assert lasso(x, y, edge * 0.999, 1e-12).any()


def test_stages_start_at_zero_and_double():
    stages = [teamwork_stage(t, arms=3, unit=2) for t in range(1, 50)]
    assert stages[:12] == [0] * 6 + [1] * 6
    assert stages[12:18] == [None] * 6
    assert stages[18:24] == [2] * 6
    assert stages[24:42] == [None] * 18
    assert stages[42:48] == [3] * 6
    assert [t for t in range(1, 50) if ends_stage(t, 3, 2)] == [6, 12, 24, 48]


@pytest.mark.parametrize("algorithm", [fedego_lasso, lasso_bandit, teamwork_lasso])
def test_teamwork_rounds_play_the_round_modulo_the_arms_at_every_client(world, algorithm):
    arm = algorithm(world)["arm"].reshape(40, 4)
    for t in [1, 2, 3, 4, 5, 6, 10, 11, 12, 22, 23, 24]:
        assert (arm[t - 1] == t % 3).all()


def test_fedego_sends_two_messages_a_client_at_the_end_of_each_stage(world):
    run = fedego_lasso(world)
    ends = [4 * t - 1 for t in (3, 6, 12, 24)]
    assert run["stage_ends"] == ends
    assert np.flatnonzero(np.diff(run["messages"], prepend=0)).tolist() == ends
    assert run["messages"][-1] == 2 * 4 * 4
    assert run["scalars"][-1] == 2 * 4 * 4 * (3 * 8)
    assert run["uploads"] == run["downloads"]


def test_the_baselines_bills(world):
    assert lasso_bandit(world)["messages"][-1] == 0
    run = teamwork_lasso(world)
    assert run["messages"].tolist() == list(range(1, 161))
    assert run["scalars"][-1] == 160 * 9


def test_the_federated_estimate_is_the_mean_of_the_clients_own(world):
    # Up to the end of the second stage every choice is forced, so both runs have the same teamwork data.
    short = {name: array[: 4 * 6] for name, array in world.items()}
    own, federated = lasso_bandit(short)["screening"], fedego_lasso(short)["screening"]
    assert np.ptp(own, axis=0).max() > 0.1
    np.testing.assert_allclose(federated, np.broadcast_to(own.mean(axis=0), federated.shape), atol=1e-12)


def test_the_private_estimate_is_fitted_at_the_level_of_the_last_turn_that_played_the_arm(world):
    run = fedego_lasso(world)
    turns = np.arange(160)
    for m in range(4):
        for k in range(3):
            mine = turns[(world["client"] == m) & (run["arm"] == k)]
            level = private_level(0.05, mine[-1] // 4 + 1, 8)
            beta = lasso(world["context"][mine], world["reward"][mine, k], level, 1e-10)
            np.testing.assert_allclose(run["private"][m, k], beta, atol=1e-9)


def test_the_screen_is_inclusive_and_the_private_estimate_decides():
    context = np.array([1.0])
    screening = np.array([[0.0], [1.0], [2.0]])
    private = np.array([[9.0], [5.0], [5.0]])
    assert selfish_arm(context, screening, private, gap=2.0) == 1
    assert selfish_arm(context, screening, private, gap=1.9) == 2
    assert selfish_arm(context, screening, private, gap=np.inf) == 0


def test_an_infinite_gap_makes_federation_irrelevant(world):
    arms = [run(world, gap=np.inf)["arm"] for run in (fedego_lasso, lasso_bandit)]
    assert np.array_equal(*arms)
    narrow = [run(world, gap=0.5)["arm"] for run in (fedego_lasso, lasso_bandit)]
    assert not np.array_equal(*narrow)


def test_all_learn_and_pooling_wins_where_the_clients_are_identical():
    world = lasso_rounds(seed=5, rounds=50, clients=4, arms=3, dimension=8, identical=True)
    pooled, alone, federated = (
        turn_regret(world, run(world)["arm"]).sum() for run in (teamwork_lasso, lasso_bandit, fedego_lasso)
    )
    chance = turn_regret(world, np.random.default_rng(0).integers(3, size=200)).sum()
    assert pooled < alone < chance
    assert federated < chance
