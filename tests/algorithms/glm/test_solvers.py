"""Both solvers of the global regression keep the promise of its stopping rule, and meet."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import fedbandit as fb
from fedbandit.algorithms.glm.shared.updates import Regression
from fedbandit.environments.logistic import Logistic
from fedbandit.environments.recorded import Recorded
from fedbandit.simulation.in_process import simulate
from reference.glb_steps import PARTITION, Setting, maximum_likelihood
from reference.recorded import glm_rounds


def updates_of(algorithm, environment, turns, monkeypatch):
    """Run; return for each global update the observations behind it, its eps and its model."""
    models = []
    original = Regression.advance

    def advance(self, state):
        finished = original(self, state)
        if finished:
            models.append((state.observations, self.suboptimality(state.observations), state.model.copy()))
        return finished

    monkeypatch.setattr(Regression, "advance", advance)
    trace, _ = simulate(algorithm, environment, turns)
    blocks = list(environment.turns(turns, 0, turns))
    features = np.concatenate([block.features for block in blocks])
    chosen = features[np.arange(turns), trace.choice]
    return chosen, trace.reward, models


def objective(model, chosen, paid, setting):
    margins = chosen @ model
    loss = (PARTITION[setting.link](margins) - paid * margins).sum()
    return (loss + setting.ridge / 2 * model @ model) / len(paid)


@pytest.mark.parametrize("link", ["logistic", "identity", "poisson"])
@pytest.mark.parametrize("solver", ["accelerated", "newton"])
@pytest.mark.parametrize("suboptimality", [None, 1e-3, 1e-8])
def test_no_global_model_is_further_from_the_exact_minimum_than_eps(tmp_path, monkeypatch, link, solver, suboptimality):
    world = glm_rounds(seed=1, rounds=25, clients=8, arms=6, dimension=4, link=link)
    np.savez(tmp_path / "turns.npz", **world)
    algorithm = fb.algorithm("fedglb-ucb", sync_threshold=0.05, solver=solver, link=link, suboptimality=suboptimality)
    recorded = Recorded(path=str(tmp_path / "turns.npz"))
    chosen, paid, models = updates_of(algorithm, recorded, 200, monkeypatch)
    assert len(models) > 5
    setting = Setting(link=link)
    for n, eps, model in models:
        exact = maximum_likelihood(chosen[:n], paid[:n], setting)
        above = objective(model, chosen[:n], paid[:n], setting) - objective(exact, chosen[:n], paid[:n], setting)
        assert above <= eps
        assert eps == (1 / n**2 if suboptimality is None else suboptimality)


def test_the_promise_holds_on_the_authors_longer_arms(monkeypatch):
    world = Logistic(clients=20, arms=10, dimension=6, source="pool")
    algorithm = fb.algorithm("fedglb-ucb", sync_threshold=0.2, arm_bound=1.4143)
    chosen, paid, models = updates_of(algorithm, world, 2000, monkeypatch)
    setting = Setting()
    assert len(models) > 5
    for n, eps, model in models:
        exact = maximum_likelihood(chosen[:n], paid[:n], setting)
        above = objective(model, chosen[:n], paid[:n], setting) - objective(exact, chosen[:n], paid[:n], setting)
        assert above <= eps


@pytest.mark.parametrize("link", ["logistic", "identity", "poisson"])
def test_the_two_solvers_agree_to_the_suboptimality_they_are_given(tmp_path, monkeypatch, link):
    """F is (ridge/n)-strongly convex, so two models within eps of its minimum are within 2 sqrt(2 eps n / ridge)."""
    world = glm_rounds(seed=2, rounds=25, clients=8, arms=6, dimension=4, link=link)
    np.savez(tmp_path / "turns.npz", **world)
    recorded = Recorded(path=str(tmp_path / "turns.npz"))
    found = {}
    for solver in ("accelerated", "newton"):
        algorithm = fb.algorithm("fedglb-ucb-2", rounds_of_update=5, solver=solver, link=link, suboptimality=1e-14)
        _, _, found[solver] = updates_of(algorithm, recorded, 200, monkeypatch)
        monkeypatch.undo()
    for (n, eps, slow), (same, _, fast) in zip(found["accelerated"], found["newton"], strict=True):
        assert n == same
        assert np.linalg.norm(slow - fast) <= 2 * np.sqrt(2 * eps * n / 2.0)


@settings(max_examples=30)
@given(scale=st.floats(0.1, 30.0), seed=st.integers(0, 1000))
def test_newton_reaches_far_minima_with_the_step_damped(tmp_path_factory, scale, seed):
    """Long arms and a weak ridge put the minimum of the logistic loss far from the start at zero."""
    world = glm_rounds(seed=seed, rounds=4, clients=3, arms=3, dimension=3)
    world["arms"] = world["arms"] * scale
    path = tmp_path_factory.mktemp("far") / "turns.npz"
    np.savez(path, **world)
    algorithm = fb.algorithm(
        "fedglb-ucb-2", rounds_of_update=3, solver="newton", ridge=1e-3, arm_bound=scale, suboptimality=1e-12, alpha=1.0
    )
    trace, wire = simulate(algorithm, Recorded(path=str(path)), 12)
    chosen = world["arms"][np.arange(12), trace.choice]
    margins = chosen @ wire.server.state.model
    gradient = chosen.T @ (1 / (1 + np.exp(-margins)) - trace.reward) + 1e-3 * wire.server.state.model
    assert np.linalg.norm(gradient / 12) <= np.sqrt(2 * 1e-3 / 12 * 1e-12)


def test_a_regression_that_does_not_converge_says_what_to_do(tmp_path, monkeypatch):
    monkeypatch.setattr("fedbandit.algorithms.glm.shared.solvers.MOST_STEPS", 50)
    world = glm_rounds(seed=3, rounds=10, clients=4, arms=3, dimension=3)
    world["arms"] = world["arms"] * 20.0  # far beyond arm_bound = 1
    np.savez(tmp_path / "turns.npz", **world)
    with pytest.raises(fb.InvalidInput, match=r"did not converge in 50 steps: set arm_bound"):
        simulate(fb.algorithm("fedglb-ucb", sync_threshold=0.1), Recorded(path=str(tmp_path / "turns.npz")), 40)
