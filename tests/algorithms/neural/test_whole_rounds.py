"""Whole rounds in one loop leave both sides as message after message does, across every border between two loops."""

from __future__ import annotations

import numpy as np
import pytest

import fedbandit as fb
from fedbandit.core.turns import Observations
from fedbandit.simulation.in_process import simulate
from samples.runs import ByMessages, assert_same_trace
from samples.worlds import recorded

pytest.importorskip("jax", reason="needs JAX: pip install 'fedbandit[neural]'")

CLIENTS, ROUNDS = 3, 540  # beyond the 512 rows after which inverses are computed afresh
SMALL = {"width": 4, "train_steps": 2, "train_until": 150, "precision": "float64"}


@pytest.fixture(scope="module")
def arrays():
    rng = np.random.default_rng(0)
    arms = rng.standard_normal((CLIENTS * ROUNDS, 4, 3))
    arms /= np.linalg.norm(arms, axis=-1, keepdims=True)
    client = np.concatenate([rng.permutation(CLIENTS) for _ in range(ROUNDS)])  # in any order within a round
    return {"client": client, "arms": arms, "reward": np.cos(arms @ np.array([2.0, -1.0, 0.5]))}


def assert_same_knowledge(one, other):
    mine, theirs = one.clients.state, other.clients.state
    for name in ("turns", "load", "used"):
        np.testing.assert_allclose(getattr(mine.own, name), getattr(theirs.own, name))
    for name in ("matrix", "thetas"):
        np.testing.assert_allclose(getattr(mine.own, name), getattr(theirs.own, name), atol=1e-8)
    for name in ("pooled", "synced_diagonal", "thetas", "sent", "alpha", "heard", "since", "version"):
        np.testing.assert_allclose(getattr(mine, name), getattr(theirs, name), atol=1e-8)
    np.testing.assert_allclose(mine.learnt.pooled_moment, theirs.learnt.pooled_moment, atol=1e-8)
    np.testing.assert_allclose(one.server.state.moment, other.server.state.moment, atol=1e-8)
    assert one.server.state.version == other.server.state.version
    np.testing.assert_allclose(gram(one.server.state.whole.gram), gram(other.server.state.whole.gram), atol=1e-8)


def gram(sums):
    if sums.rows is None:
        return np.asarray(sums.diagonal)
    rows = np.asarray(sums.rows[0], dtype=np.float64)
    return rows.T @ rows + (0 if sums.base is None else np.asarray(sums.base[0]))


CASES = [
    ("fn-ucb-less", {}),
    ("fn-ucb-less", {"diagonal": True, "weight": "theory"}),
    ("fn-ucb", {"weight": "theory", "train_from": "average", "initialisation": "normal"}),
    ("fn-ucb-less", {"aggregate": False, "warm_start": False, "regulariser": "decay", "rate_bound": "count"}),
]


@pytest.mark.parametrize(("name", "changes"), CASES, ids=str)
def test_whole_rounds_equal_messages(tmp_path, arrays, name, changes):
    world, algorithm = recorded(tmp_path, arrays), fb.algorithm(name, **SMALL, **changes)
    by_message, sides = simulate(ByMessages(algorithm), world, CLIENTS * ROUNDS)
    whole, others = simulate(algorithm, world, CLIENTS * ROUNDS)
    assert_same_trace(whole, by_message)
    assert whole.ledger == by_message.ledger
    assert whole.rounds == ROUNDS
    assert_same_knowledge(others, sides)


@pytest.mark.parametrize("name", ["neural-ucb", "neural-ts"])
def test_whole_rounds_of_lone_clients_equal_single_ones(tmp_path, arrays, name):
    world, algorithm = recorded(tmp_path, arrays), fb.algorithm(name, **SMALL)
    single, sides = simulate(ByMessages(algorithm), world, CLIENTS * ROUNDS)
    whole, others = simulate(algorithm, world, CLIENTS * ROUNDS)
    assert_same_trace(whole, single)
    np.testing.assert_allclose(others.clients.state.matrix, sides.clients.state.matrix, atol=1e-8)
    np.testing.assert_allclose(others.clients.state.thetas, sides.clients.state.thetas, atol=1e-8)


@pytest.mark.parametrize("changes", [{}, {"diagonal": True, "weight": "theory"}], ids=str)
def test_messages_can_follow_whole_rounds(tmp_path, arrays, changes):
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
