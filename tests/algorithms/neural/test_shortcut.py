"""The simulation's shortcut equals the message path: for every declared parameter, and across all borders of its loops.

Parameters come from the declarations: one that is added tomorrow is compared as well, or this file asks for its values.
"""

from __future__ import annotations

from dataclasses import fields

import numpy as np
import pytest

import fedbandit as fb
from fedbandit.algorithms.neural.shared.parameters import NeuralAlgorithm
from fedbandit.core.limits import Limits
from fedbandit.core.turns import Observations
from fedbandit.simulation.in_process import simulate
from samples.runs import ByMessages, assert_same_trace
from samples.worlds import recorded

pytest.importorskip("jax", reason="needs JAX: pip install '.[neural]'")

CLIENTS, ROUNDS = 3, 540  # beyond the 512 rows after which inverses are computed afresh
SMALL = {"width": 4, "train_steps": 2, "train_until": 150, "precision": "float64"}


@pytest.fixture(scope="module")
def arrays():
    rng = np.random.default_rng(0)
    arms = rng.standard_normal((CLIENTS * ROUNDS, 4, 3))
    arms /= np.linalg.norm(arms, axis=-1, keepdims=True)
    client = np.concatenate([rng.permutation(CLIENTS) for _ in range(ROUNDS)])  # in any order within a round
    return {"client": client, "arms": arms, "reward": np.cos(arms @ np.array([2.0, -1.0, 0.5]))}


@pytest.fixture
def uneven(tmp_path, arrays):
    """A world of arms that are not all of one length."""
    lengths = np.random.default_rng(2).uniform(0.7, 1.3, arrays["arms"].shape[:2])
    return recorded(tmp_path, {**arrays, "arms": arrays["arms"] * lengths[:, :, np.newaxis]})


def assert_same_knowledge(one, other, tolerance=1e-8):
    assert_same_own(getattr(one.clients.state, "own", one.clients.state), other.clients.state, tolerance)
    if not hasattr(one.clients.state, "own"):
        return
    mine, theirs = one.clients.state, other.clients.state
    for name in ("pooled", "synced_diagonal", "thetas", "sent", "alpha", "heard", "since", "version", "unsent"):
        np.testing.assert_allclose(getattr(mine, name), getattr(theirs, name), atol=tolerance, err_msg=name)
    np.testing.assert_allclose(mine.learnt.pooled_moment, theirs.learnt.pooled_moment, atol=tolerance)
    np.testing.assert_allclose(one.server.state.moment, other.server.state.moment, atol=tolerance)
    assert one.server.state.version == other.server.state.version
    np.testing.assert_allclose(gram(one.server.state.whole.gram), gram(other.server.state.whole.gram), atol=tolerance)


def assert_same_own(mine, theirs, tolerance):
    theirs = getattr(theirs, "own", theirs)
    for name in ("turns", "load", "used"):
        np.testing.assert_allclose(getattr(mine, name), getattr(theirs, name), err_msg=name)
    for name in ("matrix", "thetas"):
        np.testing.assert_allclose(getattr(mine, name), getattr(theirs, name), atol=tolerance, err_msg=name)


def gram(sums):
    if sums.rows is None:
        return np.asarray(sums.diagonal)
    rows = np.asarray(sums.rows[0], dtype=np.float64)
    return rows.T @ rows + (0 if sums.base is None else np.asarray(sums.base[0]))


def assert_shortcut_equals_messages(world, algorithm, rounds, tolerance=1e-8):
    by_message, sides = simulate(ByMessages(algorithm), world, CLIENTS * rounds)
    short, others = simulate(algorithm, world, CLIENTS * rounds)
    assert_same_trace(short, by_message)
    assert_same_knowledge(others, sides, tolerance)
    return short


LONG = [
    ("fn-ucb-less", {}),
    ("fn-ucb", {"weight": "theory", "train_from": "average", "initialisation": "normal"}),
]
MORE = [
    ("neural-ts", {}),
    ("fn-ucb-less", {"diagonal": True, "weight": "theory"}),
    ("fn-ucb-less", {"aggregate": False, "warm_start": False, "regulariser": "decay", "rate_bound": "count"}),
    ("neural-ucb", {}),
]


@pytest.mark.parametrize(
    ("name", "changes"), [*LONG, *(pytest.param(*each, marks=pytest.mark.slow) for each in MORE)], ids=str
)
def test_the_shortcut_equals_messages_across_all_borders(tmp_path, arrays, name, changes):
    trace = assert_shortcut_equals_messages(recorded(tmp_path, arrays), fb.algorithm(name, **SMALL, **changes), ROUNDS)
    assert trace.rounds == (0 if name.startswith("neural") else ROUNDS)


