"""UCB-GLM, pooled and alone, chooses as the literal transcription does, turn by turn."""

from __future__ import annotations

import numpy as np
import pytest

import fedbandit as fb
from fedbandit.environments.logistic import Logistic
from fedbandit.environments.recorded import Recorded
from fedbandit.simulation.in_process import simulate
from reference.glb_steps import Setting, maximum_likelihood
from reference.glb_variants import n_ucb_glm, one_ucb_glm
from reference.recorded import glm_rounds

LITERAL = {"one-ucb-glm": one_ucb_glm, "n-ucb-glm": n_ucb_glm}


def play(folder, world, name, **parameters):
    path = str(folder / "turns.npz")
    np.savez(path, **world)
    recorded = Recorded(path=path)
    return simulate(fb.algorithm(name, **parameters), recorded, recorded.setting().horizon)


@pytest.mark.parametrize("link", ["logistic", "identity", "poisson"])
@pytest.mark.parametrize("parameters", [{}, {"alpha": 0.4}, {"ridge": 0.3, "radius": 2.0, "alpha_scale": 0.1}], ids=str)
@pytest.mark.parametrize("name", LITERAL)
def test_it_equals_the_transcription(tmp_path, name, link, parameters):
    world = glm_rounds(seed=1, rounds=20, clients=6, arms=5, dimension=3, link=link)
    literal = LITERAL[name](world, link=link, **parameters)
    trace, wire = play(tmp_path, world, name, link=link, **parameters)
    assert trace.choice.tolist() == literal["arm"].tolist()
    assert np.cumsum(trace.scalars).tolist() == literal["scalars"].tolist()
    models = np.broadcast_to(wire.clients.state.rows.model, literal["client_models"].shape)
    np.testing.assert_allclose(models, literal["client_models"], rtol=0, atol=1e-9)


def test_pooling_reports_every_observation_and_says_that_it_shares_raw_data(tmp_path):
    world = glm_rounds(seed=2, rounds=10, clients=4, arms=5, dimension=3)
    trace, wire = play(tmp_path, world, "one-ucb-glm")
    assert fb.algorithm("one-ucb-glm").shares_raw_data
    assert not fb.algorithm("n-ucb-glm").shares_raw_data
    assert trace.messages.tolist() == [1] * 40
    assert trace.scalars.tolist() == [4] * 40
    chosen = world["arms"][np.arange(40), trace.choice]
    np.testing.assert_allclose(wire.server.state.gram, chosen.T @ chosen, atol=1e-12)


def test_between_refits_the_model_waits_and_the_ellipsoid_does_not(tmp_path):
    world = glm_rounds(seed=3, rounds=30, clients=2, arms=5, dimension=3)
    _, seldom = play(tmp_path, world, "n-ucb-glm", refit_every=12)
    rows = seldom.clients.state.rows
    _, exact = play(tmp_path, {name: array[:48] for name, array in world.items()}, "n-ucb-glm", refit_every=12)
    np.testing.assert_allclose(rows.model, exact.clients.state.rows.model, rtol=0, atol=1e-12)  # 24 turns of each
    np.testing.assert_allclose(np.trace(rows.gram, axis1=1, axis2=2), 30.0)  # unit arms, all counted
    assert rows.turns.tolist() == [30, 30]


def test_every_refit_is_a_minimum_of_all_data_so_far(tmp_path):
    world = glm_rounds(seed=4, rounds=150, clients=1, arms=5, dimension=3)
    trace, wire = play(tmp_path, world, "one-ucb-glm", refit_every=50)
    chosen = world["arms"][np.arange(150), trace.choice]
    paid = world["reward"][np.arange(150), trace.choice]
    exact = maximum_likelihood(chosen, paid, Setting())
    np.testing.assert_allclose(wire.clients.state.rows.model[0], exact, rtol=0, atol=1e-10)


def test_pooled_data_beat_being_alone():
    world = Logistic(clients=20, arms=10, dimension=4)
    one, _ = simulate(fb.algorithm("one-ucb-glm"), world, 20 * 60)
    alone, _ = simulate(fb.algorithm("n-ucb-glm"), world, 20 * 60)
    assert one.regret.sum() < 0.5 * alone.regret.sum()
