"""Clients in groups by how many turns they had: what each group sent and earned, and where its users lie."""

from __future__ import annotations

import csv
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np
from matplotlib.figure import Figure as Canvas

from fedbandit.core.arrays import Floats
from fedbandit.experiments.experiment import Experiment
from fedbandit.experiments.figures import Groups, Map
from fedbandit.experiments.panel import Published
from fedbandit.results.published_points import explain, mark, published_of
from fedbandit.results.record import BY_CLIENT, Record, group_of, group_totals
from fedbandit.results.user_map import positions
from fedbandit.simulation.drawing import COLOURS, STYLE, write


def draw_groups(
    figure: Groups, experiment: Experiment, records: Mapping[str, Record], folder: Path, formats: Sequence[str] = ()
) -> list[Path]:
    """Draw the bars and write the table, or draw the map; return the files that were written."""
    by_point: dict[str, list[Record]] = {}
    for series, point, cell in experiment.cells():
        if not figure.series or series.label in figure.series:
            by_point.setdefault(point.label or series.label, []).append(records[cell.key()])
    with mpl.rc_context(STYLE):
        canvas = Canvas(figsize=(7.2, 4.6), layout="constrained")
        axes = canvas.add_subplot()
        axes.set_title(figure.title or experiment.title, loc="left", fontsize=11)
        if isinstance(figure, Map):
            _map(axes, figure, experiment, next(iter(by_point.values()))[0])
            return write(canvas, folder / figure.file_name, formats)
        table = group_table(figure, by_point)
        _bars(axes, figure, by_point, published_of(experiment))
        path = folder / f"{figure.file_name}.csv"
        with path.open("w", newline="", encoding="utf-8") as file:
            csv.writer(file).writerows(table)
        return [*write(canvas, folder / figure.file_name, formats), path]


def group_table(figure: Groups, by_point: Mapping[str, Sequence[Record]]) -> list[list[str]]:
    """Return the header and a line for each group: clients, turns, and at each point exchanges and rewards (means)."""
    first = next(iter(by_point.values()))[0]
    clients = np.bincount(group_of(first.by_client["turns"], figure), minlength=figure.count)
    sums = {point: _means(records, figure) for point, records in by_point.items()}
    head = ["group", "clients", "turns", *(f"{part}, {point}" for point in sums for part in BY_CLIENT[:0:-1])]
    some = next(iter(sums.values()))
    columns = [clients, some["turns"], *(sums[point][part] for point in sums for part in BY_CLIENT[:0:-1])]
    lines = [[label, *(f"{column[k]:,.0f}" for column in columns)] for k, label in enumerate(figure.labels())]
    return [head, *lines, ["sum", *(f"{column.sum():,.0f}" for column in columns)]]


def _means(records: Sequence[Record], figure: Groups) -> dict[str, Floats]:
    """Return the totals of each group, as means over the seeds."""
    totals = [group_totals(record, figure) for record in records]
    return {
        name: np.nan_to_num([np.mean([each[f"{name} {label}"] for each in totals]) for label in figure.labels()])
        for name in BY_CLIENT
    }


def _bars(axes: Any, figure: Groups, by_point: Mapping[str, Sequence[Record]], published: Sequence[Published]) -> None:
    """Draw a bar for each group and point, with its standard error over seeds, and published means beside it."""
    width = 0.8 / len(by_point)
    known = {(each.quantity, each.point): each.value for each in published}
    turns = {each.quantity: each.value for each in published if each.quantity.startswith("turns ")}
    marked = 0
    for place, (point, records) in enumerate(by_point.items()):
        across = np.arange(figure.count) + place * width
        height, error = _mean_rewards(records, figure)
        axes.bar(across, height, width, color=COLOURS[place], label=point, yerr=error,
                 error_kw={"elinewidth": 0.8, "capsize": 1.5})  # fmt: skip
        for where, group in zip(across, figure.labels(), strict=True):
            rewards, count = known.get((f"rewards {group}", point)), turns.get(f"turns {group}")
            if rewards is not None and count:
                mark(axes, float(where), (rewards / count, 0.0), COLOURS[place])
                marked += 1
    if marked:
        explain(axes)
    axes.set_xticks(np.arange(figure.count) + 0.4 - width / 2, figure.labels(), rotation=30, fontsize=8)
    axes.set_xlabel("turns of a client")
    axes.set_ylabel("mean reward of a turn")
    axes.legend(fontsize=8)


def _mean_rewards(records: Sequence[Record], figure: Groups) -> tuple[Floats, Floats]:
    """Return the mean reward of a turn of each group, over the seeds, and its standard error."""
    totals = [group_totals(record, figure) for record in records]
    by_seed = np.nan_to_num(
        [[each[f"rewards {k}"] / max(each[f"turns {k}"], 1.0) for k in figure.labels()] for each in totals]
    )
    spread = by_seed.std(axis=0, ddof=1) / np.sqrt(len(totals)) if len(totals) > 1 else np.zeros(figure.count)
    return by_seed.mean(axis=0), spread


def _map(axes: Any, figure: Map, experiment: Experiment, record: Record) -> None:
    plane = positions(experiment)
    group = group_of(record.by_client["turns"], figure)
    shades = mpl.colormaps["viridis"](np.linspace(0.0, 0.95, figure.count))
    for k, label in enumerate(figure.labels()):
        mine = plane[group == k]
        axes.scatter(mine[:, 0], mine[:, 1], s=8, color=shades[k], label=label, lw=0)
    axes.set_xlabel("first principal component")
    axes.set_ylabel("second principal component")
    axes.legend(fontsize=7, title="turns", markerscale=2)
