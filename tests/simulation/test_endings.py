"""Decisions that end without their reward count once, as what was agreed on, whatever goes wrong."""

from __future__ import annotations

import pytest

from simulation.checkers import amiss
from simulation.federations import ENDING, ending_run
from simulation.planted_endings import PLANTED_ENDINGS
from simulation.table import first_ending, likely

GROUP = 25


def check(first, count=GROUP):
    runs = {seed: ending_run(seed) for seed in range(first, first + count)}
    assert not {seed: findings for seed, run in runs.items() if (findings := amiss(run))}


def test_defaults_count_once():
    check(0, 3 * len(ENDING))


@pytest.mark.slow
@pytest.mark.parametrize("first", range(3 * len(ENDING), 1000, GROUP))
def test_defaults_count_once_in_many_more_schedules(first):
    check(first)


@pytest.mark.parametrize("planted", PLANTED_ENDINGS, ids=lambda planted: planted.node.__name__)
def test_a_planted_bug_is_caught(planted):
    assert first_ending(planted, likely(planted)) is not None
