"""Worlds of a log: the same turns with drawn rewards, and the logged choices alone."""

import numpy as np
import pytest

import fedbandit as fb
from fedbandit.advice.model.fitted import Rows, fit
from fedbandit.advice.model.worlds import FEWEST_RESIDUALS, drawn_world, logged_world
from fedbandit.simulation.in_process import simulate


def made(binary=False, seed=0, sites=3, count=400, few=False):
    rng = np.random.default_rng(seed)
    vectors = np.concatenate([np.ones((count, 4, 1)), rng.uniform(-1, 1, (count, 4, 2))], axis=2) / 2
    site, choice = rng.integers(sites, size=count), rng.integers(4, size=count)
    if few:
        site[:] = np.where(np.arange(count) < FEWEST_RESIDUALS - 1, 0, 1)
    mean = vectors[np.arange(count), choice] @ [0.9, 0.3, -0.2]
    reward = (rng.random(count) < mean) * 1.0 if binary else mean + (0.05 + 0.2 * site) * rng.standard_normal(count)
    return Rows(site, vectors, choice, reward)


def places(rows, world):
    """Return which row of the log each turn is."""
    place = {tuple(arms.ravel()): turn for turn, arms in enumerate(rows.vectors)}
    return np.array([place[tuple(arms.ravel())] for arms in world.whole.features])


def test_a_drawn_world_has_rows_of_the_log_as_turns_each_in_its_tenth_of_the_time():
    rows = made()
    model = fit(rows)
    worlds = [drawn_world(rows, model, number) for number in range(20)]
    for world in worlds:
        order = places(rows, world)
        assert (world.whole.client == rows.site[order]).all()
        assert (order // 40 == np.arange(400) // 40).all()
        assert 0.55 < len(set(order)) / 400 < 0.72  # 1 - 1/e are there at all
    assert (worlds[0].whole.client != worlds[1].whole.client).any()
    assert worlds[0].setting() == fb.environment("linear").setting().__class__(3, 4, 3, 400)


def test_a_row_that_is_two_turns_has_a_reward_of_its_own_in_each():
    rows = made()
    world = drawn_world(rows, fit(rows), 0)
    order, payoff, mean = places(rows, world), world.whole.outcomes.payoff, world.whole.outcomes.mean
    one, two = next((i, j) for i in range(400) for j in range(i) if order[i] == order[j])
    assert (mean[one] == mean[two]).all()
    assert (payoff[one] != payoff[two]).any()


def test_a_number_names_a_world():
    rows = made()
    model = fit(rows)
    one, again, other = (drawn_world(rows, model, number).whole.outcomes for number in (0, 0, 1))
    assert (one.payoff == again.payoff).all()
    assert not (one.mean == other.mean).any()


def test_means_are_those_of_the_drawn_parameters():
    rows = made()
    model = fit(rows)
    theta = model.draw(np.random.default_rng(5))
    means = model.means(rows, theta)
    for t in (0, 7, 399):
        assert means[t] == pytest.approx([x @ theta[rows.site[t]] for x in rows.vectors[t]])


def test_rewards_that_are_0_or_1_stay_so_with_the_chance_of_the_mean():
    rows = made(binary=True)
    outcomes = drawn_world(rows, fit(rows), 0).whole.outcomes
    assert set(np.unique(outcomes.payoff)) == {0.0, 1.0}
    assert 0 < outcomes.mean.min() < outcomes.mean.max() < 1
    assert outcomes.payoff.mean() == pytest.approx(outcomes.mean.mean(), abs=0.05)


def test_other_rewards_have_residuals_of_their_own_site():
    rows = made()
    model = fit(rows)
    outcomes = drawn_world(rows, model, 0).whole.outcomes
    known = rows.reward - model.predicted(rows)
    world = drawn_world(rows, model, 0)
    for site in range(3):
        drawn = (outcomes.payoff - outcomes.mean)[world.whole.client == site].ravel()
        assert np.isclose(drawn[:, np.newaxis], known[rows.site == site]).any(axis=1).all()
        assert drawn.std() == pytest.approx(known[rows.site == site].std(), rel=0.2)


def test_a_site_of_few_rows_has_residuals_of_all():
    rows = made(few=True)
    model = fit(rows)
    outcomes = drawn_world(rows, model, 0).whole.outcomes
    known = (rows.reward - model.predicted(rows))[rows.site == 0]
    drawn = (outcomes.payoff - outcomes.mean)[drawn_world(rows, model, 0).whole.client == 0].ravel()
    assert not np.isclose(drawn[:, np.newaxis], known).any(axis=1).all()


def test_a_world_is_the_same_as_a_recorded_file(tmp_path):
    rows = made()
    world = drawn_world(rows, fit(rows), 0)
    world.save(tmp_path / "turns.npz")
    recorded = fb.run("lean-linucb", fb.environment("recorded", path=str(tmp_path / "turns.npz")))
    here, _ = simulate(fb.algorithm("lean-linucb"), world, 400)
    assert (here.choice == recorded.choice).all()
    assert here.regret.sum() == pytest.approx(recorded.regret[-1])


def test_the_logged_choices_are_the_world_that_a_log_records(tmp_path):
    rows = made()
    log = fb.Log.from_arrays(site=rows.site, arms=rows.vectors, choice=rows.choice, reward=rows.reward)
    log.record(tmp_path / "choices.npz")
    recorded = fb.run("async-linucb", fb.environment("recorded", path=str(tmp_path / "choices.npz")))
    here, _ = simulate(fb.algorithm("async-linucb"), logged_world(rows), 400)
    assert (here.bytes == np.diff(recorded.bytes, prepend=0)).all()
    logged_world(rows).save(tmp_path / "again.npz")
    assert np.load(tmp_path / "again.npz")["arms"].shape == (400, 1, 3)


def test_as_one_client_alone_is_pooled_raw_data():
    rows = made()
    world = drawn_world(rows, fit(rows), 0)
    pooled, _ = simulate(fb.algorithm("pooled-linucb"), world, 400)
    alone, _ = simulate(fb.algorithm("local-linucb"), world.as_one_client(), 400)
    assert (pooled.choice == alone.choice).all()
    assert pooled.regret.sum() == alone.regret.sum()
