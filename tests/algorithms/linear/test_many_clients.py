"""However many clients a cohort has, each does what it would do alone."""

from __future__ import annotations

import numpy as np
import pytest

import fedbandit as fb
from fedbandit.core.algorithm import algorithms
from fedbandit.core.turns import Observations

LINEAR = [each for each in algorithms if algorithms[each].__module__.startswith("fedbandit.algorithms.linear")]
NAMES = [  # but for those whose clients have one model together, or take no arm of any length
    name for name in LINEAR if not algorithms[name].shares_raw_data and not algorithms[name].hides_releases
]
CLIENTS = 70  # there is room for 64 at first
SETTING = fb.Setting(clients=CLIENTS, arms=3, dimension=4, horizon=1000)


def turn(side, state, client, seed):
    """One decision and its reward, from a seed; return the arm."""
    rng, who = np.random.default_rng(seed), np.array([client])
    features, draws = rng.normal(size=(1, 3, 4)), rng.normal(size=(1, side.draws))
    decided = side.decide(state, who, features, draws)
    side.learn(state, who, Observations(features, decided.choices, rng.normal(size=1), decided.expected))
    return int(decided.choices[0])


@pytest.mark.parametrize("name", NAMES)
def test_the_last_of_many_clients_does_as_it_would_alone(name):
    side = fb.algorithm(name).build(SETTING).clients
    many, one = side.start(CLIENTS), side.start(1)
    for client in range(CLIENTS - 1):
        turn(side, many, client, seed=client)
    choices = [(turn(side, many, CLIENTS - 1, seed), turn(side, one, 0, seed)) for seed in range(1000, 1030)]
    assert [each[0] for each in choices] == [each[1] for each in choices]
    assert len(set(choices)) > 1
