"""Whatever a federation goes through in years, at whatever moments, nothing is lost and nothing counts twice.

Sites join, leave, are revoked, come again and are forgotten; the charter and its features change; coordinators take
over from each other; and everything goes wrong that can.
"""

from __future__ import annotations

import pytest

from simulation.federations import LIVING, living_run
from simulation.living_checkers import amiss
from simulation.planted_living import PLANTED_LIVING
from simulation.table import first_in_a_life, likely

GROUP = 25
FIRST = 3 * len(LIVING)


def check(first, count=GROUP):
    runs = {seed: living_run(seed) for seed in range(first, first + count)}
    assert not {seed: findings for seed, run in runs.items() if (findings := amiss(run))}
    return list(runs.values())


def test_nothing_is_lost_and_nothing_counts_twice_and_all_of_it_happens():
    runs = check(0, FIRST)
    assert {step for run in runs for step in run.history.steps} >= set(runs[0].faults)
    assert sum(len(run.there) for run in runs) > 2 * len(runs)
    assert sum(len(run.forgotten) for run in runs) > 3
    assert sum(run.woken for run in runs) > 20
    assert any(run.dropped for run in runs), "something of a revoked site was still under way"
    assert max(run.agreed.count for run in runs) > 10


@pytest.mark.slow
@pytest.mark.parametrize("first", range(FIRST, 5000, GROUP))
def test_nor_in_many_more_schedules(first):
    check(first)


@pytest.mark.parametrize("planted", PLANTED_LIVING, ids=lambda planted: planted.node.__name__)
def test_a_planted_bug_is_caught(planted):
    assert first_in_a_life(planted, likely(planted)) is not None


def test_one_integer_replays_everything():
    first, again = living_run(8), living_run(8)
    assert first.history.steps == again.history.steps
    assert first.history.uploads == again.history.uploads
    assert first.standings() == again.standings()
