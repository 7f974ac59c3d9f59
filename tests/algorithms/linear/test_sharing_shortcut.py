"""The simulation's shortcut for Clustered-LinUCB equals the message path, for every declared parameter.

Parameters come from the declaration: one that is added tomorrow is compared as well, or this file asks for its values.
"""

from __future__ import annotations

from dataclasses import fields

import numpy as np
import pytest

import fedbandit as fb
from fedbandit.core.turns import Observations
from fedbandit.simulation import in_process
from fedbandit.simulation.in_process import simulate
from fedbandit.wire.state import encode_state
from reference.clusters import grouped_turns
from samples.runs import ByMessages, assert_same_trace
from samples.worlds import recorded

CLIENTS, TURNS = 9, 500
CHANGES = {
    "ridge": [2.0],
    "noise": [0.5],
    "delta": [0.4],
    "exploration": ["thompson", "perturbed", "igw"],
    "alpha": [0.2],
    "greed": [30.0],
    "upload_threshold": [1.0, np.inf, (1.0, 2.0, 5.0) * 3],
    "download_threshold": [1.0, np.inf, (np.inf, 1.0, 3.0) * 3],
    "test_level": [0.0, 0.9],
    "smallest_upload": [7],
}
BY_MESSAGES = ("explore",)  # another value than 0 leaves the message path alone


@pytest.fixture
def world(tmp_path):
    turns = grouped_turns(seed=1, turns=TURNS, clients=CLIENTS, arms=4, dimension=3, groups=3)
    turns["draws"] = np.random.default_rng(0).standard_normal((TURNS, 3))
    return recorded(tmp_path, turns)


def both_ways(algorithm, world):
    return simulate(ByMessages(algorithm), world, TURNS), simulate(algorithm, world, TURNS)


def assert_same_knowledge(one, other):
    """Both nodes know the same, to the last bit, once downloads that wait are taken in."""
    assert encode_state(one.server.state) == encode_state(other.server.state)
    for wire in (one, other):
        for client in range(CLIENTS):
            wire.clients.side.settle(wire.clients.state, client)
    mine, theirs = one.clients.state, other.clients.state
    assert (mine.row_of == theirs.row_of).all()
    for name in ("rows", "own", "exchange", "errors"):
        for each, same in zip(getattr(mine, name) or (), getattr(theirs, name) or (), strict=True):
            np.testing.assert_array_equal(each, same, err_msg=name)


def declared():
    found = fields(fb.algorithms["clustered-linucb"])
    return [each.name for each in found if each.name not in BY_MESSAGES]


@pytest.mark.parametrize(
    "changes",
    [{}, *({name: value} for name in declared() for value in CHANGES[name] if name != "greed"),
     *({"greed": greed, "exploration": "igw"} for greed in CHANGES["greed"]),
     {"upload_threshold": 1.0, "download_threshold": 1.0}],
    ids=str,
)  # fmt: skip
def test_the_shortcut_equals_messages_for_every_parameter(world, changes):
    by_message, short = both_ways(fb.algorithm("clustered-linucb", **changes), world)
    assert_same_trace(short[0], by_message[0])
    assert_same_knowledge(short[1], by_message[1])


def test_the_shortcut_equals_messages_across_blocks_of_turns(world, monkeypatch):
    monkeypatch.setattr(in_process, "BLOCK_BYTES", 8 * 4 * 3 * 7)
    by_message, short = both_ways(fb.algorithm("clustered-linucb"), world)
    assert_same_trace(short[0], by_message[0])
    assert_same_knowledge(short[1], by_message[1])


@pytest.mark.parametrize("name", BY_MESSAGES)
def test_what_the_shortcut_does_not_do_goes_by_messages(name):
    algorithm = fb.algorithm("clustered-linucb", **{name: 0.1})
    assert algorithm.federation(fb.Setting(CLIENTS, 4, 3, TURNS)).shortcut is None


def test_either_can_follow_the_other(world):
    algorithm = fb.algorithm("clustered-linucb", upload_threshold=1.5, download_threshold=1.5)
    (_, by_message), (_, short) = both_ways(algorithm, world)
    rng = np.random.default_rng(1)
    for turn in range(60):
        who, offer, reward = np.array([turn % CLIENTS]), rng.standard_normal((1, 4, 3)), rng.random(1)
        for wire in (by_message, short):
            choice = wire.clients.decide(who, offer, np.empty((1, 0))).choices
            wire.carry(wire.clients.learn(who, Observations(offer, choice, reward)))
    shortcut = algorithm.federation(fb.Setting(CLIENTS, 4, 3, TURNS)).shortcut
    chosen = []
    for wire in (by_message, short):
        (block,) = world.turns(100, seed=0, block=100)
        chosen.append(shortcut.simulate_turns(wire.clients.state, wire.server.state, block, np.empty((100, 0))).choices)
    assert (chosen[0] == chosen[1]).all()
    assert_same_knowledge(short, by_message)
