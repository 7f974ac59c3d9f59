"""What a paper claims, as something that the numbers can answer: holds, level, does not hold, or mixed."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple

from fedbandit.experiments.intervals import Difference, Part, paired, plain
from fedbandit.experiments.table import Row, Table


class Verdict(NamedTuple):
    """The answer, and the numbers behind it in a sentence."""

    answer: str
    evidence: str


def verdict(differences: Sequence[Difference], evidence: str, *, share: float = 1.0, or_equal: bool = False) -> Verdict:
    """Return the answer to a claim of several parts, each that a difference is below zero (or equal to it).

    *Holds*: at least a share of the parts do (all, unless said otherwise). *Level*: no part can be told from zero.
    *Does not hold*: no part does, and some are the other way round. *Mixed*: some parts do, others not. *Cannot be
    judged*: there is nothing to compare.

    >>> verdict([Difference(-2.0, 1.0, 10), Difference(0.5, 1.0, 10)], "half of it").answer
    'mixed'
    """
    known = [each for each in differences if each.seeds]
    parts = [each.below_zero(or_equal) for each in known]
    if any(each.seeds == 1 for each in known):
        evidence += " (one seed: no interval)"
    return Verdict(answer(parts, share), evidence)


def answer(parts: Sequence[Part], share: float = 1.0) -> str:
    """Return what the parts of a claim say together.

    >>> answer([Part.FAILS, Part.LEVEL]), answer([])
    ('does not hold', 'cannot be judged')
    """
    if not parts:
        return "cannot be judged"
    holding = parts.count(Part.HOLDS)
    if holding >= share * len(parts):
        return str(Part.HOLDS)
    if holding:
        return "mixed"
    return str(Part.FAILS if Part.FAILS in parts else Part.LEVEL)


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


def _chain(rows: Sequence[Row], names: Sequence[str], y: str, per_client: bool) -> tuple[list[Difference], str]:
    """Return the step from each row to the next, and all rows in words: name, mean, and the step that led there."""
    values = [row.values(y, per_client) for row in rows]
    steps = [paired(right, left) for left, right in pairwise(values)]
    words = [f"{name} {plain(mean.mean())}" for name, mean in zip(names, values, strict=True)]
    told = [f"{word} ({step.shown()})" if step.seeds else word for word, step in zip(words[1:], steps, strict=True)]
    return steps, ", ".join([*words[:1], *told])


@dataclass(frozen=True)
class Monotone(Claim):
    """Along a setting (or a measured quantity), `y` of each named series falls at every step, or rises."""

    series: tuple[str, ...]
    along: str
    falls: bool = True
    y: str = "regret"
    per_client: bool = False

    def about(self) -> tuple[str, ...]:
        """Return the labels of the series."""
        return self.series

    def judge(self, table: Table) -> Verdict:
        """Compare each point with the next; a series without two known points says nothing."""
        wanted, words = [], []
        for label in self.series:
            rows = sorted(table.of(label), key=lambda row: row.mean(self.along))
            names = [f"{plain(row.mean(self.along))}:" for row in rows]
            steps, chain = _chain(rows, names, self.y, self.per_client)
            wanted += steps if self.falls else [step.turned() for step in steps]
            words.append(f"{label} ({self.y} by {self.along}: {chain})")
        return verdict(wanted, "; ".join(words))


@dataclass(frozen=True)
class Ordered(Claim):
    """At every point label that they share, the named series have less of `y` than the next of them."""

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
        wanted, words = [], []
        for point in (each for each in shared if not self.points or each in self.points):
            rows = [points[point] if point in points else next(iter(points.values())) for points in by_point]
            steps, chain = _chain(rows, self.series, self.y, self.per_client)
            wanted += [step.turned() for step in steps]
            words.append((f"{point}: " if point else "") + chain)
        return verdict(wanted, "; ".join(words) or "the series share no point")
