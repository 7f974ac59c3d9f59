"""Clustered-LinUCB chooses and communicates as the literal transcription does, turn by turn, and tells groups apart."""

from __future__ import annotations

import numpy as np
import pytest

import fedbandit as fb
from fedbandit.core.randomness import ClientStreams
from fedbandit.simulation.in_process import simulate
from reference.clusters import clustered_linucb, grouped_turns
from reference.recorded import linear_turns
from samples.groups import sets, verdicts
from samples.worlds import recorded

WORLDS = [
    pytest.param({"seed": 0, "turns": 350, "clients": 9, "arms": 5, "dimension": 3, "groups": 3}, id="three groups"),
    pytest.param({"seed": 1, "turns": 350, "clients": 9, "arms": 5, "dimension": 4, "groups": 1}, id="no groups"),
    pytest.param({"seed": 2, "turns": 350, "clients": 6, "arms": 5, "dimension": 3, "groups": 6}, id="all differ"),
    pytest.param(
        {"seed": 3, "turns": 800, "clients": 17, "arms": 4, "dimension": 2, "groups": 2, "skew": 1.0}, id="skewed"
    ),
    pytest.param(
        {"seed": 4, "turns": 300, "clients": 8, "arms": 4, "dimension": 3, "groups": 1, "liars": 2}, id="liars"
    ),
    pytest.param({"seed": 5, "turns": 100, "clients": 1, "arms": 4, "dimension": 3, "groups": 1}, id="one client"),
]
OFTEN = {"upload_threshold": 1.0, "download_threshold": 1.0}


def play(folder, world, name="clustered-linucb", **parameters):
    environment = recorded(folder, world)
    return simulate(fb.algorithm(name, **parameters), environment, environment.setting().horizon)


def assert_same(trace, wire, literal):
    assert trace.choice.tolist() == literal["arm"].tolist()
    assert np.cumsum(trace.messages).tolist() == literal["messages"].tolist()
    assert np.cumsum(trace.scalars).tolist() == literal["scalars"].tolist()
    assert (trace.ledger.uploads, trace.ledger.downloads) == (literal["uploads"], literal["downloads"])
    state = wire.server.state
    np.testing.assert_allclose(state.told.gram, literal["S"], atol=1e-9)
    np.testing.assert_allclose(state.told.moment, literal["s"], atol=1e-9)
    np.testing.assert_allclose(state.shared.gram, literal["C"], atol=1e-9)
    assert (verdicts(state) == literal["apart"]).all()
    assert sets(state.shared.held, len(literal["u"])) == literal["H"]


@pytest.mark.parametrize(
    "thresholds",
    [{}, OFTEN, {"upload_threshold": 1.3, "download_threshold": 2.0}, {"upload_threshold": 12.0}, {"test_level": 0.9},
     {"test_level": 0.0}],
    ids=["default", "every turn", "often", "seldom", "level 0.9", "level 0"],
)  # fmt: skip
@pytest.mark.parametrize("sizes", WORLDS)
def test_it_equals_the_transcription(tmp_path, sizes, thresholds):
    world = grouped_turns(**sizes)
    assert_same(*play(tmp_path, world, **thresholds), clustered_linucb(world, **thresholds))


@pytest.mark.parametrize("parameters", [{"ridge": 2.0}, {"noise": 1.0}, {"noise": 0.0}, {"delta": 0.5}, {"alpha": 0.3}])
def test_every_parameter_does_what_it_says(tmp_path, parameters):
    world = grouped_turns(seed=6, turns=500, clients=7, arms=5, dimension=4, groups=2)
    assert_same(*play(tmp_path, world, **parameters), clustered_linucb(world, **parameters))


def test_thresholds_per_client_equal_the_transcription(tmp_path):
    world = grouped_turns(seed=7, turns=500, clients=6, arms=6, dimension=4, groups=2, skew=0.5)
    thresholds = {
        "upload_threshold": np.array([1.0, 1.1, 2.0, 5.0, 50.0, np.inf]),
        "download_threshold": np.array([1.0, 50.0, np.inf, 1.3, 2.0, 3.0]),
    }
    assert_same(*play(tmp_path, world, **thresholds), clustered_linucb(world, **thresholds))


