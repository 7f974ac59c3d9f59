"""Claims that compare points: one has more than others, less, or as much; or one part makes up most of a whole."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from fedbandit.core.arrays import Floats
from fedbandit.experiments.claims import Claim, Verdict, answer, verdict
from fedbandit.experiments.intervals import Difference, Part, paired, plain
from fedbandit.experiments.table import Row, Table


@dataclass(frozen=True)
class Beats(Claim):
    """The winner has more of each quantity than the loser, in at least a share of the comparisons.

    Of the winner the best of its points counts, of the loser each; naming points narrows either down.
    """

    winner: str
    loser: str
    winner_points: tuple[str, ...] = ()
    loser_points: tuple[str, ...] = ()
    quantities: tuple[str, ...] = ("normalised",)
    share: float = 1.0

    def about(self) -> tuple[str, ...]:
        """Return the labels of the two series."""
        return (self.winner, self.loser)

    def judge(self, table: Table) -> Verdict:
        """Compare the winner's best with each of the loser's points, quantity by quantity."""
        winners, losers = _rows(table, self.winner, self.winner_points), _rows(table, self.loser, self.loser_points)
        if not winners or not losers:
            return verdict([], f"no run of {self.winner} or of {self.loser} at the points in question")
        found: list[Difference] = []
        words = []
        for name in self.quantities:
            best = max(winners, key=lambda row: row.mean(name))
            behind = [paired(row.values(name), best.values(name)) for row in losers]
            found += behind
            listed = ", ".join(
                f"{row.point or row.series} {plain(row.mean(name))}" + (f" ({step.shown()})" if step.seeds else "")
                for row, step in zip(losers, behind, strict=True)
            )
            what = f"{name}: " if len(self.quantities) > 1 else ""
            words.append(
                f"{what}{best.series} {best.point} {plain(best.mean(name))} against {listed}".replace("  ", " ")
            )
        return verdict(found, _counted("comparisons", found, words), share=self.share)


@dataclass(frozen=True)
class MostOf(Claim):
    """At a point some quantities make up more than half of the sum of all."""

    series: str
    point: str
    some: tuple[str, ...]
    all: tuple[str, ...]

    def about(self) -> tuple[str, ...]:
        """Return the label of the series."""
        return (self.series,)

    def judge(self, table: Table) -> Verdict:
        """Add up both sides in each seed; a quantity that is not known adds nothing."""
        rows = _rows(table, self.series, (self.point,))
        if not rows:
            return verdict([], f"no run of {self.series} at {self.point}")
        part, whole = (_sum(rows[0], names) for names in (self.some, self.all))
        if not whole.any():
            return verdict([], f"all of it is 0 at {self.point}")
        half = paired(0.5 * whole, part)
        return verdict(
            [half],
            f"{plain(part.mean())} of {plain(whole.mean())} at {self.point} ({half.turned().shown()} from the half)",
        )


@dataclass(frozen=True)
class Below(Claim):
    """At a point each of some quantities is less than each of others."""

    series: str
    point: str
    some: tuple[str, ...]
    others: tuple[str, ...]

    def about(self) -> tuple[str, ...]:
        """Return the label of the series."""
        return (self.series,)

    def judge(self, table: Table) -> Verdict:
        """Compare each with each; a quantity that is not known is left out."""
        found: list[Difference] = []
        words: list[str] = []
        for row in _rows(table, self.series, (self.point,)):
            some, others = ([each for each in names if each in row.measured] for names in (self.some, self.others))
            found += [paired(row.values(less), row.values(more)) for less in some for more in others]
            words = [f"{name} {plain(row.mean(name))}" for name in (*some, *others)]
        return verdict(found, _counted(f"at {self.point}", found, words))


@dataclass(frozen=True)
class AtMost(Claim):
    """A series has at most so many times the `y` of another, at each of the points named (all, if none are).

    It is compared with the other's point of the same label, or with `of_point` of it; a series of one point stands for
    all points.
    """

    series: str
    times: float
    other: str
    points: tuple[str, ...] = ()
    of_point: str | None = None
    y: str = "regret"
    per_client: bool = False

    def about(self) -> tuple[str, ...]:
        """Return the labels of the two series."""
        return (self.series, self.other)

    def judge(self, table: Table) -> Verdict:
        """Compare with so many times the other, point by point."""
        others = {row.point: row for row in table.of(self.other)}
        found, words = [], []
        for row in _rows(table, self.series, self.points):
            wanted = row.point if self.of_point is None else self.of_point
            other = others.get(wanted) if len(others) != 1 else next(iter(others.values()))
            if other is None:
                continue
            ours, theirs = (each.values(self.y, self.per_client) for each in (row, other))
            beyond = paired(ours, self.times * theirs)
            found.append(beyond)
            words.append(
                f"{row.point or row.series}: {plain(ours.mean())} against {plain(theirs.mean())}, "
                f"{ours.mean() / theirs.mean():.3g} times ({beyond.shown()} from {self.times:.3g} times)"
            )
        nothing = f"no point of {self.series} has one of {self.other} beside it"
        return verdict(found, "; ".join(words) or nothing, or_equal=True)


@dataclass(frozen=True)
class Level(Claim):
    """At every point label that two series share, their difference in `y` cannot be told from zero."""

    series: str
    other: str
    y: str = "regret"

    def about(self) -> tuple[str, ...]:
        """Return the labels of the two series."""
        return (self.series, self.other)

    def judge(self, table: Table) -> Verdict:
        """Look for zero in the interval of the difference, point by point; one seed has no interval to look in."""
        parts: list[Part] = []
        words = []
        for row in table.of(self.series):
            for other in _rows(table, self.other, (row.point,)):
                difference = paired(row.values(self.y), other.values(self.y))
                if difference.seeds > 1:
                    parts.append(Part.HOLDS if difference.below_zero() is Part.LEVEL else Part.FAILS)
                words.append(
                    f"{row.point}: {plain(row.mean(self.y))}, {plain(other.mean(self.y))} ({difference.shown()})"
                )
        if not parts:
            words.append("no point has two seeds of both")
        return Verdict(answer(parts), "; ".join(words))


@dataclass(frozen=True)
class Similar(Claim):
    """At every point label that two series share, each has less than so many times the `y` of the other."""

    series: str
    other: str
    y: str = "regret"
    factor: float = 1.5

    def about(self) -> tuple[str, ...]:
        """Return the labels of the two series."""
        return (self.series, self.other)

    def judge(self, table: Table) -> Verdict:
        """Compare the greater with so many times the less, point by point."""
        found, words = [], []
        for row in table.of(self.series):
            for other in _rows(table, self.other, (row.point,)):
                less, more = sorted((row, other), key=lambda each: each.mean(self.y))
                beyond = paired(more.values(self.y), self.factor * less.values(self.y))
                found.append(beyond)
                words.append(
                    (f"{row.point}: " if row.point else "")
                    + f"{plain(row.mean(self.y))} of {row.series}, {plain(other.mean(self.y))} of {other.series} "
                    f"({beyond.shown()} from {self.factor:g} times the less)"
                )
        return verdict(found, "; ".join(words) or f"no point of {self.series} has one of {self.other} beside it")


@dataclass(frozen=True)
class NearBest(Claim):
    """At a share of the points at least, a series has at most so many times the `y` of the best of some others."""

    series: str
    times: float
    others: tuple[str, ...]
    share: float = 1.0
    y: str = "regret"

    def about(self) -> tuple[str, ...]:
        """Return the labels of all series."""
        return (self.series, *self.others)

    def judge(self, table: Table) -> Verdict:
        """Compare with so many times the other that is best in the mean, point by point."""
        found, words = [], []
        for row in table.of(self.series):
            beside = [other for label in self.others for other in _rows(table, label, (row.point,))]
            if beside:
                best = min(beside, key=lambda other: other.mean(self.y))
                beyond = paired(row.values(self.y), self.times * best.values(self.y))
                found.append(beyond)
                words.append(
                    f"{row.point}: {plain(row.mean(self.y))} against {plain(best.mean(self.y))} ({best.series}; "
                    f"{beyond.shown()} from {self.times:.3g} times)"
                )
        evidence = _counted("points", found, words, or_equal=True)
        return verdict(found, evidence, share=self.share, or_equal=True)


def _rows(table: Table, series: str, points: tuple[str, ...] = ()) -> list[Row]:
    return [row for row in table.of(series) if not points or row.point in points]


def _sum(row: Row, names: Sequence[str]) -> Floats:
    return np.asarray(np.nansum([row.values(name) for name in names], axis=0))


def _counted(what: str, found: Sequence[Difference], words: Sequence[str], or_equal: bool = False) -> str:
    known = [each for each in found if each.seeds]
    holding = sum(each.below_zero(or_equal) is Part.HOLDS for each in known)
    return f"in {holding} of {len(known)} {what} ({'; '.join(words)})"
