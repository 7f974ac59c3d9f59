"""What a paper claims, as something that the numbers can answer: holds, does not hold, or mixed."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from fedbandit.core.arrays import Floats
from fedbandit.experiments.table import Row, Table


class Verdict(NamedTuple):
    """The answer, and the numbers behind it in a sentence."""

    answer: str
    evidence: str


def verdict(holds: list[bool], evidence: str) -> Verdict:
    """Return the answer to a claim of several parts.

    >>> verdict([True, False], "half of it").answer
    'mixed'
    """
    if not holds:
        return Verdict("cannot be judged", evidence)
    answer = "holds" if all(holds) else "mixed" if any(holds) else "does not hold"
    return Verdict(answer, evidence)


@dataclass(frozen=True)
class Claim(ABC):
    """A sentence of the paper."""

    sentence: str

    def about(self) -> tuple[str, ...]:
        """Return the labels of the series that the claim compares."""
        return ()

    @abstractmethod
    def judge(self, table: Table) -> Verdict:
        """Return what the numbers say."""


@dataclass(frozen=True)
class CheaperAtEqual(Claim):
    """At equal `y`, one series costs less of `x` than the other, over the range of y that both reach.

    More is better where y is the reward; of all else less is.
    """

    cheaper: str
    dearer: str
    x: str = "messages"
    y: str = "regret"
    levels: int = 5

    def about(self) -> tuple[str, ...]:
        """Return the labels of the two series."""
        return (self.cheaper, self.dearer)

    def judge(self, table: Table) -> Verdict:
        """Compare costs at levels of y that both frontiers reach, interpolating the logarithm of the cost."""
        frontiers = [_frontier(table.of(label), self.x, self.y) for label in self.about()]
        for label, points in zip(self.about(), frontiers, strict=True):
            if not len(points):
                return verdict([], f"{label} has no point with {self.x} and a known {self.y}")
        low = max(float(points[:, 0].min()) for points in frontiers)
        high = min(float(points[:, 0].max()) for points in frontiers)
        if low > high:
            return self._apart(frontiers)
        wanted = np.linspace(low, high, self.levels if low < high else 1)
        cost = [np.exp(np.interp(wanted, points[:, 0], np.log(points[:, 1]))) for points in frontiers]
        ratio = cost[0] / cost[1]
        parts = ", ".join(
            f"{self.y} {_sign(self.y) * level:.4g}: {ours:,.0f} against {theirs:,.0f} {self.x}"
            for level, ours, theirs in zip(wanted, cost[0], cost[1], strict=True)
        )
        return verdict((ratio < 1).tolist(), f"{self.cheaper} against {self.dearer} at {parts}")

    def _apart(self, frontiers: list[Floats]) -> Verdict:
        """Answer for two series that share no range of y: there is nothing equal to compare them at."""
        ranges = [(float(points[:, 0].min()), float(points[:, 0].max())) for points in frontiers]
        parts = [
            f"{label} {_sign(self.y) * best:.4g} to {_sign(self.y) * worst:.4g}"
            for label, (best, worst) in zip(self.about(), ranges, strict=True)
        ]
        evidence = f"the two series share no range of {self.y.replace('_', ' ')}: " + ", ".join(parts)
        return Verdict("cannot be judged", evidence)


def _frontier(rows: list[Row], x: str, y: str) -> Floats:
    """Return (y, least x that reaches it), best y first: points that another point beats in both are left out.

    Where more is better, y is turned round, so that less always is.
    """
    known = [row for row in rows if row.mean(x) > 0 and math.isfinite(row.mean(y))]
    points = sorted((_sign(y) * row.mean(y), row.mean(x)) for row in known)
    kept: list[tuple[float, float]] = []
    for value, cost in points:
        if not kept or cost < kept[-1][1]:
            kept.append((value, cost))
    return np.array(kept)


def _sign(y: str) -> float:
    return -1.0 if y == "reward" else 1.0


@dataclass(frozen=True)
class Monotone(Claim):
    """Along a setting (or a measured quantity), the mean of `y` of each named series falls, or rises."""

    series: tuple[str, ...]
    along: str
    falls: bool = True
    y: str = "regret"
    per_client: bool = False

    def about(self) -> tuple[str, ...]:
        """Return the labels of the series."""
        return self.series

    def judge(self, table: Table) -> Verdict:
        """Compare each mean with the next; a series without two known means says nothing."""
        holds, parts = [], []
        for label in self.series:
            rows = sorted(table.of(label), key=lambda row: row.mean(self.along))
            means = [row.mean(self.y) / (row.clients if self.per_client else 1) for row in rows]
            steps = np.diff(means)
            if steps.size and np.isfinite(steps).all():
                holds.append(bool((steps < 0).all() if self.falls else (steps > 0).all()))
            listed = ", ".join(f"{row.mean(self.along):g}: {mean:.4g}" for row, mean in zip(rows, means, strict=True))
            parts.append(f"{label} ({self.y} by {self.along}: {listed})")
        return verdict(holds, "; ".join(parts))


@dataclass(frozen=True)
class Ordered(Claim):
    """At every point label that they share, the means of `y` of the named series come in this order."""

    series: tuple[str, ...]
    y: str = "regret"
    per_client: bool = False
    points: tuple[str, ...] = ()  # only these labels; all if none are named

    def about(self) -> tuple[str, ...]:
        """Return the labels of the series."""
        return self.series

    def judge(self, table: Table) -> Verdict:
        """Compare neighbours in the order at each shared point; a series of one point stands for all points."""
        by_point = [{row.point: row for row in table.of(label)} for label in self.series]
        if not all(by_point):
            return verdict([], "a series has no points")
        several = [points for points in by_point if len(points) > 1]
        shared = [point for point in several[0] if all(point in points for points in several)] if several else [""]
        holds, parts = [], []
        for point in (each for each in shared if not self.points or each in self.points):
            rows = [points[point] if point in points else next(iter(points.values())) for points in by_point]
            means = [row.mean(self.y) / (row.clients if self.per_client else 1) for row in rows]
            in_order = all(left < right for left, right in pairwise(means))
            if np.isfinite(means).all():
                holds.append(in_order)
            listed = " < " if in_order else ", "
            parts.append(
                (f"{point}: " if point else "")
                + listed.join(f"{label} {mean:.4g}" for label, mean in zip(self.series, means, strict=True))
            )
        return verdict(holds, "; ".join(parts))