@pytest.mark.parametrize("exploration", ["thompson", "perturbed"])
def test_sampling_equals_the_transcription(tmp_path, exploration):
    world = grouped_turns(seed=8, turns=400, clients=8, arms=6, dimension=4, groups=2)
    draws = ClientStreams(seed=0).normals(world["client"], 4)
    literal = clustered_linucb(world, exploration=exploration, draws=draws)
    assert_same(*play(tmp_path, world, exploration=exploration), literal)


def test_a_long_run_stays_with_the_transcription(tmp_path):
    """More own observations than inverses go without being computed afresh, with something not uploaded then."""
    world = grouped_turns(seed=9, turns=2600, clients=2, arms=3, dimension=2, groups=2)
    assert_same(*play(tmp_path, world, upload_threshold=1.4), clustered_linucb(world, upload_threshold=1.4))


def test_ties_of_determinants_do_not_depend_on_rounding(tmp_path):
    """A first unit arm multiplies the determinant by 1 + 1/ridge = 11 exactly: a threshold of 11 is not passed."""
    world = linear_turns(seed=3, turns=6, clients=6, arms=4, dimension=5)
    assert play(tmp_path, world, upload_threshold=11.0)[0].ledger.uploads == 0
    assert play(tmp_path, world, upload_threshold=10.999)[0].ledger.uploads == 6


def test_a_zero_arm_uploads_nothing(tmp_path):
    world = linear_turns(seed=10, turns=20, clients=3, arms=2, dimension=3)
    world["arms"] = np.zeros_like(world["arms"])
    assert play(tmp_path, world, **OFTEN)[0].ledger.messages == 0


@pytest.mark.parametrize("download", [1.0, 3.0])
def test_nobody_told_apart_and_every_turn_uploaded_is_async(tmp_path, download):
    world = grouped_turns(seed=11, turns=400, clients=7, arms=5, dimension=4, groups=3)
    thresholds = {"upload_threshold": 1.0, "download_threshold": download}
    ours, _ = play(tmp_path, world, test_level=0, **thresholds)
    theirs, _ = play(tmp_path, world, "async-linucb", **thresholds)
    assert ours.choice.tolist() == theirs.choice.tolist()
    assert ours.messages.tolist() == theirs.messages.tolist()


@pytest.mark.parametrize("thresholds", [{"upload_threshold": np.inf}, {"download_threshold": np.inf}])
def test_with_either_threshold_infinite_clients_are_alone(tmp_path, thresholds):
    world = grouped_turns(seed=12, turns=400, clients=7, arms=5, dimension=4, groups=3)
    ours, _ = play(tmp_path, world, **thresholds)
    assert ours.choice.tolist() == play(tmp_path, world, "local-linucb")[0].choice.tolist()
    assert ours.ledger.downloads == 0


@pytest.mark.parametrize("groups", [1, 2, 4])
def test_groups_are_found(groups):
    world = fb.environment("grouped", clients=12, groups=groups, arms=8, dimension=5, source="sphere")
    _, wire = simulate(fb.algorithm("clustered-linucb"), world, turns=6000, seed=1)
    group = world.group_of(1)
    assert (verdicts(wire.server.state) == (group[:, np.newaxis] != group)).all()
    assert wire.server.side.peers(wire.server.state).tolist() == [12 // groups - 1] * 12


@pytest.mark.parametrize(
    ("how", "sentence"),
    [
        ({"test_level": 1}, "test_level must be at least 0 and less than 1, not 1: give a number in that range"),
        ({"upload_threshold": 0.5}, "upload_threshold must be at least 1, not 0.5: give a number in that range"),
    ],
)
def test_parameters_out_of_range_are_refused_in_one_sentence(how, sentence):
    with pytest.raises(fb.InvalidInput) as error:
        fb.algorithm("clustered-linucb", **how)
    assert str(error.value) == sentence
