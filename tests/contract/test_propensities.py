"""Every algorithm that chooses one arm can be mixed with uniform choices, and then says exactly how likely each was."""

from __future__ import annotations

import numpy as np
import pytest

import fedbandit as fb
from contract.small_worlds import algorithm_names, small_setting
from fedbandit.core.lots import arm_by_lot, lot_of
from fedbandit.core.messages import Download
from fedbandit.core.randomness import ClientStreams
from fedbandit.protocol.charter import Charter
from fedbandit.protocol.schema import Schema
from fedbandit.simulation.in_process import simulate
from samples.needed import needed
from samples.runs import assert_same_trace
from samples.worlds import arrays_for, recorded, step_by_hand


@pytest.fixture
def one_arm(kind):
    """The algorithms that choose one arm."""
    if kind.duels:
        pytest.skip("chooses two arms")
    return kind


@pytest.fixture
def explored(one_arm, tmp_path):
    """Run an algorithm on its small world, which may fix the draws of each turn."""

    def run(explore, seed=0, draws=None):
        arrays = arrays_for(one_arm)
        if draws is not None:
            arrays["draws"] = np.random.default_rng(7).standard_normal((len(arrays["client"]), draws))
            arrays["noise_draws"] = np.random.default_rng(8).standard_normal((arrays["client"].max() + 1, 64, 9))
        environment = recorded(tmp_path, arrays)
        return simulate(one_arm(explore=explore), environment, environment.setting().horizon, seed)[0]

    return run


def test_without_it_a_choice_is_certain_or_by_lot_or_its_chance_is_not_known(one_arm, explored):
    side = one_arm().build(fb.Setting(3, 4, 3, 12)).clients
    propensity = explored(0.0).propensity
    if side.draws_lot:
        assert ((propensity > 0) & (propensity <= 1)).all()
    else:
        assert np.isnan(propensity).all() if side.draws else (propensity == 1.0).all()


def test_every_chance_is_known_and_at_least_the_uniform_share(one_arm, explored):
    trace = explored(0.4)
    arms = arrays_for(one_arm)["reward"].shape[1]
    assert (trace.propensity >= 0.4 / arms).all()
    assert (trace.propensity <= 1).all()
    assert len(np.unique(trace.choice)) > 1


def test_a_share_of_one_is_uniform(one_arm, explored):
    trace, arrays = explored(1.0, seed=3), arrays_for(one_arm)
    arms = arrays["reward"].shape[1]
    side = one_arm(explore=1.0).federation(fb.Setting(*_sizes(arrays))).clients
    normals = ClientStreams(3).normals(arrays["client"], side.draws)[:, 0]
    assert trace.choice.tolist() == [arm_by_lot(np.full(arms, 1 / arms), lot_of(each)) for each in normals]
    assert (trace.propensity == 1 / arms).all()


def _sizes(arrays):
    features = arrays["context"] if "context" in arrays else arrays["arms"]
    return int(arrays["client"].max()) + 1, arrays["reward"].shape[1], features.shape[-1], 12


def test_by_hand_it_chooses_what_it_chooses_in_a_run(one_arm, explored):
    if one_arm.shares_raw_data:
        pytest.skip("a baseline for simulations, whose clients share what they know")
    choices, _ = step_by_hand(arrays_for(one_arm), one_arm(explore=0.4), seed=5)
    assert choices == explored(0.4, seed=5).choice.tolist()


def test_a_world_that_fixes_the_draws_makes_the_seed_irrelevant(explored):
    assert_same_trace(explored(0.4, seed=1, draws=9), explored(0.4, seed=2, draws=9))


def test_a_world_that_fixes_too_few_draws_is_refused_by_both_numbers(one_arm, tmp_path):
    arrays = arrays_for(one_arm)
    needed = one_arm(explore=0.4).federation(fb.Setting(*_sizes(arrays))).clients.draws
    if needed == 1:
        pytest.skip("one number a turn is as few as a file can have")
    arrays["draws"] = np.zeros((len(arrays["client"]), needed - 1))
    reason = f"draws has {needed - 1} numbers a turn, but {one_arm.id} needs {needed}"
    with pytest.raises(fb.InvalidInput, match=reason):
        fb.run(one_arm(explore=0.4), recorded(tmp_path, arrays))


@pytest.mark.parametrize("name", algorithm_names())
def test_what_a_site_takes_in_is_the_same_with_it(name):
    if fb.algorithms[name].duels:
        pytest.skip("chooses two arms")
    setting = small_setting(name, 3)
    with_it, without = (
        Schema.of(Charter.named(name, setting, explore=explore, **needed(name)).build_for(0).clients, Download, setting)
        for explore in (0.5, 0.0)
    )
    assert with_it == without
