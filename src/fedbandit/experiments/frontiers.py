"""Claims about what something costs: two series of points, of which each is a trade of a cost for an outcome."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

import numpy as np

from fedbandit.core.arrays import Floats, Ints
from fedbandit.experiments.claims import Claim, Verdict, verdict
from fedbandit.experiments.intervals import Difference, jackknifed, plain
from fedbandit.experiments.table import Table


@dataclass(frozen=True)
class Points:
    """What the points of a series cost and have of y, seed by seed: arrays (points, seeds). Less of y is better."""

    cost: Floats
    y: Floats

    def frontier(self, seeds: Ints) -> Floats:
        """Return rows (y, logarithm of the least cost that reaches it) of means over some seeds, best y first.

        Points that another beats in both are left out, and those that cost nothing: they have no logarithm.
        """
        cost, y = self.cost[:, seeds].mean(axis=1), self.y[:, seeds].mean(axis=1)
        kept: list[tuple[float, float]] = []
        for place in np.lexsort((cost, y)):
            if cost[place] > 0 and (not kept or np.log(cost[place]) < kept[-1][1]):
                kept.append((float(y[place]), float(np.log(cost[place]))))
        return np.array(kept).reshape(-1, 2)


@dataclass(frozen=True)
class CheaperAtEqual(Claim):
    """At equal `y`, one series costs less of `x` than the other, over the range of y that both reach.

    More is better where y is the reward; of all else less is. Two series that share no range of y are compared at equal
    cost instead, over the range of costs that both have: there one of them has the better y. If they share no costs
    either, one that is better and cheaper everywhere decides.
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
        """Compare the two frontiers at equal y, else at equal cost, else as wholes."""
        both = [self._points(table, label) for label in self.about()]
        for label, points in zip(self.about(), both, strict=True):
            if not points.y.size:
                return verdict([], f"{label} has no point with {self.x} and a known {self.y}")
        seeds = min(points.y.shape[1] for points in both)
        whole = [points.frontier(np.arange(seeds)) for points in both]
        for column, tell in enumerate((self._at_equal_y, self._at_equal_cost)):
            low, high = _shared(whole, column)
            if low <= high:
                levels = self.levels if low < high else 1
                found = jackknifed(partial(_between, both, column=column, levels=levels), seeds)
                return verdict(found, tell(whole, np.linspace(low, high, levels), found))
        return self._as_wholes(both, whole, seeds)

    def _points(self, table: Table, label: str) -> Points:
        rows = [row for row in table.of(label) if row.mean(self.x) > 0 and np.isfinite(row.values(self.y)).all()]
        seeds = min((len(row.values(self.y)) for row in rows), default=0)
        names = (self.x, self.y)
        cost, y = (np.array([row.values(name)[:seeds] for row in rows]).reshape(len(rows), seeds) for name in names)
        return Points(cost, self._sign * y)

    @property
    def _sign(self) -> float:
        return -1.0 if self.y == "reward" else 1.0

    def _at_equal_y(self, whole: list[Floats], levels: Floats, found: list[Difference]) -> str:
        """Return the costs at each level of y, and the cheaper series' cost as a multiple of the dearer's."""
        ours, theirs = (np.exp(_read(frontier, 0, levels)) for frontier in whole)
        words = [
            f"{self._named} {plain(self._sign * level)}: {less:,.0f} against {more:,.0f} {self.x} ({_times(ratio)})"
            for level, less, more, ratio in zip(levels, ours, theirs, found, strict=True)
        ]
        return f"{self.cheaper} against {self.dearer} at {'; '.join(words)}"

    def _at_equal_cost(self, whole: list[Floats], levels: Floats, found: list[Difference]) -> str:
        """Return y at each level of the cost, for two series that share no range of y."""
        ours, theirs = (self._sign * _read(frontier, 1, levels) for frontier in whole)
        words = [
            f"{np.exp(level):,.0f} {self.x}: {self._named} {plain(less)} against {plain(more)} "
            f"({gap._replace(value=self._sign * gap.value).shown()})"
            for level, less, more, gap in zip(levels, ours, theirs, found, strict=True)
        ]
        return f"{self._ranges(whole)}; {self.cheaper} against {self.dearer} at {'; '.join(words)}"

    def _as_wholes(self, both: list[Points], whole: list[Floats], seeds: int) -> Verdict:
        """Judge two series that share neither y nor costs: one that is better and cheaper everywhere decides.

        It reaches all that the other reaches for the least that it costs, which is less than the other's least.
        """
        evidence = f"{self._ranges(whole)}, and no range of {self.x}: one is better everywhere"
        is_better, is_cheaper = (whole[0].mean(axis=0) < whole[1].mean(axis=0)).tolist()
        if is_better != is_cheaper:
            return verdict([], f"{evidence}, and the other is cheaper everywhere")
        found = jackknifed(partial(_least, both), seeds)
        ours, theirs = (np.exp(frontier[-1, 1]) for frontier in whole)
        costs = f"{ours:,.0f} against {theirs:,.0f} {self.x} at least ({_times(found[0])})"
        return verdict(found, f"{evidence}, and cheaper everywhere; {self.cheaper} against {self.dearer}: {costs}")

    def _ranges(self, whole: list[Floats]) -> str:
        parts = [
            f"{label} {plain(self._sign * frontier[0, 0])} to {plain(self._sign * frontier[-1, 0])}"
            for label, frontier in zip(self.about(), whole, strict=True)
        ]
        return f"the two series share no range of {self._named}: " + ", ".join(parts)

    @property
    def _named(self) -> str:
        return self.y.replace("_", " ")


def _shared(frontiers: list[Floats], column: int) -> tuple[float, float]:
    """Return the ends of the range that both frontiers have; the lower end is above the upper where there is none."""
    low = max(float(frontier[:, column].min()) for frontier in frontiers)
    return low, min(float(frontier[:, column].max()) for frontier in frontiers)


def _read(frontier: Floats, column: int, levels: Floats) -> Floats:
    """Return the other column of a frontier where one column has these levels, linear in between."""
    rising = frontier if column == 0 else frontier[::-1]
    return np.asarray(np.interp(levels, rising[:, column], rising[:, 1 - column]))


def _between(both: list[Points], seeds: Ints, *, column: int, levels: int) -> Floats:
    """Return how far the first frontier is above the second at levels of the range that both have in some seeds."""
    frontiers = [points.frontier(seeds) for points in both]
    if not all(len(frontier) for frontier in frontiers):
        return np.full(levels, np.nan)
    ours, theirs = (_read(frontier, column, np.linspace(*_shared(frontiers, column), levels)) for frontier in frontiers)
    return np.asarray(ours - theirs)


def _least(both: list[Points], seeds: Ints) -> Floats:
    """Return the logarithm of the least cost of the first series over that of the second."""
    first, second = (points.frontier(seeds) for points in both)
    if not len(first) or not len(second):
        return np.full(1, np.nan)
    return np.asarray(first[-1:, 1] - second[-1:, 1])


def _times(ratio: Difference) -> str:
    """Return a logarithm of a ratio as "so many times", with its interval."""
    low, middle, high = np.exp([ratio.value - ratio.margin, ratio.value, ratio.value + ratio.margin])
    interval = f", {plain(low, 2)} to {plain(high, 2)}" if ratio.seeds > 1 else ""
    return f"{plain(middle, 2)} times{interval}"
