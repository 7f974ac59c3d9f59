"""Sweeps on clusters give what they give on one machine, also where workers die."""

from __future__ import annotations

import gc
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from fedbandit.core.errors import InvalidInput
from fedbandit.experiments.experiment import Experiment, Series, grid
from fedbandit.results.clusters import cluster_at
from fedbandit.results.reproduce import reproduce
from samples.waiting import PATIENCE

EXPERIMENT = Experiment(
    id="test/clusters",
    title="a sweep",
    environment="linear",
    world={"clients": 4, "arms": 3, "dimension": 3},
    turns=200,
    seeds=6,
    series=(
        Series("Async", "async-linucb", grid("γ={upload_threshold:g}", upload_threshold=[1.0, 2.0])),
        Series("Local", "local-linucb"),
    ),
)


@pytest.mark.parametrize(
    ("address", "sentence"),
    [
        ("slurm", "--on slurm is no cluster: give dask://HOST:PORT, ray, or ray://HOST:PORT"),
        ("dask://", "--on dask:// is no cluster"),
        ("rays", "--on rays is no cluster"),
        ("ray://", "--on ray:// is no cluster"),
    ],
)
def test_what_is_no_cluster_is_refused(address, sentence):
    with pytest.raises(InvalidInput) as refused:
        cluster_at(address)
    assert str(refused.value).startswith(sentence)


@pytest.mark.parametrize(("address", "package"), [("dask://one:1", "distributed"), ("ray", "ray")])
def test_a_package_that_is_not_installed_is_named(monkeypatch, address, package):
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(InvalidInput, match=rf"--on {address} needs {package}: install fedbandit with its extra "):
        cluster_at(address)


@pytest.fixture(scope="module")
def here(tmp_path_factory):
    return found(reproduce(EXPERIMENT, tmp_path_factory.mktemp("here")))


def found(reproduced):
    """All that was measured, seed by seed."""
    return (reproduced.folder / "runs.csv").read_text(encoding="utf-8").splitlines()


def without_times(lines):
    """Rows without the columns that tell how long runs took."""
    head, *rows = (line.split(",") for line in lines)
    kept = [place for place, name in enumerate(head) if "second" not in name]
    return [[row[place] for place in kept] for row in [head, *rows]]


class Killed:
    """Kills a worker when the first results have come."""

    def __init__(self, processes):
        self.processes, self.is_done = processes, False

    def __call__(self, done, total):
        if done >= 2 and not self.is_done:
            self.is_done = True
            os.kill(self.processes()[0], signal.SIGKILL)


@pytest.mark.slow
def test_dask_gives_the_same_and_loses_nothing_when_a_worker_is_killed(here, tmp_path):
    distributed = pytest.importorskip("distributed", reason="needs Dask: pip install '.[dask]'")
    with distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as local:
        address = local.scheduler_address.replace("tcp://", "dask://")
        killed = Killed(lambda: [worker.pid for worker in local.workers.values()])
        reproduced = reproduce(EXPERIMENT, tmp_path, on=address, progress=killed)
    assert killed.is_done
    assert without_times(found(reproduced)) == without_times(here)
    assert len(list((tmp_path / "cells").glob("*.npz"))) == reproduced.cells_run == 18


def reap():
    """Wait for the processes that Ray has ended, and let go of the files that it has left open."""
    for each in [each for each in gc.get_objects() if type(each) is subprocess.Popen]:  # some stand for what has gone
        each.wait(PATIENCE)
    gc.collect()


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:Tip. In future versions of Ray:FutureWarning")  # of processors that nobody asks for
@pytest.mark.filterwarnings("ignore:os.fork.. was called:RuntimeWarning")  # Ray forks, and other tests have loaded JAX
@pytest.mark.filterwarnings("ignore:unclosed file:ResourceWarning", "ignore:subprocess .* still:ResourceWarning")
def test_ray_gives_the_same_and_loses_nothing_when_a_worker_is_killed(here, tmp_path):
    ray = pytest.importorskip("ray", reason="needs Ray: pip install '.[ray]'")

    def workers():
        found = [each for each in Path("/proc").glob("[0-9]*/cmdline") if b"ray::" in each.read_bytes()]
        return [int(each.parent.name) for each in found if b"run_cell" in each.read_bytes()] or [
            int(each.parent.name) for each in found
        ]

    ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False)
    try:
        killed = Killed(workers)
        reproduced = reproduce(EXPERIMENT, tmp_path, on="ray", progress=killed)
    finally:
        ray.shutdown()
        reap()
    assert killed.is_done
    assert without_times(found(reproduced)) == without_times(here)


@pytest.mark.slow
def test_nobody_at_the_address_of_a_scheduler_is_said_in_one_sentence():
    pytest.importorskip("distributed", reason="needs Dask: pip install '.[dask]'")
    with pytest.raises(InvalidInput, match=r"--on dask://127.0.0.1:1: no scheduler of Dask answers there"):
        cluster_at("dask://127.0.0.1:1")


def test_numbers_that_come_back_are_kept_here(tmp_path):
    class Elsewhere:
        workers = 1

        def each(self, task, arguments):
            return (task(*each) for each in reversed(list(arguments)))

    first = reproduce(EXPERIMENT, tmp_path, on=Elsewhere())
    again = reproduce(EXPERIMENT, tmp_path)
    assert (first.cells_run, again.cells_run, again.cells_kept) == (18, 0, 18)
    assert found(first) == found(again)
