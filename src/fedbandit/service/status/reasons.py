"""Why frames were refused: counted by kind of reason, in bounded memory."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, field
from typing import Any

LONGEST = 300  # characters of a reason that are told
MOST_REASONS = 50  # kinds that are told apart
OTHER_REASONS = "other reasons"
_QUOTED = re.compile(r"'(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\"")
_NUMBER = re.compile(r"-?\d[\d.]*(?:e[-+]?\d+)?|\binf\b|\bnan\b")


def kind_of(reason: str) -> str:
    """Return a reason without its numbers and quotations: reasons that differ only in those are of one kind.

    >>> kind_of("upload 17 has a field 'x1' of size 1e+120")
    'upload # has a field # of size #'
    """
    return _NUMBER.sub("#", _QUOTED.sub("#", reason[:LONGEST]))


@dataclass
class Refusals:
    """How often which kind of reason was given, and the last of each kind."""

    counts: Counter[str] = field(default_factory=Counter)
    last: dict[str, dict[str, Any]] = field(default_factory=dict)

    def add(self, site: int, reason: str, now: float) -> None:
        """Count a refusal; -1 stands for a site that is not on the roster."""
        kind = kind_of(reason)
        if kind not in self.counts and len(self.counts) >= MOST_REASONS:
            kind = OTHER_REASONS
        self.counts[kind] += 1
        self.last[kind] = {"at": now, "site": site, "reason": reason[:LONGEST]}

    def snapshot(self) -> list[dict[str, Any]]:
        """Return the last of each kind with how many there were, the most frequent first."""
        return [{"count": count, **self.last[kind]} for kind, count in self.counts.most_common()]
