"""The aggregate counters that a site may report, if whoever opens it says so: never contexts, never single rewards."""

from __future__ import annotations

import math
from typing import Any

from fedbandit.core.algorithm import Algorithm
from fedbandit.core.errors import InvalidInput
from fedbandit.logs.watching import Watch
from fedbandit.wire.frame import Frame
from fedbandit.wire.report import LONGEST_NAME, MOST_ARMS, OTHERS, Report
from fedbandit.wire.watched import Controlled, Watched


def require_reportable(algorithm: Algorithm, *, report: bool) -> None:
    """Refuse reports beside an algorithm that promises that all that leaves is hidden by noise."""
    if report and algorithm.hides_releases:
        raise InvalidInput(
            f"report=True tells counts of arms and sums of rewards without noise, which breaks the promise of "
            f"{algorithm.id}: leave it out"
        )


class Tally:
    """Counts what a site does since it was opened.

    >>> tally = Tally(number=7, life=1)
    >>> tally.chose("red"), tally.learnt(0.5)
    (None, None)
    >>> Report.from_frame(tally.report())
    Report(decisions=1, rewards=1, reward_sum=0.5, arms={'red': 1}, drift={}, watched=None)
    """

    def __init__(self, number: int, life: int, watch: Watch | None = None) -> None:
        """Begin at nothing, in a life of site `number`; of what is watched, sums and alarms are told."""
        self._watch = watch
        self._number = number
        self._life = life
        self._decisions = self._rewards = 0
        self._reward_sum = 0.0
        self._arms: dict[str, int] = {}

    def chose(self, arm: Any) -> None:
        """Count a decision: an arm, or the two of a duel."""
        self._decisions += 1
        for each in arm if isinstance(arm, tuple) else (arm,):
            name = arm_name(each)
            if name not in self._arms and len(self._arms) >= MOST_ARMS:
                name = OTHERS
            self._arms[name] = self._arms.get(name, 0) + 1

    def learnt(self, reward: float) -> None:
        """Count a reward."""
        self._rewards += 1
        self._reward_sum += reward

    def report(self) -> Frame:
        """Return the totals so far as a frame."""
        drift = {} if self._watch is None else dict(self._watch.alarms)
        watched = None if self._watch is None else watched_of(self._watch)
        report = Report(self._decisions, self._rewards, self._reward_sum, dict(self._arms), drift, watched)
        return report.to_frame(self._number, self._life)


def watched_of(watch: Watch) -> Watched | None:
    """Return what a report tells of predictions, exploring and control; None while there is nothing to tell."""
    comparison = watch.comparison
    if not watch.rows and not watch.known and comparison is None:
        return None
    control = None
    if comparison is not None:
        difference, (low, high) = comparison.difference, comparison.interval
        control = Controlled(
            comparison.share, comparison.rewards[False], comparison.rewards[True],
            None if math.isnan(difference) else difference, None if math.isinf(low) else (low, high),
        )  # fmt: skip
    sums = watch.rows, watch.predicted_sum, watch.reward_sum, watch.error_squares, watch.known, watch.less_likely
    return Watched(*sums, control)


def arm_name(arm: Any) -> str:
    """Return an arm's id as a report names it: printable, and not long.

    >>> arm_name(3), arm_name("blue\\n")
    ('3', 'blue?')
    """
    text = "".join(each if each.isprintable() else "?" for each in str(arm))
    return text.encode()[:LONGEST_NAME].decode(errors="ignore")
