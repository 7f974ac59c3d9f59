"""`python -m simulation.table`, in the folder `tests`: how many schedules each planted bug takes, and what shows it."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from simulation import checkers, living_checkers, revised_checkers, trouble_checkers
from simulation.federations import ending_run, failover_run, faulty_run, living_run, revised_run, troubled_run
from simulation.planted import PLANTED, Planted
from simulation.planted_endings import PLANTED_ENDINGS
from simulation.planted_fading import PLANTED_FADING
from simulation.planted_failovers import PLANTED_FAILOVERS
from simulation.planted_living import PLANTED_LIVING
from simulation.planted_revisions import PLANTED_REVISIONS
from simulation.planted_troubles import PLANTED_POISONS, PLANTED_TROUBLES, Hangs
from simulation.poison import poisoned_run

MOST_SEEDS = 1500


def likely(planted: Planted) -> Iterable[int]:
    """The seeds for a test, which need not know how many it takes: first the one that is known to show the bug."""
    return planted.seed, *range(MOST_SEEDS)


def first_finding(
    planted: Planted,
    seeds: Iterable[int] = range(MOST_SEEDS),
    schedule: Callable[..., Any] = faulty_run,
    amiss: Callable[[Any], list[str]] = checkers.amiss,
) -> tuple[int, str] | None:
    """How many seeds it takes, and what is found amiss; a node that fails or never comes to rest is caught as well."""
    for seed in seeds:
        try:
            findings = amiss(schedule(seed, planted.federation, **planted.nodes))
        except (Exception, Hangs) as error:  # noqa: BLE001
            findings = [str(error) or type(error).__name__]
        if findings:
            return seed + 1, findings[0]
    return None


def first_trouble(planted: Planted, seeds: Iterable[int] = range(MOST_SEEDS)) -> tuple[int, str] | None:
    """The same in schedules with a hostile site and operators' mistakes."""
    return first_finding(planted, seeds, troubled_run, trouble_checkers.amiss)


def first_revised(planted: Planted, seeds: Iterable[int] = range(MOST_SEEDS)) -> tuple[int, str] | None:
    """The same in schedules in which the charter is revised."""
    return first_finding(planted, seeds, revised_run, revised_checkers.amiss)


def first_ending(planted: Planted, seeds: Iterable[int] = range(MOST_SEEDS)) -> tuple[int, str] | None:
    """The same in schedules in which many decisions end without their reward."""
    return first_finding(planted, seeds, ending_run)


def first_failover(planted: Planted, seeds: Iterable[int] = range(MOST_SEEDS)) -> tuple[int, str] | None:
    """The same in schedules in which coordinators take over from each other."""
    return first_finding(planted, seeds, failover_run)


def first_in_a_life(planted: Planted, seeds: Iterable[int] = range(MOST_SEEDS)) -> tuple[int, str] | None:
    """The same in schedules in which sites come and go, and all else changes."""
    return first_finding(planted, seeds, living_run, living_checkers.amiss)


def first_death(planted: Planted, seeds: Iterable[int] = range(MOST_SEEDS)) -> tuple[int, str] | None:
    """The same in schedules in which a frame ends the coordinator whenever it is tried."""
    return first_finding(planted, seeds, poisoned_run, trouble_checkers.amiss)


if __name__ == "__main__":
    faults = (PLANTED, first_finding), (PLANTED_FADING, first_finding), (PLANTED_REVISIONS, first_revised)
    troubles = (PLANTED_ENDINGS, first_ending), (PLANTED_TROUBLES, first_trouble), (PLANTED_POISONS, first_death)
    lives = (PLANTED_FAILOVERS, first_failover), (PLANTED_LIVING, first_in_a_life)
    for bugs, finder in (*faults, *troubles, *lives):
        for each in bugs:
            print(each.node.__name__, *(finder(each) or ("not caught",)), sep="\t", flush=True)
