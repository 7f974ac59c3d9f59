"""What a process of the service writes to standard error, and how often it says the same."""

from __future__ import annotations

import logging
import sys
from collections.abc import Hashable
from dataclasses import dataclass, field

from fedbandit.service.status.reasons import LONGEST, kind_of

MOST_KINDS = 20  # of one source that are told apart; all others of it count as one more


def log_to_stderr() -> None:
    """Write what fedbandit does, and what libraries warn of."""
    logging.basicConfig(
        stream=sys.stderr, level=logging.WARNING, format="%(asctime)s %(levelname)s %(name)s: %(message)s"
    )
    logging.getLogger("fedbandit").setLevel(logging.INFO)


@dataclass(slots=True)
class _Said:
    at: float
    held_back: int = 0


@dataclass
class RateLimiter:
    """Lets one message of each kind through in so many seconds, for each source: one site cannot fill the log.

    Messages are of one kind if they differ only in numbers and quotations. `now` is of a clock that never goes back.

    >>> limiter = RateLimiter(seconds=60.0)
    >>> limiter.admit(4, "upload 1 is too large", now=0.0)
    'upload 1 is too large'
    >>> limiter.admit(4, "upload 2 is too large", now=1.0), limiter.admit(4, "upload 3 is too large", now=2.0)
    (None, None)
    >>> limiter.admit(4, "upload 4 is too large", now=60.0)
    'upload 4 is too large (and 2 more like it)'
    """

    seconds: float = 60.0
    _said: dict[Hashable, dict[str, _Said]] = field(default_factory=dict)

    def admit(self, source: Hashable, message: str, now: float) -> str | None:
        """Return what to log now, or None; `source` is who gives cause, and there must be a limited number of them."""
        kinds = self._said.setdefault(source, {})
        kind = kind_of(message)
        if kind not in kinds and len(kinds) >= MOST_KINDS:
            kind = ""
        said = kinds.get(kind)
        if said is not None and now < said.at + self.seconds:
            said.held_back += 1
            return None
        kinds[kind] = _Said(now)
        shown = message if len(message) <= LONGEST else f"{message[:LONGEST]}..."
        more = 0 if said is None else said.held_back
        return f"{shown} (and {more} more like it)" if more else shown
