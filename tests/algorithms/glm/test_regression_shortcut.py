"""The simulation's shortcut for global regressions equals the message path, for every declared parameter.

Parameters come from the declaration: one that is added tomorrow is compared as well, or this file asks for its values.
"""

from __future__ import annotations

from dataclasses import fields

import numpy as np
import pytest

import fedbandit as fb
from fedbandit.algorithms.glm.shared import nearby_gradients
from fedbandit.algorithms.glm.shared.solvers import Accelerated
from fedbandit.core.turns import Observations
from fedbandit.environments.logistic import Logistic
from fedbandit.protocol.ledger import Ledger
from fedbandit.simulation import in_process
from fedbandit.simulation.in_process import simulate
from fedbandit.simulation.wire import begin
from reference.recorded import glm_rounds
from samples.runs import ByMessages, assert_same_trace
from samples.worlds import recorded

CLIENTS, ROUNDS, DIMENSION = 5, 120, 3
TURNS = CLIENTS * ROUNDS
OFTEN = {
    "fedglb-ucb": {"sync_threshold": 0.05},
    "fedglb-ucb-1": {"rounds_of_update": 60},
    "fedglb-ucb-2": {"rounds_of_update": 60},
}
CHANGES = {
    "ridge": [0.5],
    "delta": [0.3],
    "radius": [2.0],
    "noise_bound": [0.1],
    "link": ["identity", "poisson"],
    "alpha": [0.5],
    "alpha_scale": [0.5],
    "arm_bound": [1.5],
    "smallest_upload": [4],
    "suboptimality": [1e-3, 1e-12],
    "sync_threshold": [0.0, np.inf],
    "rounds_of_update": [1, 7],
}
BY_MESSAGES = {"solver": "newton", "explore": 0.1}  # another value leaves the message path alone


def declared(name):
    return [each.name for each in fields(fb.algorithms[name]) if each.name not in BY_MESSAGES]


EACH = [
    *((name, {}) for name in OFTEN),
    *(
        pytest.param(name, {each: value}, marks=() if name == "fedglb-ucb-1" else pytest.mark.slow)
        for name in OFTEN
        for each in declared(name)
        for value in CHANGES[each]
    ),
]


@pytest.fixture
def passes(monkeypatch):
    """Note each probe, as update and step, that clients pass over their data to answer."""
    made, original = [], Accelerated.answer

    def answer(self, kept, to, stop, probe, link):
        made.append((probe.version, probe.step))
        return original(self, kept, to, stop, probe, link)

    monkeypatch.setattr(Accelerated, "answer", answer)
    return made


def world_of(folder, seed=0, link="logistic"):
    return recorded(folder, glm_rounds(seed, ROUNDS, CLIENTS, arms=4, dimension=DIMENSION, link=link))


def assert_same_knowledge(one, other, tolerance=1e-9):
    mine, theirs = one.server.state, other.server.state
    numbers = ("observations", "version", "round", "calling_round")
    assert [getattr(mine, name) for name in numbers] == [getattr(theirs, name) for name in numbers]
    assert (mine.questions.number, mine.search.steps) == (theirs.questions.number, theirs.search.steps)
    for name in ("gram", "moment", "model", "taken"):
        np.testing.assert_allclose(getattr(mine, name), getattr(theirs, name), atol=tolerance, err_msg=name)
    for name in ("iterate", "place", "momentum"):
        mine_now, theirs_now = getattr(mine.search, name), getattr(theirs.search, name)
        np.testing.assert_allclose(mine_now, theirs_now, atol=tolerance, err_msg=name)
    pairs = [(mine.questions.rows, theirs.questions.rows)]
    pairs += [(getattr(one.clients.state, part), getattr(other.clients.state, part)) for part in ("rows", "shared")]
    for part, same in pairs:
        for name in part._fields:
            np.testing.assert_allclose(
                getattr(part, name), getattr(same, name), rtol=tolerance, atol=tolerance, err_msg=name
            )


def assert_shortcut_equals_messages(world, algorithm, turns=TURNS, seed=0):
    by_message, sides = simulate(ByMessages(algorithm), world, turns, seed)
    short, others = simulate(algorithm, world, turns, seed)
    assert_same_trace(short, by_message)
    assert_same_knowledge(others, sides)
    return short


@pytest.mark.parametrize(("name", "changes"), EACH, ids=str)
def test_the_shortcut_equals_messages_for_every_parameter(tmp_path, name, changes):
    world = world_of(tmp_path, link=changes.get("link", "logistic"))
    assert_shortcut_equals_messages(world, fb.algorithm(name, **OFTEN[name] | changes))


@pytest.mark.parametrize("link", ["logistic", "identity", "poisson"])
@pytest.mark.parametrize("name", OFTEN)
def test_many_questions_need_no_pass_over_the_data_and_the_last_of_each_update_has_one(tmp_path, passes, name, link):
    world, algorithm = world_of(tmp_path, link=link), fb.algorithm(name, link=link, **OFTEN[name])
    made = []
    for each in (ByMessages(algorithm), algorithm):
        passes.clear()
        simulate(each, world, TURNS)
        made.append(tuple(passes))
    by_message, short = made
    assert len(short) < 0.6 * len(by_message)
    assert set(short) <= set(by_message)
    assert dict(short) == dict(by_message)  # of each update the last step


