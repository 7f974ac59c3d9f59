"""The generalised linear transcriptions: solvers, schedules, bills, widths, and that they learn."""

import numpy as np
import pytest
from scipy.optimize import minimize

from reference.glb import fedglb_ucb, fedglb_ucb_2, n_ons_glm
from reference.glb_steps import Setting, accelerated, lemma_9, loss_gradient, maximum_likelihood, project
from reference.glb_variants import fedglb_ucb_1, fedglb_ucb_3, n_ucb_glm, one_ucb_glm
from reference.recorded import glm_rounds, turn_regret


@pytest.fixture(scope="module")
def world():
    return glm_rounds(seed=2, rounds=25, clients=8, arms=6, dimension=3)


def data(n=60, link="logistic"):
    world = glm_rounds(seed=4, rounds=n, clients=1, arms=1, dimension=3, link=link)
    return world["arms"][:, 0], world["reward"][:, 0]


@pytest.mark.parametrize("link", ["logistic", "identity", "poisson"])
def test_the_accelerated_model_is_as_good_as_its_stopping_rule_promises(link):
    x, y = data(link=link)
    setting = Setting(link=link, suboptimality=1e-9)
    model, steps = accelerated(np.zeros(3), x, y, setting)
    best = maximum_likelihood(x, y, setting)
    np.testing.assert_allclose(loss_gradient(best, x, y, link) + 2.0 * best, 0.0, atol=1e-10)
    # (ridge/n)-strong convexity: |model - best|^2 <= 2 eps n / ridge.
    assert 0 < np.linalg.norm(model - best) <= np.sqrt(2 * 1e-9 * len(y) / 2.0)
    assert steps > 3
    again, once = accelerated(model, x, y, setting)
    assert once == 1
    assert np.array_equal(again, model)


@pytest.mark.parametrize("seed", range(5))
def test_the_projection_is_the_nearest_point_of_the_ball_in_the_norm_of_the_matrix(seed):
    rng = np.random.default_rng(seed)
    root = rng.standard_normal((4, 4))
    matrix, theta = root @ root.T + 0.1 * np.eye(4), 5 * rng.standard_normal(4)
    answer = project(theta, matrix, 1.5)
    direct = minimize(
        lambda v: (v - theta) @ matrix @ (v - theta),
        np.zeros(4),
        jac=lambda v: 2 * matrix @ (v - theta),
        constraints={"type": "ineq", "fun": lambda v: 1.5**2 - v @ v, "jac": lambda v: -2 * v},
        method="SLSQP",
        options={"ftol": 1e-14, "maxiter": 500},
    )
    np.testing.assert_allclose(answer, direct.x, atol=1e-5)
    assert abs(np.linalg.norm(answer) - 1.5) < 1e-12
    inside = 0.1 * theta / np.linalg.norm(theta)
    assert np.array_equal(project(inside, matrix, 1.5), inside)


