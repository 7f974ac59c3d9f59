"""What the numbers of a federation say that somebody should know: raised as concerns, and cleared when it is over.

| kind | raised | cleared |
| --- | --- | --- |
| uploads-refused | an upload of the site was refused for good | an hour after the last |
| uploads-put-off | uploads were refused for now, for a minute | one is accepted, or none came for an hour |
| backlog | the site has 1,000 unsent uploads; or 20, and more with each of 5 questions | it has less, and shrinks |
| one-site-outweighs | it made over half of all observations and 10 times the median of the others | that is over |
| site-drift | a site that reports has raised an alarm of drift | a day after the last |
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from statistics import median
from typing import NamedTuple

from fedbandit.core.seconds import DAY, HOUR
from fedbandit.durable.coordinator.concerns import Concern, Concerns
from fedbandit.durable.coordinator.outcome import Outcome, Verdict
from fedbandit.service.status.reasons import LONGEST

REFUSED, PUT_OFF, BACKLOG, OUTWEIGHS = "uploads-refused", "uploads-put-off", "backlog", "one-site-outweighs"
DRIFT = "site-drift"
PUT_OFF_SECONDS = 60.0  # a site is often told to ask first, or to send another upload first, and then all is well
LARGE_BACKLOG = 1000
GROWING_BACKLOG = 20
GROWN_TIMES = 5
FEWEST_OBSERVATIONS = 1000  # before that, chance decides who has most
LARGEST_SHARE = 0.5
TIMES_MEDIAN = 10


class Change(NamedTuple):
    """A concern that was raised, or is over."""

    concern: Concern
    is_over: bool


class _Backlog(NamedTuple):
    uploads: int
    grown: int  # questions in a row, each of which told of more than the one before


@dataclass
class Watch:
    """Looks at a federation.

    >>> watch = Watch()
    >>> watch.look({0: 5000, 1: 90, 2: 110}, now=7.0)
    >>> [(each.kind, each.site) for each in watch.concerns]
    [('one-site-outweighs', 0)]
    """

    concerns: Concerns = field(default_factory=Concerns)
    observations: dict[int, int] = field(default_factory=dict)  # by site, as last looked at
    _total: int = 0  # of them
    _put_off: dict[int, float] = field(default_factory=dict)  # since when, with none accepted after it
    _backlogs: dict[int, _Backlog] = field(default_factory=dict)
    _known: dict[tuple[int | None, str], Concern] = field(default_factory=dict)

    def uploaded(self, site: int, verdict: Verdict, now: float) -> None:
        """Take in what became of an upload."""
        reason = verdict.reason[:LONGEST]
        if verdict.outcome is Outcome.ACCEPTED and self._put_off.pop(site, None) is not None:
            self.concerns.clear(PUT_OFF, site)
        elif verdict.outcome is Outcome.REFUSED:
            text = f"an upload of site {site} was refused, and what it told is lost; see what this site sends: {reason}"
            self.concerns.note(REFUSED, text, now, site, lasts=HOUR)
        elif verdict.outcome is Outcome.NOT_YET and now > self._put_off.setdefault(site, now) + PUT_OFF_SECONDS:
            self.concerns.note(PUT_OFF, f"uploads of site {site} must wait: {reason}", now, site, lasts=HOUR)

    def waiting(self, site: int, uploads: int, now: float) -> None:
        """Take in how many uploads of a site are not acknowledged, as it tells with a question."""
        before = self._backlogs.get(site, _Backlog(uploads, 0))
        grown = before.grown + 1 if uploads > before.uploads else 0
        self._backlogs[site] = _Backlog(uploads, grown)
        if uploads >= LARGE_BACKLOG or (uploads >= GROWING_BACKLOG and grown >= GROWN_TIMES):
            growth = ", more with every question" if grown >= GROWN_TIMES else ""
            self.concerns.note(
                BACKLOG,
                f"site {site} has {uploads} uploads that are not acknowledged{growth}: look at its log, and at the "
                "broker's disk",
                now, site,
            )  # fmt: skip
        elif not grown:
            self.concerns.clear(BACKLOG, site)

    def reported(self, site: int, new: Mapping[str, int], now: float) -> None:
        """Take in how many alarms of drift a site has raised since its last report, by kind."""
        kinds = " and ".join(sorted(kind for kind, count in new.items() if count))
        if kinds:
            text = f"site {site} reports drift of its {kinds}: see there what has changed (fedbandit watch)"
            self.concerns.note(DRIFT, text, now, site, lasts=DAY)

    def look(self, observations: Mapping[int, int], now: float) -> None:
        """Look at how many observations each site has made, and at what is over by now."""
        self.concerns.tidy(now)
        self.observations = {site: max(0, count) for site, count in observations.items()}
        self._total = sum(self.observations.values())
        heaviest = self._heaviest()
        for site in self.observations:
            if site != heaviest:
                self.concerns.clear(OUTWEIGHS, site)
        if heaviest is not None:
            share = self.observations[heaviest] / self._total
            self.concerns.note(
                OUTWEIGHS,
                f"site {heaviest} made {share:.0%} of all {self._total} observations, so the shared model is mostly "
                "its own: make sure that they are real, and bound them by limits",
                now, heaviest,
            )  # fmt: skip

    def share(self, site: int) -> float | None:
        """Return the site's share in the observations of all, None while there are none."""
        return self.observations.get(site, 0) / self._total if self._total else None

    def backlog(self, site: int) -> int | None:
        """Return how many uploads the site last told to have that are not acknowledged, None if it never did."""
        told = self._backlogs.get(site)
        return None if told is None else told.uploads

    def changes(self) -> list[Change]:
        """Return what was raised and what is over since this was last asked, each to be logged once."""
        now_open = dict(self.concerns.open)
        raised = [Change(each, is_over=False) for key, each in now_open.items() if key not in self._known]
        over = [Change(each, is_over=True) for key, each in self._known.items() if key not in now_open]
        self._known = now_open
        return over + raised

    def _heaviest(self) -> int | None:
        """Return the site that outweighs all others, if one does."""
        counts = self.observations
        if len(counts) < 2 or self._total < FEWEST_OBSERVATIONS:
            return None
        site = max(counts, key=counts.__getitem__)
        others = median(count for each, count in counts.items() if each != site)
        return site if counts[site] > max(LARGEST_SHARE * self._total, TIMES_MEDIAN * others) else None
