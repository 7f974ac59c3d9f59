"""Private sites on machines and wires that fail: no data leave twice under different noise, none share noise."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from fedbandit.durable.site.client import DurableClient
from fedbandit.simulation.faults.run import FAULTS, FaultyRun
from fedbandit.simulation.faults.troubled import MISTAKES, TroubledRun
from fedbandit.simulation.replay import replay
from fedbandit.wire.state import encode_state
from simulation.planted_releases import (
    FreshNoiseOnResend,
    GoesOnAfterRestore,
    KeepsUnreleased,
    NoiseNotWrittenDown,
    SeededNoise,
)
from simulation.release_checkers import SITES, assert_kept, assert_private, quiet_charter, releases_of, tagged_turns

TURNS = 30
OFTEN = FAULTS | {"restore": 1.5, "back_up": 2.0, "crash_site": 1.5, "fuse_site": 1.5}
SCHEDULES = ("rounds", "own-count")


def faulty(seed, schedule, client_node=DurableClient, faults=OFTEN):
    charter = quiet_charter(TURNS, schedule=schedule)
    return FaultyRun(charter, tagged_turns(TURNS, seed), seed, client_node=client_node, faults=faults).run()


def check(seed, schedule, **more):
    run = faulty(seed, schedule, **more)
    assert_private(run)
    assert_kept(run)
    state = run.coordinator.node.node.state
    assert encode_state(replay(run.charter, run.coordinator.disk.records()).state) == encode_state(state)
    return run


@pytest.mark.parametrize(("schedule", "seed"), [("rounds", 9), ("rounds", 4), ("own-count", 19), ("own-count", 29)])
def test_whatever_goes_wrong_no_observation_leaves_twice(schedule, seed):
    check(seed, schedule)


@pytest.mark.slow
@pytest.mark.parametrize("schedule", SCHEDULES)
@pytest.mark.parametrize("first", range(4, 204, 20))
def test_of_many_seeds_none_lets_an_observation_leave_twice(first, schedule):
    runs = [check(seed, schedule) for seed in range(first, first + 20)]
    streams = [{key[:2] for key in releases_of(run)} for run in runs]
    assert max(map(len, streams)) > SITES, "some sites were restored"


def mistaken(seed):
    """A run in which operators restore backups and tell nobody, and clone stores; the last site is a hostile one."""
    turns = tagged_turns(TURNS, seed)
    turns = replace(turns, client=np.minimum(turns.client, SITES - 2))
    charter = quiet_charter(TURNS, schedule=SCHEDULES[seed % 2])
    return TroubledRun(charter, turns, seed, faults=OFTEN | MISTAKES | {"restore_untold": 1.5, "clone": 0.5}).run()


def test_a_backup_that_nobody_tells_of_lets_no_observation_leave_twice():
    assert_private(mistaken(23))


@pytest.mark.slow
@pytest.mark.parametrize("first", range(0, 100, 20))
def test_no_mistake_of_many_lets_an_observation_leave_twice(first):
    for seed in range(first, first + 20):
        assert_private(mistaken(seed))


SEEN_AT = {FreshNoiseOnResend: 0, GoesOnAfterRestore: 19, SeededNoise: 0, KeepsUnreleased: 29, NoiseNotWrittenDown: 0}


@pytest.mark.parametrize(("bug", "seed"), SEEN_AT.items(), ids=lambda each: getattr(each, "__name__", str(each)))
def test_a_planted_bug_is_seen(bug, seed):
    with pytest.raises(AssertionError):
        check(seed, "own-count", client_node=bug)
