"""The linear family chooses and communicates as the literal transcription does, turn by turn."""

from __future__ import annotations

import numpy as np
import pytest

import fedbandit as fb
from algorithms.linear.played import assert_same, play
from fedbandit.core.randomness import ClientStreams
from reference import linear as reference
from reference.linear_ends import local_linucb, pooled_linucb
from reference.recorded import linear_turns

THRESHOLDS = [1.0, 1.05, 2.0, 50.0, np.inf]
WORLDS = [
    pytest.param({"seed": 0, "turns": 400, "clients": 10, "arms": 5, "dimension": 4, "skew": 0.0}, id="uniform"),
    pytest.param({"seed": 1, "turns": 400, "clients": 10, "arms": 5, "dimension": 4, "skew": 1.0}, id="skewed"),
    pytest.param({"seed": 2, "turns": 600, "clients": 50, "arms": 8, "dimension": 6, "skew": 1.0}, id="fifty"),
    pytest.param({"seed": 3, "turns": 150, "clients": 1, "arms": 3, "dimension": 2, "skew": 0.0}, id="one"),
]
LITERAL = {
    "async-linucb": reference.async_linucb,
    "sync-linucb": reference.sync_linucb,
    "local-linucb": local_linucb,
    "pooled-linucb": pooled_linucb,
}


@pytest.mark.parametrize("threshold", THRESHOLDS)
@pytest.mark.parametrize("sizes", WORLDS)
def test_async_equals_the_transcription(tmp_path, sizes, threshold):
    world = linear_turns(**sizes)
    thresholds = {"upload_threshold": threshold, "download_threshold": threshold}
    literal = reference.async_linucb(world, **thresholds)
    assert_same(*play(tmp_path, world, "async-linucb", **thresholds), literal)


@pytest.mark.parametrize(("upload", "download"), [(1.0, 5.0), (1.2, 20.0), (5.0, 1.0), (np.inf, 1.5), (1.5, np.inf)])
def test_async_with_separate_thresholds_equals_the_transcription(tmp_path, upload, download):
    world = linear_turns(seed=4, turns=500, clients=12, arms=6, dimension=5, skew=1.0)
    thresholds = {"upload_threshold": upload, "download_threshold": download}
    literal = reference.async_linucb(world, **thresholds)
    assert_same(*play(tmp_path, world, "async-linucb", **thresholds), literal)


def test_async_with_thresholds_per_client_equals_the_transcription(tmp_path):
    world = linear_turns(seed=5, turns=500, clients=6, arms=6, dimension=5, skew=1.0)
    thresholds = {
        "upload_threshold": np.array([1.0, 1.1, 2.0, 5.0, 50.0, np.inf]),
        "download_threshold": np.array([1.0, 50.0, np.inf, 1.3, 2.0, 3.0]),
    }
    literal = reference.async_linucb(world, **thresholds)
    assert_same(*play(tmp_path, world, "async-linucb", **thresholds), literal)


@pytest.mark.parametrize("threshold", [0.0, 0.05, 1.0, 50.0, np.inf])
@pytest.mark.parametrize("sizes", WORLDS)
def test_sync_equals_the_transcription(tmp_path, sizes, threshold):
    world = linear_turns(**sizes)
    literal = reference.sync_linucb(world, sync_threshold=threshold)
    trace, wire = play(tmp_path, world, "sync-linucb", sync_threshold=threshold)
    assert_same(trace, wire, literal)
    assert trace.rounds == literal["rounds"]


@pytest.mark.parametrize("threshold", [0.05, 20.0])
def test_sync_of_clients_that_were_met_equals_the_transcription(tmp_path, threshold):
    world = linear_turns(seed=6, turns=400, clients=30, arms=6, dimension=5, skew=1.0)
    literal = reference.sync_linucb(world, sync_threshold=threshold, roster="met")
    trace, wire = play(tmp_path, world, "sync-linucb", sync_threshold=threshold, roster="met")
    assert_same(trace, wire, literal)
    assert trace.rounds == literal["rounds"]
    assert literal["messages"][-1] < 2 * 30 * literal["rounds"]


@pytest.mark.parametrize("name", ["local-linucb", "pooled-linucb"])
@pytest.mark.parametrize("sizes", WORLDS)
def test_the_baselines_equal_the_transcription(tmp_path, sizes, name):
    world = linear_turns(**sizes)
    assert_same(*play(tmp_path, world, name), LITERAL[name](world))


@pytest.mark.parametrize("exploration", ["thompson", "perturbed"])
@pytest.mark.parametrize("name", LITERAL)
def test_sampling_equals_the_transcription(tmp_path, name, exploration):
    world = linear_turns(seed=6, turns=400, clients=8, arms=6, dimension=5, skew=1.0)
    draws = ClientStreams(seed=0).normals(world["client"], 5)
    literal = LITERAL[name](world, exploration=exploration, draws=draws)
    assert_same(*play(tmp_path, world, name, exploration=exploration), literal)


@pytest.mark.parametrize("parameters", [{"ridge": 5.0}, {"noise": 1.0}, {"delta": 0.5}, {"alpha": 0.3}, {"alpha": 0.0}])
def test_every_parameter_of_the_width_does_what_it_says(tmp_path, parameters):
    world = linear_turns(seed=7, turns=300, clients=8, arms=6, dimension=5)
    literal = reference.async_linucb(world, **parameters)
    assert_same(*play(tmp_path, world, "async-linucb", **parameters), literal)


def test_a_long_run_stays_with_the_transcription(tmp_path):
    """More updates than the inverse goes without being computed afresh."""
    world = linear_turns(seed=8, turns=2500, clients=1, arms=4, dimension=3)
    assert_same(*play(tmp_path, world, "local-linucb"), local_linucb(world))


def test_arms_of_very_different_lengths_do_not_matter(tmp_path):
    world = linear_turns(seed=9, turns=300, clients=5, arms=6, dimension=4)
    world["arms"] = world["arms"] * np.geomspace(1e-3, 1e3, 6)[:, np.newaxis]
    literal = reference.async_linucb(world)
    assert_same(*play(tmp_path, world, "async-linucb"), literal)


def test_a_zero_arm_uploads_nothing(tmp_path):
    world = linear_turns(seed=10, turns=20, clients=3, arms=2, dimension=3)
    world["arms"] = np.zeros_like(world["arms"])
    trace, _ = play(tmp_path, world, "async-linucb", upload_threshold=1, download_threshold=1)
    assert trace.ledger.messages == 0


def test_local_equals_async_with_infinite_thresholds(tmp_path):
    world = linear_turns(seed=11, turns=300, clients=5, arms=6, dimension=4)
    alone, _ = play(tmp_path, world, "local-linucb")
    infinite, _ = play(tmp_path, world, "async-linucb", upload_threshold=np.inf, download_threshold=np.inf)
    assert alone.choice.tolist() == infinite.choice.tolist()
    assert alone.ledger.signals == infinite.ledger.signals == 0


def test_a_list_of_thresholds_must_name_every_client(tmp_path):
    world = linear_turns(seed=12, turns=20, clients=3, arms=2, dimension=3)
    with pytest.raises(fb.InvalidInput, match="upload_threshold lists 2 values for 3 clients"):
        play(tmp_path, world, "async-linucb", upload_threshold=[2, 3])
