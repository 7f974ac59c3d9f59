"""NeuralUCB and NeuralTS choose as the literal transcription does, and as FN-UCB with one client does."""

from __future__ import annotations

import numpy as np
import pytest

import fedbandit as fb
from fedbandit.core.randomness import ClientStreams
from fedbandit.kernels.neural.network import normal_network, symmetric_network
from fedbandit.simulation.in_process import simulate
from reference import neural as reference
from reference.nonlinear import nonlinear_rounds
from samples.runs import ByMessages, assert_same_trace
from samples.worlds import recorded

pytest.importorskip("jax", reason="needs JAX: pip install '.[neural]'")

SMALL = {"width": 6, "train_steps": 5}
EXACT = {**SMALL, "precision": "float64"}
WORLD = {"seed": 0, "rounds": 20, "clients": 2, "arms": 4, "dimension": 3}


def play(folder, world, name, **parameters):
    """Run in whole rounds, and see that round by round is the same."""
    environment, algorithm = recorded(folder, world), fb.algorithm(name, **parameters)
    plain, _ = simulate(ByMessages(algorithm), environment, environment.setting().horizon)
    trace, wire = simulate(algorithm, environment, environment.setting().horizon)
    assert_same_trace(trace, plain)
    return trace, wire


@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"diagonal": True},
        {"initialisation": "normal", "regulariser": "decay", "scale_features": False},
        {"train_until": 5, "warm_start": False},
    ],
    ids=str,
)
def test_neural_ucb_equals_the_transcription(tmp_path, changes):
    world = nonlinear_rounds(**WORLD)
    make = normal_network if "initialisation" in changes else symmetric_network
    literal = reference.neural(world, make(3, 6, 1, 0).initial, **SMALL, **changes)
    trace, wire = play(tmp_path, world, "neural-ucb", **EXACT, **changes)
    assert trace.choice.tolist() == literal["arm"].tolist()
    np.testing.assert_allclose(wire.clients.state.thetas, literal["theta"], atol=1e-9)
    assert trace.ledger.messages == trace.ledger.signals == 0


def test_neural_ts_equals_the_transcription(tmp_path):
    world = nonlinear_rounds(**WORLD)
    draws = ClientStreams(seed=0).normals(world["client"], 4)
    literal = reference.neural(world, symmetric_network(3, 6, 1, 0).initial, draws=draws, nu_local=0.5, **SMALL)
    trace, _ = play(tmp_path, world, "neural-ts", nu_local=0.5, **EXACT)
    assert trace.choice.tolist() == literal["arm"].tolist()
    bound, _ = play(tmp_path, world, "neural-ucb", nu_local=0.5, **EXACT)
    assert trace.choice.tolist() != bound.choice.tolist()


def test_fn_ucb_of_one_client_without_the_pooled_bound_is_neural_ucb(tmp_path):
    world = nonlinear_rounds(**{**WORLD, "clients": 1, "rounds": 40})
    alone, _ = play(tmp_path, world, "neural-ucb", **EXACT)
    together, _ = play(tmp_path, world, "fn-ucb", weight=1.0, **EXACT)
    assert alone.choice.tolist() == together.choice.tolist()


def test_thompson_sampling_by_hand_needs_the_number_of_arms():
    client = fb.Client("neural-ts", dimension=3, arms=4)
    with pytest.raises(fb.InvalidInput, match="2 arms on offer, but arms=4 when the algorithm was built"):
        client.choose(np.eye(3)[:2])
