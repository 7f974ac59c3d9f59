"""What sites report of themselves, if they opt in: arms chosen and rewards, over all of them and over time."""

from __future__ import annotations

from collections import Counter
from dataclasses import asdict, dataclass, field
from typing import Any

from fedbandit.core.errors import ProtocolError
from fedbandit.service.status.history import History
from fedbandit.wire.frame import Frame
from fedbandit.wire.report import LARGEST_REWARD, MOST_ARMS, OTHERS, Report
from fedbandit.wire.watched import Watched

MOST_DRAWN = 12  # reporting sites with a history of their own: of more, lines in one chart cannot be told apart
NOTHING = Report(0, 0, 0.0)


@dataclass(slots=True)
class Reported:
    """The last report of a site, and what its reports tell over time."""

    life: int
    number: int
    last: Report
    at: float
    history: History | None  # only of some sites: it takes much more room than all else

    def snapshot(self, now: float, span: int) -> dict[str, Any]:
        """Return all of it as plain data."""
        return {
            "at": self.at,
            "decisions": self.last.decisions,
            "rewards": self.last.rewards,
            "reward_sum": self.last.reward_sum,
            "arms": self.last.arms,
            "drift": self.last.drift,
            "watched": _plain(self.last.watched),
            "history": [] if self.history is None else self.history.buckets(now, span),
        }


def _plain(watched: Watched | None) -> dict[str, Any] | None:
    """Return as plain data what follows from the sums that a site has watched."""
    if watched is None:
        return None
    predicted, reward, error = watched.means or (None, None, None)
    return {
        "rows": watched.rows, "predicted": predicted, "reward": reward, "error": error,
        "explored": watched.explored / watched.known if watched.known else None,
        "control": watched.control and asdict(watched.control),
    }  # fmt: skip


@dataclass
class Reports:
    """The reports of all sites of a federation.

    >>> reports = Reports()
    >>> reports.take_in(Report(2, 1, 0.5, {"red": 2}).to_frame(client=7, life=1), now=10.0)
    True
    >>> reports.chosen
    Counter({'red': 2})
    """

    largest_reward: float = LARGEST_REWARD
    count: int = 0
    sites: dict[int, Reported] = field(default_factory=dict)
    chosen: Counter[str] = field(default_factory=Counter)
    arms: History = field(default_factory=History)
    rewards: History = field(default_factory=History)
    new_drift: dict[str, int] = field(default_factory=dict)  # alarms that the last report was the first to tell

    def take_in(self, frame: Frame, now: float) -> bool:
        """Add what a report tells beyond the one before it; return whether that is anything.

        A new life of a site counts from nothing again. A report that no site can have made raises and changes nothing.
        """
        report = Report.from_frame(frame, self.largest_reward)
        told = self.sites.get(frame.client)
        self.new_drift = {}
        if told is not None and (frame.epoch, frame.sequence) <= (told.life, told.number):
            return False
        before = told.last if told is not None and told.life == frame.epoch else NOTHING
        if not report.goes_on_from(before):
            raise ProtocolError(f"report {frame.sequence} of site {frame.client} counts less than the one before it")
        history = self._new_history() if told is None else told.history
        self.sites[frame.client] = Reported(frame.epoch, frame.sequence, report, now, history)
        self._add(report, before, history, now)
        self.new_drift = {kind: count - before.drift.get(kind, 0) for kind, count in report.drift.items()}
        return True

    def _new_history(self) -> History | None:
        return History() if len(self.sites) < MOST_DRAWN else None

    def _add(self, report: Report, before: Report, history: History | None, now: float) -> None:
        for name in ("decisions", "rewards", "reward_sum"):
            grown = getattr(report, name) - getattr(before, name)
            for each in (self.rewards, history):
                if each is not None:
                    each.add(now, name, grown)
        for arm, count in report.arms.items():
            name = arm if arm in self.chosen or len(self.chosen) < MOST_ARMS else OTHERS
            self.chosen[name] += count - before.arms.get(arm, 0)
            self.arms.add(now, name, count - before.arms.get(arm, 0))
        self.count += 1
