"""Find the threshold of a family at which the logged choices would have taken a given number of bytes."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field

LOW, HIGH = 1e-6, 1e9  # thresholds between which is searched
FIRST = 10.0  # from the cheap side: a run with few messages takes little time
MOST_RUNS = 6  # for one number of bytes
NEAR = 0.9  # bytes of at least this part of what is wanted, and no more than it, are near enough
SLOPES = (0.4, 2.0)  # within which the logarithm of bytes is supposed to fall with that of the threshold
EDGE = 0.05  # a step between two thresholds stays this part of the way from both


@dataclass
class Curve:
    """What thresholds cost, as far as it was tried: fewer bytes at larger ones."""

    cost: Callable[[float], float]
    first: float = FIRST
    tried: dict[float, float] = field(default_factory=dict)  # bytes by threshold

    def threshold_for(self, wanted: float) -> float:
        """Return the threshold with the most bytes up to those wanted, after six more runs at most.

        The logarithm of bytes is taken to be linear in that of the threshold: between two that were tried, and beyond
        them with the slope of the last two. Every third step halves, for where bytes jump one end would never move.
        """
        for _ in range(MOST_RUNS):
            if any(NEAR * wanted <= spent <= wanted for spent in self.tried.values()):
                break
            value = float(f"{self._next(wanted):.4g}")  # as people would write it
            if value in self.tried:
                break
            self.tried[value] = self.cost(value)
        within = [value for value, spent in self.tried.items() if spent <= wanted]
        return max(within, key=lambda value: (self.tried[value], -value)) if within else max(self.tried)

    def _next(self, wanted: float) -> float:
        if not self.tried:
            return self.first
        dear = max((value for value, spent in self.tried.items() if spent > wanted), default=None)
        cheap = min((value for value, spent in self.tried.items() if spent <= wanted), default=None)
        aim = math.log(math.sqrt(NEAR) * wanted)
        if dear is None or cheap is None:
            return self._beyond(aim, dear is None)
        low, high = math.log(dear), math.log(cheap)
        top, bottom = (math.log(max(self.tried[value], 1.0)) for value in (dear, cheap))
        part = (top - aim) / (top - bottom)
        return math.exp(low + (0.5 if len(self.tried) % 3 == 2 else min(max(part, EDGE), 1 - EDGE)) * (high - low))

    def _beyond(self, aim: float, is_cheap: bool) -> float:
        """Return a threshold beyond all that were tried."""
        points = sorted((math.log(value), math.log(max(spent, 1.0))) for value, spent in self.tried.items())
        if not is_cheap:
            points.reverse()
        (at, spent), slope = points[0], SLOPES[1] / 2
        if len(points) > 1 and points[1][0] != at:
            slope = min(max((spent - points[1][1]) / (points[1][0] - at), SLOPES[0]), SLOPES[1])
        return min(max(math.exp(at + (spent - aim) / slope), LOW), HIGH)