def test_fedglb_bills_two_messages_a_client_for_each_gradient_and_two_more(world):
    run = fedglb_ucb(world, sync_threshold=0.5)
    steps, updates = sum(run["inner_steps"]), len(run["update_turns"])
    assert updates > 2
    assert run["messages"][-1] == 8 * (2 * steps + 2 * updates)
    assert run["scalars"][-1] == 8 * (2 * steps * 3 + updates * (9 + 9 + 6))
    assert np.flatnonzero(np.diff(run["messages"], prepend=0)).tolist() == run["update_turns"]
    rounds = [turn // 8 for turn in run["update_turns"]]
    assert len(set(rounds)) == len(rounds)  # at most one event-triggered update a round


def test_each_global_model_passes_its_own_stopping_rule(world):
    run = fedglb_ucb(world, sync_threshold=1.0)
    turns = np.arange(200)
    x, y = world["arms"][turns, run["arm"]], world["reward"][turns, run["arm"]]
    for turn, model in zip(run["update_turns"], run["models"], strict=True):
        n = turn + 1
        gradient = (loss_gradient(model, x[:n], y[:n], "logistic") + 2.0 * model) / n
        assert np.linalg.norm(gradient) <= np.sqrt(2 * 2.0 / n / n**2) * (1 + 1e-9)


def test_right_after_an_update_every_client_holds_the_same_model_and_no_slack():
    world = glm_rounds(seed=2, rounds=5, clients=4, arms=6, dimension=3)
    run = fedglb_ucb_2(world, rounds_of_update=1)
    assert run["update_turns"] == [19]
    assert (run["client_models"] == run["models"][0]).all()
    turns = np.arange(20)
    x = world["arms"][turns, run["arm"]]
    low = Setting().low
    for i in range(4):
        np.testing.assert_allclose(run["A"][i], 2.0 / low * np.eye(3) + x.T @ x, atol=1e-10)
        np.testing.assert_allclose(run["b"][i], x.T @ x @ run["models"][0], atol=1e-10)
        np.testing.assert_allclose(run["z2"][i], ((x @ run["models"][0]) ** 2).sum(), atol=1e-10)


@pytest.mark.parametrize("algorithm", [fedglb_ucb_1, fedglb_ucb_2, fedglb_ucb_3])
@pytest.mark.parametrize("updates", [1, 7, 200])
def test_scheduled_variants_make_exactly_their_updates(world, algorithm, updates):
    run = algorithm(world, rounds_of_update=updates)
    period = 200 // updates
    assert run["update_turns"] == [period * (p + 1) - 1 for p in range(updates)]


def test_the_bills_of_variants_one_and_three(world):
    first, third = fedglb_ucb_1(world, rounds_of_update=6), fedglb_ucb_3(world, rounds_of_update=6)
    steps = sum(first["inner_steps"])
    assert first["messages"][-1] == 8 * (2 * steps + 2 * 6)
    assert first["scalars"][-1] == 8 * (2 * steps * 3 + 6 * (9 + 9 + 3))
    assert third["messages"][-1] == 8 * 2 * 6
    assert third["scalars"][-1] == 8 * 6 * (3 + 9 + 18 + 6)


def test_models_of_newton_steps_stay_in_the_ball(world):
    for run in (
        fedglb_ucb_3(world, rounds_of_update=20, radius=0.3),
        n_ons_glm(world, radius=0.3),
    ):
        assert np.linalg.norm(run["client_models"], axis=1).max() <= 0.3 + 1e-12
        assert np.linalg.norm(run["client_models"], axis=1).max() > 0.29


def test_the_width_of_variant_one_is_lemma_nine_at_the_last_update(world):
    run = fedglb_ucb_1(world, rounds_of_update=4)
    low = Setting().low
    for turn, n in [(0, 0), (49, 0), (50, 50), (199, 150)]:
        assert run["widths"][turn] == lemma_9(n, 1 / max(n, 1) ** 2, 3, Setting())
    # By hand, before any data: (R/c) sqrt(2 log 100) + sqrt(2/c).
    assert np.isclose(run["widths"][0], 0.5 / low * np.sqrt(2 * np.log(100)) + np.sqrt(2 / low))


def test_the_first_width_of_lemma_two_by_hand(world):
    run = fedglb_ucb(world, sync_threshold=5.0, alpha_scale=1.0)
    low, log = Setting().low, np.log(100)
    b_1 = 2.0 / 2
    b_2 = low / 2 * (0.5 / low * np.sqrt(2 * log) + np.sqrt(2 / low)) ** 2
    beta = 8 * 0.25 / low**2 * log + b_1 + 4 * 0.5 / low * np.sqrt(2 * log) * (1 + 1)
    inside = 4 + 8 * b_2 / low + 64 * 0.0625 / (low**4 * 4 * 1e-4)
    beta += 8 * 0.25 / low**2 * (np.log(8 / 0.01) + np.log(inside) / 2) + 1 + 4 * b_2 / low
    assert np.isclose(run["widths"][0], np.sqrt(beta + 2 / low))


def test_two_local_newton_steps_by_hand():
    world = glm_rounds(seed=9, rounds=2, clients=1, arms=1, dimension=2)
    (x, w), (y, _) = world["arms"][:, 0], world["reward"][:, 0]
    run = n_ons_glm(world, radius=5.0)
    low = Setting(radius=5.0).low
    matrix = 2.0 / low * np.eye(2) + np.outer(x, x)
    theta = -np.linalg.solve(matrix, x * (0.5 - y)) / low
    assert np.linalg.norm(theta) < 5.0  # no projection
    # The first prediction is 0, the second w.theta: b and |z|^2 hold that alone.
    np.testing.assert_allclose(run["b"][0], w * (w @ theta), atol=1e-12)
    np.testing.assert_allclose(run["z2"][0], (w @ theta) ** 2, atol=1e-12)


def test_the_first_global_newton_step_of_variant_three_by_hand():
    world = glm_rounds(seed=9, rounds=3, clients=2, arms=1, dimension=2)
    run = fedglb_ucb_3(world, rounds_of_update=1, radius=2.0)
    x, y, low = world["arms"][:, 0], world["reward"][:, 0], Setting(radius=2.0).low
    gradient = x.T @ (0.5 - y)
    slack = 0.25**2 * 2.0**2 + 0.5**2
    gamma = 0.5 * min(1 / (4 * 2.0 * np.sqrt(slack)), low / (slack * 6))
    matrix = 2.0 * np.eye(2) + np.outer(gradient, gradient)
    expected = project(-np.linalg.solve(matrix, gradient) / gamma, matrix, 2.0)
    np.testing.assert_allclose(run["models"], [expected], atol=1e-12)
    np.testing.assert_allclose(run["V"][1], 2.0 * np.eye(2) + x.T @ x, atol=1e-12)
    assert not run["b"].any()  # predictions of theta_0 = 0


def test_without_communication_nothing_is_sent(world):
    assert n_ons_glm(world)["messages"][-1] == 0
    assert n_ucb_glm(world)["messages"][-1] == 0
    assert n_ons_glm(world)["update_turns"] == []


def test_frequent_updates_with_a_tight_eps_are_the_pooled_bandit_up_to_the_width(world):
    every = fedglb_ucb_1(world, rounds_of_update=200, suboptimality=1e-22, alpha=1.0)
    pooled = one_ucb_glm(world, alpha=1.0)
    assert np.array_equal(every["arm"], pooled["arm"])
    np.testing.assert_allclose(every["models"][-1], pooled["client_models"][0], atol=1e-9)


@pytest.mark.parametrize("link", ["logistic", "identity", "poisson"])
def test_sharing_beats_being_alone(link):
    world = glm_rounds(seed=6, rounds=30, clients=10, arms=8, dimension=3, link=link)
    one = turn_regret(world, one_ucb_glm(world, link=link, alpha=0.5)["arm"]).sum()
    federated = turn_regret(world, fedglb_ucb(world, sync_threshold=0.5, link=link, alpha=0.5)["arm"]).sum()
    alone = turn_regret(world, n_ons_glm(world, link=link, alpha=0.5)["arm"]).sum()
    chance = turn_regret(world, np.zeros(300, dtype=int)).sum()
    assert max(one, federated) < alone < chance
