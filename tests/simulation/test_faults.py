"""Faults cost time and never data: seeded schedules of everything that can go wrong, and bugs that they must find."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest

from fedbandit.algorithms.linear.shared.correspondence import Correspondents
from fedbandit.simulation.faults.run import FAULTS
from simulation.checkers import amiss
from simulation.federations import ASKING, CLUSTERED, FADING, ROUNDED, faulty_run
from simulation.planted import PLANTED
from simulation.planted_fading import PLANTED_FADING
from simulation.table import first_finding, likely

GROUP = 25
NO_LOST_DISKS = {name: weight for name, weight in FAULTS.items() if name not in ("restore", "lose_disk")}


looked_at = cache(faulty_run)  # runs that several tests look at; to keep thousands would take gigabytes


def check(first, federation=None, count=GROUP, run=looked_at):
    seeds = range(first, first + count)
    found = {seed: findings for seed in seeds if (findings := amiss(run(seed, federation)))}
    assert not found


def test_nothing_is_lost_and_nothing_counts_twice():
    check(0)


@pytest.mark.slow
@pytest.mark.parametrize("first", range(GROUP, 2000, GROUP))
def test_nothing_is_lost_and_nothing_counts_twice_in_many_more_schedules(first):
    check(first, run=faulty_run)


@pytest.mark.parametrize("federation", CLUSTERED)
def test_nothing_is_lost_among_clients_that_are_told_apart(federation):
    check(0, federation, count=5)


@pytest.mark.parametrize("federation", ASKING)
def test_nothing_is_lost_where_sites_ask_and_are_answered(federation):
    """Seed 36 restores a backup whose site has unsent data and whose lost life had asked since: see `has_told`."""
    check(33, federation, count=5)


@pytest.mark.parametrize("federation", ROUNDED)
def test_nothing_is_lost_where_sums_travel_rounded(federation):
    check(0, federation, count=4)


@pytest.mark.parametrize("federation", ROUNDED)
def test_what_rounding_leaves_is_still_at_the_site_whoever_crashes(federation):
    """Unless a disk is lost: sums of the coordinator and of all sites are within 1e-9 of what was observed."""
    runs = {seed: faulty_run(seed, federation, faults=NO_LOST_DISKS) for seed in range(8)}
    assert not {seed: findings for seed, run in runs.items() if (findings := amiss(run))}
    sums = np.array([run.coordinator.node.node.state.gram for run in runs.values()])
    assert (sums * 256 % 1).any(), "they are rounded: else they were multiples of 1/256"


def test_a_site_that_forgets_what_rounding_leaves_is_caught(monkeypatch):
    flush = Correspondents.flush

    def forgets(side, state, who):
        message = flush(side, state, who)
        state.rows.new_gram[state.row_of[who]] = 0.0
        return message

    monkeypatch.setattr(Correspondents, "flush", forgets)
    found = [amiss(faulty_run(seed, ROUNDED[0], faults=NO_LOST_DISKS)) for seed in range(4)]
    assert any("sum x x^T is not what the decisions give" in str(each) for each in found)


@pytest.mark.slow
@pytest.mark.parametrize("federation", [*CLUSTERED, *ASKING, *ROUNDED])
@pytest.mark.parametrize("first", range(0, 500, GROUP))
def test_nothing_is_lost_in_those_in_many_more_schedules(first, federation):
    check(first, federation, run=faulty_run)


def test_in_some_schedules_clients_are_told_apart():
    states = [looked_at(seed, CLUSTERED[0]).coordinator.node.node.state for seed in range(4)]
    assert any(state.verdicts.apart.any() for state in states)


@pytest.mark.parametrize("federation", FADING)
def test_so_it_is_where_sums_fade(federation):
    """Late rewards, old uploads and downloads count as of their epochs, exactly: discount 1/2, data in sixteenths."""
    check(0, federation, count=5)


@pytest.mark.parametrize(("seed", "federation"), [(381, FADING[1]), (439, FADING[0])])
def test_so_it_is_in_schedules_that_went_wrong_once(seed, federation):
    """In 381 a site hears only at the end of a life that it lost; in 439 a backup made in doubt is restored thrice."""
    check(seed, federation, count=1)


@pytest.mark.slow
@pytest.mark.parametrize("federation", FADING)
@pytest.mark.parametrize("first", range(0, 500, GROUP))
def test_so_it_is_where_sums_fade_in_many_more_schedules(first, federation):
    check(first, federation, run=faulty_run)


def test_where_sums_fade_epochs_pass_rewards_are_late_and_sites_get_ahead_of_the_coordinator():
    runs = [looked_at(seed, FADING[0]) for seed in range(10)]
    assert all(run.epoch > 5 for run in runs)
    assert any("ahead of the coordinator" in each.reason for run in runs for each in run.history.put_off)


@pytest.mark.parametrize("planted", [*PLANTED, *PLANTED_FADING], ids=lambda planted: planted.node.__name__)
def test_a_planted_bug_is_caught(planted):
    assert first_finding(planted, likely(planted)) is not None


def test_one_integer_replays_everything():
    first, again = faulty_run(11), faulty_run(11)
    assert first.history.steps == again.history.steps
    assert first.history.uploads == again.history.uploads
    assert first.history.downloads == again.history.downloads


def test_every_kind_of_fault_happens():
    steps = {step for seed in range(12) for step in looked_at(seed, None).history.steps}
    assert steps >= set(looked_at(0, None).faults)
