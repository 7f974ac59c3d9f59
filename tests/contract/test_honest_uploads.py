"""No honest upload is refused, however exactly the limits fit the data."""

from __future__ import annotations

from functools import partial

import pytest

import fedbandit as fb
from contract.honest_runs import LENGTH, NEURAL, OTHERS, REWARD, HonestRun
from contract.small_worlds import NEEDS_JAX, algorithm_names, deployed_names
from fedbandit.core.bounds import Bounds
from fedbandit.durable.coordinator.server import DurableServer
from fedbandit.durable.coordinator.validation import Limits
from fedbandit.simulation.faults.run import FAULTS, FaultyRun

BOUNDS = [
    pytest.param(Bounds(LENGTH, REWARD), id="exact"),
    pytest.param(Bounds(), id="unknown"),
]
ONE_UNKNOWN = [
    pytest.param(Bounds(context=LENGTH), id="no reward"),
    pytest.param(Bounds(reward=REWARD), id="no length"),
]
NO_LOST_DISKS = {name: weight for name, weight in FAULTS.items() if name not in ("restore", "lose_disk")}
RARE = {"linear.hello", "glm.behind"}  # signals that a run without lost messages may not need


@pytest.mark.parametrize("bounds", BOUNDS)
@pytest.mark.parametrize("name", deployed_names())
def test_no_honest_upload_is_refused(name, bounds):
    run = HonestRun(name, rounds=6 if name.startswith("fn-") else 24, seed=1, limits=Limits(bounds)).play()
    assert not run.refused
    taken_in = set(run.server.validation.schema.known)
    assert run.kinds - RARE == taken_in - RARE, "every kind that is taken in was sent, and no other"


ONE_OF_EACH_FAMILY = {"async-linucb", "fedglb-ucb", "fldb-ogd", "fedego-lasso", "fn-ucb-less"}


@pytest.mark.parametrize("bounds", ONE_UNKNOWN)
@pytest.mark.parametrize("name", algorithm_names(later=set(fb.algorithms) - ONE_OF_EACH_FAMILY))
def test_so_it_is_if_one_of_the_limits_is_unknown(name, bounds):
    test_no_honest_upload_is_refused(name, bounds)


@pytest.mark.parametrize(("name", "parameters"), OTHERS)
def test_no_honest_upload_is_refused_under_other_parameters(name, parameters):
    assert not HonestRun(name, rounds=24, seed=2, **parameters).play().refused


@NEEDS_JAX
@pytest.mark.slow
@pytest.mark.parametrize(("name", "parameters"), NEURAL)
def test_no_honest_upload_of_other_networks_is_refused(name, parameters):
    assert not HonestRun(name, rounds=24, seed=2, **parameters).play().refused


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(3, 9))
@pytest.mark.parametrize("name", algorithm_names())
def test_no_honest_upload_of_a_long_run_is_refused(name, seed):
    rounds = 400 if name in ("async-linucb", "sync-linucb", "fldb-ogd", "fedego-lasso") else 60
    assert not HonestRun(name, rounds, seed, clients=1 + seed % 4).play().refused


LARGE = {
    "async-linucb": {"upload_threshold": 20.0, "download_threshold": 2.0},
    "async-linucb-am": {"upload_threshold": 20.0, "download_threshold": 2.0},
    "clustered-linucb": {"upload_threshold": 20.0, "download_threshold": 2.0},
    "sync-linucb": {"sync_threshold": 5000.0},
    "fldb-ogd": {"period": 500},
    "fedego-lasso": {"unit": 100},
}


@pytest.mark.parametrize("name", LARGE)
def test_no_honest_upload_of_a_thousand_observations_is_refused(name):
    run = HonestRun(name, rounds=1100, seed=3, **LARGE[name]).play()
    assert not run.refused
    assert run.kinds


@pytest.mark.parametrize("seed", [0, *(pytest.param(seed, marks=pytest.mark.slow) for seed in (1, 2, 3))])
@pytest.mark.parametrize("name", deployed_names())
def test_no_honest_upload_is_refused_however_frames_are_lost_repeated_and_overtaken(name, seed):
    run = HonestRun(name, rounds=12, seed=seed)
    exact = partial(DurableServer, limits=run.server.validation.limits)
    faulty = FaultyRun(run.charter, run.turns, seed, server_node=exact, faults=NO_LOST_DISKS).run()
    assert not faulty.history.refused
    assert all(not site.node.life.outbox.frames for site in faulty.sites)
