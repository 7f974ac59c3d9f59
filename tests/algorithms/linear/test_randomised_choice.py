"""Randomised choice of the linear family equals the literal transcription, turn by turn, with the draws of the file."""

from __future__ import annotations

import numpy as np
import pytest

import fedbandit as fb
from fedbandit.environments.recorded import Recorded
from fedbandit.simulation.in_process import simulate
from reference import linear as reference
from reference.clusters import clustered_linucb
from reference.fedlinucb import fedlinucb
from reference.lean import lean_linucb
from reference.linear_ends import local_linucb, pooled_linucb
from reference.randomised import Randomised
from reference.recorded import linear_turns
from simulation.tagged import sums_of

LITERAL = {
    "async-linucb": (reference.async_linucb, {"upload_threshold": 1.2, "download_threshold": 2.0}),
    "sync-linucb": (reference.sync_linucb, {"sync_threshold": 0.5}),
    "local-linucb": (local_linucb, {}),
    "pooled-linucb": (pooled_linucb, {}),
    "fedlinucb": (fedlinucb, {"upload_threshold": 1.2}),
    "lean-linucb": (lean_linucb, {"upload_threshold": 1.2, "download_threshold": 2.0}),
    "clustered-linucb": (clustered_linucb, {"upload_threshold": 1.2, "download_threshold": 2.0}),
}
WAYS = [
    {"exploration": "ucb", "explore": 0.2},
    {"exploration": "ucb", "explore": 1.0},
    {"exploration": "thompson", "explore": 0.2},
    {"exploration": "perturbed", "explore": 0.2},
    {"exploration": "thompson"},
    {"exploration": "igw"},
    {"exploration": "igw", "explore": 0.1},
    {"exploration": "igw", "greed": 0.0},
    {"exploration": "igw", "greed": 40.0},
    {"exploration": "igw", "greed": 1e4, "explore": 0.05},
]


@pytest.fixture
def both(tmp_path, monkeypatch):
    """Run the product and the transcription on one file with draws; return trace, and what the other says."""

    def run(name, world, way, **parameters):
        rng = np.random.default_rng(99)
        world["draws"] = rng.standard_normal((len(world["client"]), world["arms"].shape[2] + 1))
        np.savez(tmp_path / "turns.npz", **world)
        recorded = Recorded(path=str(tmp_path / "turns.npz"))
        literally, thresholds = LITERAL[name]
        chooser = Randomised(world, shared=name == "pooled-linucb", **way)
        with monkeypatch.context() as patch:
            patch.setattr(reference, "literal_choose", reference.choose, raising=False)
            patch.setattr(reference, "choose", chooser)
            literal = literally(world, **thresholds, **parameters)
        exact = {"precision": "float64"} if name == "lean-linucb" else {}
        algorithm = fb.algorithm(name, **way, **thresholds, **exact, **parameters)
        trace, wire = simulate(algorithm, recorded, len(world["client"]), seed=int(rng.integers(100)))
        return trace, wire, literal, chooser

    return run


def assert_same(trace, wire, literal, chooser):
    assert trace.choice.tolist() == literal["arm"].tolist()
    assert np.cumsum(trace.messages).tolist() == literal["messages"].tolist()
    np.testing.assert_allclose(trace.propensity, chooser.propensity, rtol=1e-9)
    np.testing.assert_allclose(sums_of(wire.server.state)[0], literal["V_g"], atol=1e-9)


@pytest.mark.parametrize("way", WAYS, ids=lambda way: "-".join(map(str, way.values())))
@pytest.mark.parametrize("name", LITERAL)
def test_it_equals_the_transcription(both, name, way):
    assert_same(*both(name, linear_turns(seed=21, turns=150, clients=6, arms=6, dimension=5, skew=1.0), way))


@pytest.mark.parametrize(
    "parameters", [{"alpha": 0.3}, {"alpha": 0.0}, {"noise": 0.0}, {"noise": 3.0}, {"ridge": 4.0, "delta": 0.5}]
)
def test_every_parameter_of_the_width_matters_as_it_should(both, parameters):
    world = linear_turns(seed=22, turns=300, clients=4, arms=6, dimension=5)
    assert_same(*both("async-linucb", world, {"exploration": "igw"}, **parameters))


def test_arms_that_are_alike_or_nothing_have_chances_too(both):
    world = linear_turns(seed=23, turns=80, clients=3, arms=4, dimension=3)
    world["arms"][::3, 2] = world["arms"][::3, 0]
    world["arms"][1::3] = 0.0
    assert_same(*both("async-linucb", world, {"exploration": "igw"}))


def test_errors_are_those_of_each_client(both):
    world = linear_turns(seed=24, turns=200, clients=5, arms=4, dimension=3)
    *_, chooser = result = both("async-linucb", world, {"exploration": "igw"})
    state = result[1].clients.state
    np.testing.assert_allclose(state.errors.squares[state.row_of], chooser.squares, rtol=1e-9)
    assert state.errors.turns[state.row_of].tolist() == chooser.turns.tolist()


def test_without_igw_nothing_of_it_is_kept(both):
    world = linear_turns(seed=25, turns=20, clients=2, arms=3, dimension=2)
    assert both("async-linucb", world, {"exploration": "ucb"})[1].clients.state.errors is None


@pytest.mark.parametrize("greed", [-1.0, float("inf"), float("nan"), "much", [1.0, 2.0]])
def test_a_greed_that_is_none_is_refused(greed):
    with pytest.raises(fb.InvalidInput, match="greed must be"):
        fb.algorithm("async-linucb", exploration="igw", greed=greed)


def test_greed_can_be_written_as_text():
    assert fb.algorithm("async-linucb", greed="40").greed == 40.0
    assert fb.algorithm("async-linucb", greed="auto").greed == "auto"


def test_two_estimates_side_by_side_have_no_gaps_to_weigh():
    with pytest.raises(fb.InvalidInput, match="unknown exploration 'igw'"):
        fb.algorithm("async-linucb-am", exploration="igw")
    with pytest.raises(fb.InvalidInput, match="has no parameter 'greed'"):
        fb.algorithm("async-linucb-am", greed=3)
