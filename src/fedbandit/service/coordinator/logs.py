"""What a process of the service writes to standard error, and how often it says the same."""

from __future__ import annotations

import json
import logging
import sys
from collections.abc import Hashable
from dataclasses import dataclass, field
from datetime import UTC, datetime

from fedbandit.service.status.reasons import LONGEST, kind_of

MOST_KINDS = 20  # of one source that are told apart; all others of it count as one more


_TEXT = "%(asctime)s %(levelname)s %(name)s: %(message)s"


class JsonLines(logging.Formatter):
    """One JSON object a line, for what collects logs: a sentence with line breaks in it, or a traceback, is one line.

    >>> record = logging.LogRecord("fedbandit.coordinator", logging.INFO, "", 0, "site %d has joined", (3,), None)
    >>> record.created = 0.25
    >>> JsonLines().format(record)
    '{"time": "1970-01-01T00:00:00.250+00:00", "level": "INFO", "logger": "fedbandit.coordinator", \
"message": "site 3 has joined"}'
    """

    def format(self, record: logging.LogRecord) -> str:
        """Return the line of a record."""
        line = {
            "time": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname,
            "logger": record.name,
            "message": record.getMessage(),
        }
        if record.exc_info:
            line["traceback"] = self.formatException(record.exc_info)
        return json.dumps(line)


def log_to_stderr(*, as_json: bool = False) -> None:
    """Write what fedbandit does, and what libraries warn of."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(JsonLines() if as_json else logging.Formatter(_TEXT))
    logging.basicConfig(handlers=[handler], level=logging.WARNING)
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
