"""A coordinator that was paused and replaced can do no harm when it wakes up, whatever else goes wrong."""

from __future__ import annotations

import pytest

from simulation.checkers import amiss
from simulation.federations import failover_run
from simulation.planted_failovers import PLANTED_FAILOVERS
from simulation.table import first_failover, likely

GROUP = 25


def check(first, count=GROUP):
    runs = {seed: failover_run(seed) for seed in range(first, first + count)}
    assert not {seed: findings for seed, run in runs.items() if (findings := amiss(run))}
    return sum(run.woken for run in runs.values())


def test_nothing_is_lost_and_nothing_counts_twice():
    assert check(0, 16) > 16, "many have woken up"


@pytest.mark.slow
@pytest.mark.parametrize("first", range(16, 1016, GROUP))
def test_nor_in_many_more_schedules(first):
    check(first)


@pytest.mark.parametrize("planted", PLANTED_FAILOVERS, ids=lambda planted: planted.node.__name__)
def test_a_planted_bug_is_caught(planted):
    assert first_failover(planted, likely(planted)) is not None