@pytest.mark.parametrize(("name", "seed"), [*zip(OFTEN, (1, 2, 3), strict=True)])
def test_the_shortcut_equals_messages_on_other_seeds_and_across_blocks(tmp_path, monkeypatch, name, seed):
    monkeypatch.setattr(in_process, "BLOCK_BYTES", 8 * 4 * DIMENSION * 3 * CLIENTS)
    assert_shortcut_equals_messages(world_of(tmp_path, seed), fb.algorithm(name, **OFTEN[name]))


LONG = {
    "fedglb-ucb": {"sync_threshold": 0.002},
    "fedglb-ucb-1": {"rounds_of_update": 300},
    "fedglb-ucb-2": {"rounds_of_update": 300},
}
ARM_BOUND = {"sphere": 1.0, "pool": 1.4143}


@pytest.mark.slow
@pytest.mark.parametrize("source", ARM_BOUND)
@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("name", LONG)
def test_the_shortcut_equals_messages_in_long_runs_of_ten_features(passes, name, seed, source):
    algorithm = fb.algorithm(name, **LONG[name], arm_bound=ARM_BOUND[source])
    trace = assert_shortcut_equals_messages(Logistic(clients=50, source=source), algorithm, turns=50 * 800, seed=seed)
    probes = trace.messages.sum() / (2 * 50) - trace.rounds
    assert len(passes) < 1.8 * probes  # of both ways together


@pytest.mark.parametrize(("name", "value"), BY_MESSAGES.items())
def test_what_the_shortcut_does_not_do_goes_by_messages(name, value):
    algorithm = fb.algorithm("fedglb-ucb-1", **{name: value})
    assert algorithm.federation(fb.Setting(CLIENTS, 4, DIMENSION, ROUNDS)).shortcut is None


def test_with_many_features_or_without_a_regression_there_is_no_shortcut():
    wide, narrow = (fb.Setting(CLIENTS, 4, dimension, ROUNDS) for dimension in (25, 3))
    assert fb.algorithm("fedglb-ucb-1").federation(wide).shortcut is None
    for name in ("fedglb-ucb-3", "n-ucb-glm", "one-ucb-glm"):
        assert fb.algorithm(name).federation(narrow).shortcut is None


def test_either_can_follow_the_other(tmp_path):
    world, algorithm = world_of(tmp_path), fb.algorithm("fedglb-ucb", sync_threshold=0.05)
    (_, by_message), (_, short) = simulate(ByMessages(algorithm), world, TURNS), simulate(algorithm, world, TURNS)
    rng = np.random.default_rng(1)
    for turn in range(60):
        who, offer, reward = np.array([turn % CLIENTS]), rng.uniform(-0.5, 0.5, (1, 4, DIMENSION)), rng.random(1)
        for wire in (by_message, short):
            choice = wire.clients.decide(who, offer, np.empty((1, 0))).choices
            wire.carry(wire.clients.learn(who, Observations(offer, choice, reward)))
    assert_same_knowledge(short, by_message)
    shortcut = algorithm.federation(fb.Setting(CLIENTS, 4, DIMENSION, ROUNDS)).shortcut
    (block,) = world.turns(100, seed=0, block=100)
    for _ in range(4):  # one shortcut for two cohorts in turn, whose sums it must not mix up
        mine, theirs = (
            shortcut.simulate_turns(wire.clients.state, wire.server.state, block, np.empty((100, 0)))
            for wire in (by_message, short)
        )
        assert (mine.choices == theirs.choices).all()
    assert_same_knowledge(short, by_message)


def test_a_search_without_passes_that_does_not_converge_says_so(tmp_path, monkeypatch, passes):
    world, algorithm = world_of(tmp_path), fb.algorithm("fedglb-ucb-1", **OFTEN["fedglb-ucb-1"])
    sides = algorithm.federation(fb.Setting(CLIENTS, 4, DIMENSION, ROUNDS))
    wire = begin(sides, CLIENTS, Ledger())
    first, second = world.turns(TURNS, seed=0, block=TURNS // 2)
    sides.shortcut.simulate_turns(wire.clients.state, wire.server.state, first, np.empty((TURNS, 0)))
    monkeypatch.setattr("fedbandit.algorithms.glm.shared.solvers.MOST_STEPS", 3)
    passes.clear()
    with pytest.raises(fb.InvalidInput, match="did not converge in 3 steps: set arm_bound"):
        sides.shortcut.simulate_turns(wire.clients.state, wire.server.state, second, np.empty((TURNS, 0)))
    assert not passes


def a_wrong_coefficient(monkeypatch):
    original = nearby_gradients.nothing_summed

    def nothing_summed(*args):
        taylor = original(*args)
        taylor.over[5] *= 1.0 + 1e-4
        return taylor

    monkeypatch.setattr(nearby_gradients, "nothing_summed", nothing_summed)


def a_radius_too_large(monkeypatch):
    monkeypatch.setattr(nearby_gradients, "EXACT", 1e6)


def an_observation_too_few(monkeypatch):
    original = nearby_gradients.add_up_to
    monkeypatch.setattr(
        nearby_gradients,
        "add_up_to",
        lambda taylor, kept, stop, link: original(taylor, kept, np.maximum(stop - 1, 0), link),
    )


@pytest.mark.parametrize("bug", [a_wrong_coefficient, a_radius_too_large, an_observation_too_few])
def test_the_comparison_can_fail(tmp_path, monkeypatch, bug):
    bug(monkeypatch)
    monkeypatch.setattr("fedbandit.algorithms.glm.shared.solvers.MOST_STEPS", 1000)
    with pytest.raises((AssertionError, fb.InvalidInput)):
        assert_shortcut_equals_messages(world_of(tmp_path), fb.algorithm("fedglb-ucb-1", **OFTEN["fedglb-ucb-1"]))
