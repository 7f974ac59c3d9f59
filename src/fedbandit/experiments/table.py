"""The numbers of an experiment: one row a point, with mean and spread over seeds."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from fedbandit.core.arrays import Floats
from fedbandit.core.errors import unknown
from fedbandit.files.frames import frame_of
from fedbandit.files.text_tables import html_table, latex_table

CURVES = ("regret", "reward", "messages", "scalars", "bytes")  # what is kept over time
QUANTITIES = (  # what is measured at the end
    *CURVES, "uploads", "downloads", "rounds", "seconds", "later_regret", "processor_seconds",
)  # fmt: skip
SHOWN = ("normalised", "regret", "later_regret", "reward", "messages", "scalars", "bytes", "rounds", "seconds")


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

    def __str__(self) -> str:
        """Return the mean with its standard error, as a person would write it.

        >>> str(Measured((10.0, 12.0, 14.0))), str(Measured((1234567.0, 1234567.0)))
        ('12 ± 1.2', '1,234,567')
        """
        shown = f"{self.mean:,.0f}" if abs(self.mean) >= 1000 else f"{self.mean:.3g}"
        if self.seeds < 2 or self.error == 0:
            return shown
        error = f"{self.error:,.0f}" if self.error >= 10 else f"{self.error:.2g}"
        return f"{shown} ± {error}"


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

    def columns(self) -> list[str]:
        """Return the quantities to show: those that at least one row knows."""
        nothing = Measured((math.nan,))
        return [
            name for name in SHOWN if any(not math.isnan(row.measured.get(name, nothing).mean) for row in self.rows)
        ]

    def to_frame(self, library: str = "pandas") -> Any:
        """Return one row a run, seed by seed, as a data frame of pandas, polars or pyarrow.

        Columns: series, point, the settings of the point (None where it has no such setting), clients, seed, and
        everything that was measured.
        """
        runs = [(row, seed) for row in self.rows for seed in range(next(iter(row.measured.values())).seeds)]
        columns: dict[str, Any] = {"series": [row.series for row, _ in runs], "point": [row.point for row, _ in runs]}
        settings = dict.fromkeys(name for row in self.rows for name in row.settings if name != "clients")
        columns |= {name: [row.settings.get(name) for row, _ in runs] for name in settings}
        columns |= {"clients": [row.clients for row, _ in runs], "seed": [seed for _, seed in runs]}
        quantities = dict.fromkeys(name for row in self.rows for name in row.measured)
        columns |= {name: [_in_seed(row, name, seed) for row, seed in runs] for name in quantities}
        return frame_of(columns, library)

    def to_latex(self, *quantities: str) -> str:
        """Return the table for LaTeX (package booktabs): means with standard errors of some quantities, or of all."""
        for name in quantities:
            if name not in self.columns():
                raise unknown("quantity", name, self.columns())
        return latex_table(*self._texts(quantities), texts=2)

    def _repr_html_(self) -> str:
        """Show means with standard errors in a notebook."""
        return html_table(*self._texts(()))

    def _texts(self, quantities: Sequence[str]) -> tuple[list[str], list[list[str]]]:
        names = list(quantities) or self.columns()
        lines = [[row.series, row.point, *(str(row.measured[name]) for name in names)] for row in self.rows]
        return ["series", "point", *names], lines


def _in_seed(row: Row, name: str, seed: int) -> float:
    return row.measured[name].values[seed] if name in row.measured else math.nan
