"""The numbers of an experiment: one row a point, with mean and spread over seeds."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from fedbandit.core.errors import unknown

CURVES = ("regret", "reward", "messages", "scalars", "bytes")  # what is kept over time
QUANTITIES = (*CURVES, "uploads", "downloads", "rounds", "seconds", "later_regret")  # what is measured at the end


class Measured(NamedTuple):
    """A quantity over seeds."""

    mean: float
    deviation: float
    seeds: int

    @property
    def error(self) -> float:
        """Return the standard error of the mean."""
        return self.deviation / float(np.sqrt(self.seeds))


@dataclass(frozen=True)
class Row:
    """One point of a series, and what was measured there."""

    series: str
    point: str
    settings: Mapping[str, Any]  # the point's parameters and sizes of the world
    clients: int
    measured: Mapping[str, Measured]

    def mean(self, name: str) -> float:
        """Return the mean of a measured quantity, or the value of a setting."""
        if name in self.measured:
            return self.measured[name].mean
        if name in self.settings:
            return float(self.settings[name])
        raise unknown("quantity", name, [*self.measured, *self.settings])


@dataclass(frozen=True)
class Table:
    """All rows, in the order of the experiment."""

    rows: tuple[Row, ...]

    def of(self, series: str) -> list[Row]:
        """Return the rows of one series."""
        return [row for row in self.rows if row.series == series]

    def labels(self) -> list[str]:
        """Return the labels of the series, in order."""
        return list(dict.fromkeys(row.series for row in self.rows))
