"""What an operator should know of a federation and its sites, beside the log: things that call for somebody to act.

A concern is raised when something is noticed and cleared when it is over. There is at most one of each kind for each
site, so however often a site gives cause, memory stays bounded.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Concern:
    """One thing that calls for attention."""

    kind: str  # a short name by which programs know it, as in "two-sites-one-number"
    text: str  # one sentence for people, with what to do
    since: float  # when it was first noticed
    site: int | None = None  # None: it concerns the whole federation
    until: float = math.inf  # when it is over unless it is noticed again


@dataclass
class Concerns:
    """All that calls for attention now.

    >>> concerns = Concerns()
    >>> concerns.note("two-sites-one-number", "two sites use number 4: give one of them another", now=7.0, site=4)
    True
    >>> concerns.note("two-sites-one-number", "two sites use number 4: give one of them another", now=9.0, site=4)
    False
    >>> [(each.site, each.since) for each in concerns]
    [(4, 7.0)]
    >>> concerns.clear("two-sites-one-number", site=4)
    >>> list(concerns)
    []
    """

    open: dict[tuple[int | None, str], Concern] = field(default_factory=dict)

    def note(self, kind: str, text: str, now: float, site: int | None = None, lasts: float = math.inf) -> bool:
        """Raise a concern, for so many seconds; return whether it is new, which is when it should be logged."""
        before = self.open.get((site, kind))
        self.open[site, kind] = Concern(kind, text, now if before is None else before.since, site, now + lasts)
        return before is None

    def tidy(self, now: float) -> None:
        """Clear what was not noticed again for as long as it was to last."""
        for key in [key for key, each in self.open.items() if each.until < now]:
            del self.open[key]

    def clear(self, kind: str, site: int | None = None) -> None:
        """Say that a concern is over; nothing happens if there was none."""
        self.open.pop((site, kind), None)

    def __iter__(self) -> Iterator[Concern]:
        """Yield all concerns, those of the whole federation first, then by site."""
        return iter(sorted(self.open.values(), key=lambda each: (each.site is not None, each.site or 0, each.kind)))
