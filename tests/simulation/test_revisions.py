"""A federation that changes at random moments loses nothing and counts nothing twice, whatever else goes wrong."""

from __future__ import annotations

import pytest

from simulation.federations import FADING, REVISED, ROUNDED, revised_run
from simulation.planted_revisions import PLANTED_REVISIONS
from simulation.revised_checkers import amiss
from simulation.table import first_revised, likely

GROUP = 25


def check(first, federation=None, count=GROUP):
    runs = {seed: revised_run(seed, federation) for seed in range(first, first + count)}
    assert not {seed: findings for seed, run in runs.items() if (findings := amiss(run))}


def test_nothing_is_lost_and_nothing_counts_twice_while_the_charter_changes():
    check(0, count=2 * len(REVISED))


@pytest.mark.parametrize("federation", [ROUNDED[0], FADING[0], FADING[4]])
def test_so_it_is_where_sums_travel_rounded_or_fade(federation):
    check(0, federation, count=4)


@pytest.mark.slow
@pytest.mark.parametrize("first", range(2 * len(REVISED), 2000, GROUP))
def test_so_it_is_in_many_more_schedules(first):
    check(first)


@pytest.mark.slow
@pytest.mark.parametrize("federation", [*ROUNDED, *FADING])
@pytest.mark.parametrize("first", range(0, 200, GROUP))
def test_so_it_is_where_sums_travel_rounded_or_fade_in_many_more_schedules(first, federation):
    check(first, federation)


def test_features_come_and_go_and_uploads_of_before_are_taken_in():
    runs = [revised_run(seed) for seed in range(7)]
    forms = [len(run.coordinator.node.agreed.forms) for run in runs]
    assert max(forms) > 5
    assert {step for run in runs for step in run.history.steps} >= set(runs[0].faults)


@pytest.mark.parametrize("planted", PLANTED_REVISIONS, ids=lambda planted: planted.node.__name__)
def test_a_planted_bug_is_caught(planted):
    assert first_revised(planted, likely(planted)) is not None


def test_one_integer_replays_everything():
    first, again = revised_run(11), revised_run(11)
    assert first.history.steps == again.history.steps
    assert first.history.uploads == again.history.uploads
    assert first.coordinator.node.agreed == again.coordinator.node.agreed
