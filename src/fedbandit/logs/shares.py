"""Whether values are what features were declared for: shares of clipped, unknown and missing ones, now and at first."""

from __future__ import annotations

import math
from collections import deque
from typing import TYPE_CHECKING, NamedTuple

from fedbandit.logs.drift import REFERENCE

if TYPE_CHECKING:
    from fedbandit.features.features import Features

BLOCK = 100  # decisions between two looks
FARTHEST = 5.0  # deviations


class Share(NamedTuple):
    """How many values of a feature were clipped, unknown or missing."""

    feature: str
    at_first: float  # the share in the reference rows
    now: float  # and in the last ones
    z: float  # how many deviations they are apart

    @property
    def is_alarming(self) -> bool:
        """Tell whether that is no chance."""
        return abs(self.z) > FARTHEST


class _Seen(NamedTuple):
    decisions: int
    arms: int
    strange: dict[str, int]


class Shares:
    """Looks at the counts of declared features after every 100 decisions."""

    def __init__(self, features: Features) -> None:
        """Begin now: what the features have counted before does not matter."""
        self._features = features
        self._of_context = set(features.declaration.context)
        self._start = self._look(0, 0)
        self._reference: _Seen | None = None
        self._blocks: deque[_Seen] = deque(maxlen=REFERENCE // BLOCK + 1)
        self._decisions = self._arms = 0

    def chose(self, arms: int) -> bool:
        """Note a decision between so many arms; return whether there is something new to look at."""
        self._decisions += 1
        self._arms += arms
        if self._decisions % BLOCK:
            return False
        self._blocks.append(self._look(self._decisions, self._arms))
        if self._decisions == REFERENCE:
            self._reference = self._blocks[-1]
        return self._decisions >= 2 * REFERENCE

    def found(self) -> list[Share]:
        """Return the shares of all features that ever had such a value, once there are rows to compare with."""
        if self._reference is None or self._decisions < 2 * REFERENCE:
            return []
        last, before = self._blocks[-1], self._blocks[0]
        return [self._share(name, before, last) for name in last.strange]

    def _look(self, decisions: int, arms: int) -> _Seen:
        return _Seen(decisions, arms, {name: sum(each.values()) for name, each in self._features.unknown.items()})

    def _share(self, name: str, before: _Seen, last: _Seen) -> Share:
        assert self._reference is not None
        is_context = name in self._of_context
        first, first_of = _between(name, self._start, self._reference, is_context=is_context)
        now, now_of = _between(name, before, last, is_context=is_context)
        pooled = (first + now) / (first_of + now_of)
        deviation = math.sqrt(pooled * (1 - pooled) * (1 / first_of + 1 / now_of))
        apart = now / now_of - first / first_of
        return Share(name, first / first_of, now / now_of, apart / deviation if deviation else 0.0)


def _between(name: str, one: _Seen, other: _Seen, *, is_context: bool) -> tuple[int, int]:
    """Return how many values were strange between two looks, and of how many; a context has one a decision."""
    values = other.decisions - one.decisions if is_context else other.arms - one.arms
    return other.strange.get(name, 0) - one.strange.get(name, 0), values
