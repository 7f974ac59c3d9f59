"""FN-UCB chooses, trains and communicates as the literal transcription does, round by round."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

import fedbandit as fb
from fedbandit.kernels.neural.network import normal_network, symmetric_network
from fedbandit.simulation.in_process import simulate
from reference import neural as reference
from reference.nonlinear import block_rounds, nonlinear_rounds
from samples.runs import ByMessages
from samples.worlds import recorded

pytest.importorskip("jax", reason="needs JAX: pip install '.[neural]'")

SMALL = {"width": 6, "train_steps": 5, "precision": "float64"}
MAKERS = {"symmetric": symmetric_network, "normal": normal_network}


def initial(world, parameters):
    make = MAKERS[parameters.get("initialisation", "symmetric")]
    depth = parameters.get("depth", 1)
    return make(world["arms"].shape[2], parameters["width"], depth, parameters.get("network_seed", 0)).initial


def compare(folder, world, name="fn-ucb-less", in_whole_rounds=False, **changes):
    """Compare a run with the transcription message by message; that whole rounds do the same is in test_shortcut.py."""
    parameters = {**SMALL, **changes}
    algorithm, environment = fb.algorithm(name, **parameters), recorded(folder, world)
    known = {key: value for key, value in parameters.items() if key not in {"precision", "network_seed"}}
    literal = reference.fn_ucb(world, initial(world, parameters), all_inverses=name == "fn-ucb", **known)
    for each in (ByMessages(algorithm), algorithm)[: 1 + in_whole_rounds]:
        assert_equals(literal, *simulate(each, environment, environment.setting().horizon))
    return literal


def assert_equals(literal, trace, wire):
    assert trace.choice.tolist() == literal["arm"].tolist()
    assert np.cumsum(trace.messages).tolist() == literal["messages"].tolist()
    assert np.cumsum(trace.scalars).tolist() == literal["scalars"].tolist()
    assert trace.rounds == literal["rounds"]
    own = wire.clients.state.own
    np.testing.assert_allclose(own.thetas, literal["theta"], atol=1e-9)
    if literal["rounds"]:
        np.testing.assert_allclose(wire.clients.state.thetas[0], literal["theta_sync"], atol=1e-9)


COSINE = {"seed": 0, "rounds": 25, "clients": 3, "arms": 4, "dimension": 3}


def with_others_later(soon, *choices):
    """All combinations of choices, of which those of `soon` are enough for `make test`: they have every pair."""
    return [pytest.param(*each, marks=[pytest.mark.slow] * (each not in soon)) for each in product(*choices)]


PAIRS = {("fn-ucb", False, "symmetric"), ("fn-ucb", True, "normal"), ("fn-ucb-less", True, "symmetric"),
         ("fn-ucb-less", False, "normal")}  # fmt: skip


@pytest.mark.parametrize(
    ("name", "diagonal", "initialisation"), with_others_later(PAIRS, ["fn-ucb", "fn-ucb-less"], [False, True], MAKERS)
)
def test_both_forms_equal_the_transcription(tmp_path, name, diagonal, initialisation):
    world = nonlinear_rounds(**COSINE)
    compare(
        tmp_path, world, name, diagonal=diagonal, initialisation=initialisation, in_whole_rounds=True, weight="ramp:20"
    )


WEIGHTS = {("theory", False), ("theory", True), (0.0, True), (1.0, False), (0.3, True)}


@pytest.mark.parametrize(("weight", "diagonal"), with_others_later(WEIGHTS, ["theory", 0.0, 1.0, 0.3], [False, True]))
def test_every_weight_equals_the_transcription(tmp_path, weight, diagonal):
    world = nonlinear_rounds(**{**COSINE, "seed": 1})
    compare(tmp_path, world, weight=weight, diagonal=diagonal)


@pytest.mark.parametrize(
    ("threshold", "name", "diagonal"),
    [
        *((0.5, name, diagonal) for name in ("fn-ucb", "fn-ucb-less") for diagonal in (False, True)),
        (20.0, "fn-ucb", True),
        (20.0, "fn-ucb-less", False),
        (np.inf, "fn-ucb-less", False),
    ],
)
def test_every_threshold_equals_the_transcription(tmp_path, threshold, name, diagonal):
    world = nonlinear_rounds(**{**COSINE, "seed": 2})
    literal = compare(tmp_path, world, name, sync_threshold=threshold, weight="theory", diagonal=diagonal)
    assert (literal["rounds"] == 0) == (threshold == np.inf)


TOGETHER = [  # what stands below one at a time
    {"aggregate": False, "sync_threshold": 2.0},
    {"train_from": "average", "weight": 0.5, "sync_threshold": 2.0},
    {"train_until": 0, "weight": 0.5},
    {"regulariser": "decay", "initialisation": "normal", "scale_features": False, "weight": 0.5},
    {"depth": 3, "initialisation": "normal", "weight": 0.5},
    {"depth": 2, "regulariser": "decay", "diagonal": True, "weight": 0.5},
    {"nu_pooled": 0.0, "nu_local": 0.0},
]


@pytest.mark.parametrize(
    "changes",
    [
        {"aggregate": False, "weight": 1.0},
        {"warm_start": False, "weight": 0.5},
        {"train_from": "average", "weight": 0.5, "train_until": 10},
        {"train_until": 7, "weight": 0.5},
        {"train_steps": 0, "weight": 0.5},
        {"train_rate": 1e-4, "weight": 0.5},
        {"scale_features": False},
        {"regulariser": "decay", "weight": 0.5},
        {"depth": 2, "weight": 0.5},
        {"ridge": 10.0, "nu_pooled": 1.0, "nu_local": 0.01, "weight": 0.5},
        {"network_seed": 3, "width": 10},
        *(pytest.param(each, marks=pytest.mark.slow) for each in TOGETHER),
    ],
    ids=str,
)
def test_every_parameter_does_what_it_says(tmp_path, changes):
    world = nonlinear_rounds(**{**COSINE, "seed": 3, "rounds": 15})
    compare(tmp_path, world, **changes)


@pytest.mark.parametrize(
    ("clients", "initialisation"), with_others_later({(5, "symmetric"), (1, "normal")}, [1, 5], MAKERS)
)
def test_classification_equals_the_transcription(tmp_path, clients, initialisation):
    world = block_rounds(seed=4, rounds=15, clients=clients, arms=3, dimension=2)
    compare(tmp_path, world, "fn-ucb", initialisation=initialisation, ridge=10.0, weight="ramp:10", sync_threshold=0.02)
