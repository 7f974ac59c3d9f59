"""The one call behind the library, the command line and the experiments."""

import time

import numpy as np
import pytest

import fedbandit as fb
from fedbandit.core.errors import InvalidInput
from samples.wall_clock import WallClock

WORLD = fb.environment("linear", clients=4, arms=3, dimension=2, pool=10)


def test_an_algorithm_by_name_or_as_an_object_is_the_same():
    by_name = fb.run("async-linucb", WORLD, turns=50, ridge=0.5)
    as_object = fb.run(fb.algorithm("async-linucb", ridge=0.5), WORLD, turns=50)
    np.testing.assert_array_equal(by_name.choice, as_object.choice)
    assert by_name.parameters == as_object.parameters
    assert by_name.parameters["ridge"] == 0.5


def test_without_turns_the_run_has_the_worlds_own_length():
    assert fb.run("local-linucb", WORLD).turns == 1200


def test_an_environment_may_be_given_by_name():
    result = fb.run("local-linucb", "linear", turns=5)
    assert (result.environment, result.clients) == ("linear", 100)


def test_the_result_says_what_was_run():
    result = fb.run("sync-linucb", WORLD, turns=20, seed=3)
    assert (result.algorithm, result.environment, result.seed, result.clients) == ("sync-linucb", "linear", 3, 4)
    assert result.world == WORLD.values()


def test_seconds_are_those_of_turns_and_not_of_what_only_a_first_run_does(monkeypatch):
    clock = WallClock()
    monkeypatch.setattr(time, "perf_counter", clock)

    def taking(seconds, do):
        def slowly(*arguments):
            clock.now += seconds
            return do(*arguments)

        return slowly

    algorithm = fb.algorithm("async-linucb")
    monkeypatch.setattr(type(algorithm), "federation", taking(60, type(algorithm).federation))  # imports, say
    monkeypatch.setattr(type(WORLD), "turns", taking(7, type(WORLD).turns))
    reading = iter([30])  # files, which are read once
    setting = type(WORLD).setting
    monkeypatch.setattr(type(WORLD), "setting", lambda world: taking(next(reading, 0), setting)(world))
    assert fb.run(algorithm, WORLD, turns=20).seconds == 7


BAD = [
    ({"seed": -1}, "seed must be a whole number of at least 0, not -1: give one"),
    ({"seed": 0.5}, "seed must be a whole number of at least 0, not 0.5: give one"),
    ({"seed": None}, "seed must be a whole number of at least 0, not None: give one"),
    ({"turns": 0}, "turns must be a whole number of at least 1, not 0: give how many turns to run"),
    ({"turns": 2.5}, "turns must be a whole number of at least 1, not 2.5: give how many turns to run"),
    ({"algorithm": "async-linucv"}, "unknown algorithm 'async-linucv': did you mean 'async-linucb'?"),
    ({"environment": "liner"}, "unknown environment 'liner': did you mean 'linear'?"),
    ({"rigde": 1}, "async-linucb has no parameter 'rigde': did you mean 'ridge'?"),
    ({"ridge": 0}, "ridge must be greater than 0, not 0: give a number in that range"),
    (
        {"upload_threshold": [1, 2, 3]},
        "upload_threshold lists 3 values for 4 clients: give one number, or one for each client",
    ),
    (
        {"algorithm": fb.algorithm("async-linucb"), "ridge": 1},
        "parameters ['ridge'] were given beside an algorithm object: set them when you make it",
    ),
]


@pytest.mark.parametrize(("how", "sentence"), BAD)
def test_a_run_that_cannot_be_is_refused_in_one_sentence(how, sentence):
    with pytest.raises(InvalidInput) as error:
        fb.run(**{"algorithm": "async-linucb", "environment": WORLD, "turns": 10, **how})
    assert str(error.value) == sentence


def test_a_numpy_seed_and_number_of_turns_are_good():
    result = fb.run("local-linucb", WORLD, turns=np.int64(5), seed=np.int64(1))
    assert result.turns == 5
