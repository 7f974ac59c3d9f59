"""The numbers of an experiment: one row a point, with mean and spread over seeds."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from fedbandit.core.arrays import Floats
from fedbandit.core.errors import unknown

CURVES = ("regret", "reward", "messages", "scalars", "bytes")  # what is kept over time
QUANTITIES = (*CURVES, "uploads", "downloads", "rounds", "seconds", "later_regret")  # what is measured at the end


@dataclass(frozen=True)
class Measured:
    """A quantity in each seed, in the order of the seeds.

    >>> regret = Measured((1.0, 2.0, 3.0))
    >>> regret.mean, regret.deviation, regret.seeds
    (2.0, 1.0, 3)
    """

    values: tuple[float, ...]

    @property
    def seeds(self) -> int:
        """Return the number of seeds."""
        return len(self.values)

    @property
    def mean(self) -> float:
        """Return the mean over the seeds."""
        return float(np.mean(self.values))

    @property
    def deviation(self) -> float:
        """Return the standard deviation over the seeds; one seed has none."""
        return float(np.std(self.values, ddof=1)) if self.seeds > 1 else 0.0

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

    def values(self, name: str, per_client: bool = False) -> Floats:
        """Return a measured quantity seed by seed, or what each client has of it."""
        if name not in self.measured:
            raise unknown("quantity", name, self.measured)
        return np.array(self.measured[name].values) / (self.clients if per_client else 1)


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
