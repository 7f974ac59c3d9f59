"""Lean-LinUCB in double precision chooses and communicates as the literal transcription does, turn by turn."""

from __future__ import annotations

import numpy as np
import pytest

from algorithms.linear.played import assert_same, play
from fedbandit.core.randomness import ClientStreams
from fedbandit.wire.state import encode_state
from reference.lean import lean_linucb
from reference.linear import async_linucb
from reference.linear_ends import local_linucb, pooled_linucb
from reference.recorded import linear_turns

WORLDS = [
    pytest.param({"seed": 0, "turns": 400, "clients": 10, "arms": 5, "dimension": 4, "skew": 0.0}, id="uniform"),
    pytest.param({"seed": 2, "turns": 600, "clients": 70, "arms": 8, "dimension": 6, "skew": 1.0}, id="seventy"),
    pytest.param({"seed": 3, "turns": 150, "clients": 1, "arms": 3, "dimension": 2, "skew": 0.0}, id="one"),
]


def compare(folder, world, **parameters):
    literal = lean_linucb(world, **parameters)
    trace, wire = play(folder, world, "lean-linucb", precision="float64", **parameters)
    assert_same(trace, wire, literal)
    if parameters.get("delivery") != "push" or parameters.get("welcome", True):
        assert trace.ledger.signals == literal["questions"]
    return trace


@pytest.mark.parametrize("welcome", [True, False])
@pytest.mark.parametrize("delivery", ["turn", "upload", "push"])
@pytest.mark.parametrize("sizes", WORLDS)
def test_it_equals_the_transcription(tmp_path, sizes, delivery, welcome):
    compare(tmp_path, linear_turns(**sizes), delivery=delivery, welcome=welcome)


@pytest.mark.parametrize("delivery", ["turn", "upload", "push"])
@pytest.mark.parametrize(("up", "down"), [(1.0, 1.0), (1.0, 5.0), (1.2, 1.0), (1.1, 20.0), (11.0, 11.0), (2.0, np.inf)])
def test_so_it_does_with_other_thresholds(tmp_path, up, down, delivery):
    world = linear_turns(seed=4, turns=500, clients=12, arms=6, dimension=5, skew=1.0)
    compare(tmp_path, world, delivery=delivery, upload_threshold=up, download_threshold=down)


@pytest.mark.parametrize("ask_growth", [1.0, 1.01, 1.5, 2.0, 10.0])
def test_so_it_does_however_rarely_clients_ask(tmp_path, ask_growth):
    world = linear_turns(seed=5, turns=500, clients=8, arms=6, dimension=5, skew=1.0)
    compare(tmp_path, world, ask_growth=ask_growth, download_threshold=5.0)


@pytest.mark.parametrize("exploration", ["thompson", "perturbed"])
@pytest.mark.parametrize("delivery", ["turn", "upload", "push"])
def test_so_it_does_when_it_samples(tmp_path, delivery, exploration):
    world = linear_turns(seed=6, turns=400, clients=8, arms=6, dimension=5, skew=1.0)
    draws = ClientStreams(seed=0).normals(world["client"], 5)
    literal = lean_linucb(world, delivery=delivery, exploration=exploration, draws=draws)
    played = play(tmp_path, world, "lean-linucb", precision="float64", delivery=delivery, exploration=exploration)
    assert_same(*played, literal)


@pytest.mark.parametrize("parameters", [{"ridge": 5.0}, {"noise": 1.0}, {"delta": 0.5}, {"alpha": 0.3}])
def test_every_parameter_of_the_width_does_what_it_says(tmp_path, parameters):
    compare(tmp_path, linear_turns(seed=7, turns=300, clients=8, arms=6, dimension=5), **parameters)


def test_pushing_without_a_welcome_is_async_linucb(tmp_path):
    world = linear_turns(seed=8, turns=500, clients=12, arms=6, dimension=5, skew=1.0)
    thresholds = {"upload_threshold": 1.2, "download_threshold": 3.0}
    trace, wire = play(
        tmp_path, world, "lean-linucb", delivery="push", welcome=False, precision="float64", **thresholds
    )
    assert_same(trace, wire, async_linucb(world, **thresholds))


def test_never_uploading_is_the_local_bandit(tmp_path):
    world = linear_turns(seed=9, turns=300, clients=6, arms=6, dimension=5)
    trace, _ = play(tmp_path, world, "lean-linucb", upload_threshold=np.inf)
    assert trace.choice.tolist() == local_linucb(world)["arm"].tolist()
    assert trace.ledger.messages == 0


def test_asking_and_uploading_at_every_turn_is_the_pooled_bandit(tmp_path):
    world = linear_turns(seed=10, turns=300, clients=6, arms=6, dimension=5)
    trace, _ = play(
        tmp_path, world, "lean-linucb", upload_threshold=1, download_threshold=1, ask_growth=1, precision="float64"
    )
    assert trace.choice.tolist() == pooled_linucb(world)["arm"].tolist()


@pytest.mark.parametrize("name", ["async-linucb", "fedlinucb"])
def test_a_welcome_gives_a_newcomer_all_that_there_is(tmp_path, name):
    world = linear_turns(seed=11, turns=200, clients=40, arms=10, dimension=5)
    blind, _ = play(tmp_path, world, name)
    welcomed, _ = play(tmp_path, world, name, welcome=True)
    firsts = np.unique(world["client"], return_index=True)[1]
    assert (blind.choice[firsts] == 0).all(), "unit arms tie for who knows nothing"
    assert (welcomed.choice[firsts] != 0).any()
    assert welcomed.ledger.signals == 40, "one question each, and no hello"
    assert welcomed.regret.sum() < blind.regret.sum()


def test_async_linucb_with_a_welcome_equals_the_transcription(tmp_path):
    world = linear_turns(seed=12, turns=500, clients=30, arms=6, dimension=5, skew=1.0)
    thresholds = {"upload_threshold": 1.3, "download_threshold": 4.0}
    literal = lean_linucb(world, delivery="push", welcome=True, **thresholds)
    assert_same(*play(tmp_path, world, "async-linucb", welcome=True, **thresholds), literal)


def test_questions_are_no_messages_but_their_bytes_count(tmp_path):
    world = linear_turns(seed=13, turns=60, clients=3, arms=4, dimension=3)
    trace, _ = play(tmp_path, world, "lean-linucb", upload_threshold=np.inf, download_threshold=np.inf)
    assert trace.ledger.messages == trace.ledger.scalars == 0
    assert trace.ledger.signals > 3
    assert trace.ledger.bytes == trace.bytes.sum() > 21 * trace.ledger.signals


@pytest.mark.parametrize("delivery", ["turn", "upload"])
def test_what_the_server_remembers_does_not_grow_with_the_clients(tmp_path, delivery):
    sizes = set()
    for clients in (1, 5, 200):
        world = linear_turns(seed=14, turns=300, clients=clients, arms=4, dimension=3)
        _, wire = play(tmp_path, world, "lean-linucb", delivery=delivery)
        assert wire.server.state.version > 0
        sizes.add(len(encode_state(wire.server.state)))
    assert len(sizes) == 1
