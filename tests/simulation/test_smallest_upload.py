"""With the smallest upload of deployments, whatever goes wrong: nothing of too few leaves, and nothing is lost."""

from __future__ import annotations

import numpy as np
import pytest

from fedbandit.algorithms.linear.shared.clients import LinearClients
from fedbandit.algorithms.linear.sync_linucb import SyncClients
from simulation.checkers import amiss
from simulation.smallest_upload import LINEAR, WITH_IT, covered_run, small_run, told, too_small

SYNC = 2


@pytest.mark.parametrize("federation", [0, SYNC])
def test_no_upload_rests_on_fewer_and_conservation_is_exact(federation):
    run = covered_run(federation, federation)
    assert told(run)
    assert not [*too_small(run), *amiss(run)]


@pytest.mark.slow
@pytest.mark.parametrize("federation", LINEAR)
def test_so_it_is_in_many_schedules_of_every_linear_federation(federation):
    runs = {seed: covered_run(seed, federation) for seed in range(20)}
    assert not {seed: found for seed, run in runs.items() if (found := [*too_small(run), *amiss(run)])}
    assert sum(map(told, runs.values())) > 10


@pytest.mark.slow
@pytest.mark.parametrize("name", WITH_IT)
def test_no_upload_of_any_algorithm_rests_on_fewer(name):
    runs = [small_run(name, seed) for seed in range(3 if name.startswith("fn-") else 10)]
    assert not [finding for run in runs for finding in too_small(run)]
    assert sum(map(told, runs)) > 3
    assert not [each for run in runs for each in run.history.refused if "smallest_upload" in each.reason]


def test_a_called_site_that_sends_all_it_has_is_caught(monkeypatch):
    receive = SyncClients.receive

    def flushes(side, state, to, message):
        side.smallest, before = 0, side.smallest
        try:
            return receive(side, state, to, message)
        finally:
            side.smallest = before

    monkeypatch.setattr(SyncClients, "receive", flushes)
    assert [*too_small(covered_run(0, SYNC))]


def test_a_site_that_counts_nothing_is_caught(monkeypatch):
    """As one would that sends when its trigger first holds."""
    begin = LinearClients.__init__

    def eager(side, *arguments):
        begin(side, *arguments)
        side.smallest = 0

    monkeypatch.setattr(LinearClients, "__init__", eager)
    run = covered_run(0, 0)
    assert [*too_small(run)]
    assert any("smallest_upload is" in each.reason for each in run.history.refused), "the coordinator says so, too"
    assert not np.asarray(run.coordinator.node.node.state.gram).any()