FEW = 12  # rounds for each parameter
BASE = {"width": 8, "train_steps": 1, "train_rate": 0.1, "precision": "float64"}  # a rate that its bound lowers
NEURAL = [name for name in fb.algorithms if issubclass(fb.algorithms[name], NeuralAlgorithm)]
RICHEST = "fn-ucb-less"  # it has all parameters that any of them has
EVEN = {"weight": 0.5}  # both of its bounds count
BY_MESSAGES = ("sync_threshold", "explore", "smallest_upload")  # another value leaves the message path alone
VALUES = {  # where limits and choices do not say what else a parameter may be
    "device": ["cpu"],  # what others there are, a machine may not have
    "train_until": [5],  # it ends within the rounds
    "weight": ["theory", "ramp:20"],
}


def others(each):
    """Other values of a declared parameter than its own in BASE, and its default."""
    limits: Limits = each.metadata["limits"]
    used = BASE.get(each.name, each.default)
    if each.name in VALUES:
        return VALUES[each.name]
    if limits.choices:
        return [choice for choice in limits.choices if choice != used]
    if isinstance(used, bool):
        return [not used]
    assert isinstance(used, int | float), f"say in VALUES what {each.name} may be besides {used!r}"
    tried = [used + 2, type(used)(used * 3)] if isinstance(used, int) else [used * 3 or 0.5]
    return [next(value for value in tried if value != used and limits.allow(value))]


def declared(name):
    return [each for each in fields(fb.algorithms[name]) if "limits" in each.metadata]


EACH = [(each.name, value) for each in declared(RICHEST) for value in others(each)]


@pytest.mark.slow  # each value is another program to compile
@pytest.mark.parametrize(("parameter", "value"), EACH, ids=str)
def test_the_shortcut_equals_messages_for_every_parameter(uneven, parameter, value):
    algorithm = fb.algorithm(RICHEST, **{**BASE, **EVEN, parameter: value})
    shortcut = algorithm.federation(fb.Setting(CLIENTS, 4, 3, FEW)).shortcut
    assert (shortcut is None) == (parameter in BY_MESSAGES)
    tolerance = 1e-4 if value == "float32" else 1e-8
    assert_shortcut_equals_messages(uneven, algorithm, FEW, tolerance)


@pytest.mark.parametrize("name", NEURAL)
def test_the_shortcut_equals_messages_with_many_parameters_changed_at_once(uneven, name):
    kept = {"device", "precision", "width", *BY_MESSAGES}
    changes = {each.name: others(each)[0] for each in declared(name) if each.name not in kept}
    algorithm = fb.algorithm(name, **BASE | changes)
    assert_shortcut_equals_messages(uneven, algorithm, FEW)


def test_the_richest_has_every_parameter():
    assert {each.name for name in NEURAL for each in declared(name)} == {each.name for each in declared(RICHEST)}


@pytest.mark.parametrize("changes", [{}, {"diagonal": True, "weight": "theory"}], ids=str)
def test_messages_can_follow_the_shortcut(tmp_path, arrays, changes):
    world, algorithm = recorded(tmp_path, arrays), fb.algorithm("fn-ucb-less", **SMALL, **changes)
    _, by_message = simulate(ByMessages(algorithm), world, CLIENTS * 20)
    _, whole = simulate(algorithm, world, CLIENTS * 20)
    rng = np.random.default_rng(1)
    everyone = np.arange(CLIENTS)
    for _ in range(5):
        offer, reward = rng.standard_normal((CLIENTS, 4, 3)), rng.random(CLIENTS)
        chosen = []
        for wire in (by_message, whole):
            choice = wire.clients.decide(everyone, offer, np.empty((CLIENTS, 0))).choices
            wire.carry(wire.clients.learn(everyone, Observations(offer, choice, reward)))
            chosen.append(choice.tolist())
        assert chosen[0] == chosen[1]
    assert_same_knowledge(whole, by_message)


def test_a_training_that_diverges_is_said_alike(tmp_path):
    rng = np.random.default_rng(0)
    arms = rng.standard_normal((200, 3, 5))
    arms *= 30 / np.linalg.norm(arms, axis=-1, keepdims=True)
    world = recorded(tmp_path, {"client": np.arange(200) % 2, "arms": arms, "reward": rng.random((200, 3))})
    algorithm = fb.algorithm("fn-ucb-less", rate_bound="count", weight=1.0)
    said = []
    for each in (ByMessages(algorithm), algorithm):
        with pytest.raises(fb.InvalidInput, match="training diverged") as refused:
            simulate(each, world, 200)
        said.append(str(refused.value))
    assert said[0] == said[1]
