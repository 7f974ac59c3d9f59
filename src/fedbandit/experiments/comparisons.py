"""Claims that compare points: one has more than others, less, or as much; or one part makes up most of a whole."""

from __future__ import annotations

import math
from dataclasses import dataclass

from fedbandit.experiments.claims import Claim, Verdict, verdict
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
            return Verdict("cannot be judged", f"no run of {self.winner} or of {self.loser} at the points in question")
        holds, parts = [], []
        for name in self.quantities:
            best = max(winners, key=lambda row: row.mean(name))
            holds += [best.mean(name) > row.mean(name) for row in losers]
            listed = ", ".join(f"{row.point or row.series} {row.mean(name):.4g}" for row in losers)
            what = f"{name}: " if len(self.quantities) > 1 else ""
            parts.append(f"{what}{best.series} {best.point} {best.mean(name):.4g} against {listed}".replace("  ", " "))
        evidence = f"in {sum(holds)} of {len(holds)} comparisons ({'; '.join(parts)})"
        is_enough = sum(holds) >= self.share * len(holds)
        return Verdict("holds", evidence) if is_enough else verdict(holds, evidence)


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
        """Add up both sides."""
        rows = _rows(table, self.series, (self.point,))
        if not rows:
            return Verdict("cannot be judged", f"no run of {self.series} at {self.point}")
        part, whole = (sum(rows[0].mean(name) for name in names) for names in (self.some, self.all))
        return verdict([part > 0.5 * whole], f"{part:.4g} of {whole:.4g} at {self.point}")


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
        """Compare the means, point by point."""
        others = {row.point: row for row in table.of(self.other)}
        holds, parts = [], []
        for row in _rows(table, self.series, self.points):
            wanted = row.point if self.of_point is None else self.of_point
            other = others.get(wanted) if len(others) != 1 else next(iter(others.values()))
            if other is None:
                continue
            ours, theirs = (each.mean(self.y) / (each.clients if self.per_client else 1) for each in (row, other))
            holds.append(ours <= self.times * theirs)
            parts.append(f"{row.point or row.series}: {ours:.4g} against {theirs:.4g}, {ours / theirs:.3g} times")
        return verdict(holds, "; ".join(parts) or f"no point of {self.series} has one of {self.other} beside it")


@dataclass(frozen=True)
class Level(Claim):
    """At every point label that two series share, their means of `y` differ by no more than their standard errors.

    The two errors e and f count together, as sqrt(e^2 + f^2).
    """

    series: str
    other: str
    y: str = "regret"

    def about(self) -> tuple[str, ...]:
        """Return the labels of the two series."""
        return (self.series, self.other)

    def judge(self, table: Table) -> Verdict:
        """Compare the means, point by point."""
        holds, parts = [], []
        for row in table.of(self.series):
            for other in _rows(table, self.other, (row.point,)):
                ours, theirs = row.measured[self.y], other.measured[self.y]
                holds.append(abs(ours.mean - theirs.mean) <= math.hypot(ours.error, theirs.error))
                parts.append(f"{row.point}: {ours.mean:.4g} ± {ours.error:.2g}, {theirs.mean:.4g} ± {theirs.error:.2g}")
        return verdict(holds, "; ".join(parts) or f"no point of {self.series} has one of {self.other} beside it")


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
        """Compare the means, point by point."""
        holds, parts = [], []
        for row in table.of(self.series):
            beside = [other for label in self.others for other in _rows(table, label, (row.point,))]
            if beside:
                best = min(beside, key=lambda other: other.mean(self.y))
                holds.append(row.mean(self.y) <= self.times * best.mean(self.y))
                parts.append(f"{row.point}: {row.mean(self.y):.4g} against {best.mean(self.y):.4g} ({best.series})")
        evidence = f"at {sum(holds)} of {len(holds)} points ({'; '.join(parts)})"
        is_enough = bool(holds) and sum(holds) >= self.share * len(holds)
        return Verdict("holds", evidence) if is_enough else verdict(holds, evidence)


def _rows(table: Table, series: str, points: tuple[str, ...]) -> list[Row]:
    return [row for row in table.of(series) if not points or row.point in points]
