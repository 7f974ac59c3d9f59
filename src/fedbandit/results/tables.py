"""Tables as CSV files: one line a point with means and deviations, and one line a run with everything measured."""

from __future__ import annotations

import csv
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from fedbandit.core.errors import InvalidInput
from fedbandit.experiments.experiment import Experiment
from fedbandit.experiments.table import Measured, Row, Table

NAMES = ("series", "point", "clients", "seed")  # the first columns of a file of runs


def write_table(table: Table, path: Path) -> None:
    """Write one line a point: its settings, then mean and standard deviation of each quantity over the seeds."""
    quantities = list(table.rows[0].measured)
    settings = [
        name for name in dict.fromkeys(name for row in table.rows for name in row.settings) if name != "clients"
    ]
    head = [f"{name}{part}" for name in quantities for part in ("", "_deviation")]
    lines: list[list[Any]] = [["series", "point", *settings, "clients", "seeds", *head]]
    for row in table.rows:
        measured = [row.measured[name] for name in quantities]
        seeds = measured[0].seeds
        values = [value for each in measured for value in (each.mean, each.deviation)]
        lines.append([row.series, row.point, *(row.settings.get(name, "") for name in settings), row.clients, seeds])
        lines[-1] += values
    write_lines(lines, path)


def write_runs(table: Table, path: Path) -> None:
    """Write one line a run: series, point, clients, seed, and everything that was measured."""
    quantities = list(table.rows[0].measured)
    runs = (
        [row.series, row.point, row.clients, seed, *values]
        for row in table.rows
        for seed, values in enumerate(zip(*(row.measured[name].values for name in quantities), strict=True))
    )
    write_lines([[*NAMES, *quantities], *runs], path)


def read_runs(path: Path, experiment: Experiment) -> Table:
    """Read the table of an experiment from its file of runs; the settings of each point are the experiment's.

    Points that the experiment no longer has, and lines that are no runs, are refused.
    """
    settings = {
        (series.label, point.label): {**point.world, **point.parameters}
        for series in experiment.series
        for point in series.points
    }
    head, *lines = read_table(path)
    measured: dict[tuple[str, str], list[list[float]]] = {}
    clients: dict[tuple[str, str], int] = {}
    for line in lines:
        series, point, size, _seed, *values = line
        if (series, point) not in settings or len(line) != len(head):
            raise InvalidInput(
                f"{path}: {experiment.id} has no point {point!r} of {series!r} with {len(line)} columns: make it anew"
            )
        clients[series, point] = int(size)
        measured.setdefault((series, point), []).append([float(value) for value in values])
    quantities = head[len(NAMES) :]
    return Table(
        tuple(
            Row(
                *name,
                settings[name],
                clients[name],
                {each: Measured(column) for each, column in zip(quantities, zip(*runs, strict=True), strict=True)},
            )
            for name, runs in measured.items()
        )
    )


def read_table(path: Path) -> list[list[str]]:
    """Return the lines of a CSV file, the header first."""
    with path.open(newline="", encoding="utf-8") as file:
        return list(csv.reader(file))


def write_lines(lines: Iterable[Iterable[Any]], path: Path) -> None:
    """Write the lines of a CSV file."""
    with path.open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows(lines)
