"""The leaderboard's experiments: all algorithms, with equal budgets, tuned on worlds that are not reported."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

import fedbandit as fb
from contract.small_worlds import algorithm_names
from fedbandit.core.algorithm import algorithms
from fedbandit.environments.common_ground import REWARDS
from fedbandit.experiments.experiment import experiments
from fedbandit.experiments.leaderboard import SETTINGS, form_of, known
from fedbandit.experiments.tuning import TUNED, Knob

OURS = [name for name in algorithms if algorithms[name].__module__.startswith("fedbandit.")]
PAIRS = [(experiments[f"leaderboard/{rewards}-tuning"], experiments[f"leaderboard/{rewards}"]) for rewards in REWARDS]


def test_every_algorithm_is_compared():
    missing = [name for name in OURS if name not in TUNED]
    assert not missing, "call tuned() in the experiments of its paper"


@pytest.mark.parametrize("pair", PAIRS, ids=REWARDS)
def test_every_algorithm_has_the_same_number_of_settings(pair):
    tuning, reported = pair
    counts = {series.algorithm: len(series.points) for series in tuning.series}
    assert {name: count for name, count in counts.items() if count != SETTINGS} == {"random": 1}
    assert tuning.series == reported.series
    assert tuning.rounds == reported.rounds


@pytest.mark.parametrize("pair", PAIRS, ids=REWARDS)
def test_no_world_that_is_reported_was_tuned_on(pair):
    assert pair[0].seeds >= 2
    assert pair[1].seeds >= 5
    tuning, reported = ([_first_contexts(each, seed) for seed in range(each.seeds)] for each in pair)
    assert not any(np.array_equal(one, other) for one, other in product(tuning, reported))
    assert {key: pair[0].world[key] == pair[1].world[key] for key in pair[0].world} == {
        **dict.fromkeys(pair[0].world, True), "draw": False,
    }  # fmt: skip


def _first_contexts(experiment, seed):
    world = fb.environment(experiment.environment, **experiment.world, form="contexts")
    return next(world.turns(count=5, seed=seed, block=5)).features


@pytest.mark.parametrize("name", algorithm_names())
def test_each_is_shown_the_world_in_its_form_and_sends_nothing_if_it_is_alone(name):
    series = next(each for each in PAIRS[1][1].series if each.algorithm == name)
    point = series.points[0]
    world = fb.environment(
        "common-ground", clients=3, arms=2, dimension=2, support=1, rewards="logistic", **point.world
    )
    result = fb.run(name, world, turns=90, **point.parameters)
    assert (result.messages[-1] == 0) == TUNED[name].alone
    assert np.isfinite(result.regret[-1])


def test_a_knob_of_one_parameter_has_its_name():
    assert Knob("alpha", (1,)).set_to(0.5) == {"alpha": 0.5}


def test_what_is_known_of_the_world_is_told_to_those_who_can_be_told():
    assert known(algorithms["fedglb-ucb"], "logistic") == {"link": "logistic"}
    assert known(algorithms["random"], "linear") == {}
    assert known(algorithms["private-linucb"], "linear")["epsilon"] == 8
    assert form_of(algorithms["fldb-gd"]) == "duels"
