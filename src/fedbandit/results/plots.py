"""How the figures of experiments are drawn."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np
from matplotlib.figure import Figure as Canvas
from matplotlib.ticker import FuncFormatter, LogLocator, NullLocator

from fedbandit.core.arrays import Floats
from fedbandit.experiments.experiment import Experiment
from fedbandit.experiments.figures import Against, Figure, Groups, OverTime, TradeOff
from fedbandit.experiments.table import Row, Table
from fedbandit.results.record import Record
from fedbandit.simulation.drawing import AXES, COLOURS, CROWD, STYLE, axis_number, line_style, number_axes, write

MARKERS = "osD^vPX*<>"


def draw(
    figure: Figure, experiment: Experiment, table: Table, records: Mapping[str, Record], folder: Path
) -> list[Path]:
    """Draw one figure of an experiment; return the files that were written: PNG, SVG, and of groups the table."""
    if isinstance(figure, Groups):
        from fedbandit.results.groups import draw_groups

        return draw_groups(figure, experiment, records, folder)
    with mpl.rc_context(STYLE):
        canvas = Canvas(figsize=(7.2, 4.6), layout="constrained")
        axes = canvas.add_subplot()
        if isinstance(figure, OverTime):
            _over_time(axes, figure, experiment, records)
            _scale(axes, figure)
        elif isinstance(figure, TradeOff | Against):
            _against(axes, figure, table)
        axes.set_title(figure.title or experiment.title, loc="left", fontsize=11)
        axes.set_ylabel(_y_label(figure))
        names = len(axes.get_legend_handles_labels()[1])
        if names > CROWD:
            axes.legend(fontsize=8, loc="upper left", bbox_to_anchor=(1.0, 1.0))  # beside, where it hides nothing
        elif names:
            axes.legend(fontsize=8)
        return write(canvas, folder / figure.file_name)


def _y_label(figure: Figure) -> str:
    if isinstance(figure, OverTime) and figure.rate:
        return f"{figure.y} per turn, so far"
    return AXES.get(figure.y, figure.y) + (" per client" if figure.per_client else "")


def _shown(figure: Figure, labels: Sequence[str]) -> list[str]:
    return [label for label in labels if not figure.series or label in figure.series]


def _against(axes: Any, figure: TradeOff | Against, table: Table) -> None:
    everything = table.labels()
    labels: list[tuple[str, float, float, str]] = []
    for label in _shown(figure, everything):
        place = everything.index(label)
        rows = sorted(table.of(label), key=lambda row: row.mean(figure.x))
        style = {**line_style(place), "marker": MARKERS[(place + place // len(COLOURS)) % len(MARKERS)]}
        if isinstance(figure, TradeOff):
            silent = [row for row in rows if row.mean(figure.x) == 0]
            rows = [row for row in rows if row.mean(figure.x) > 0]
            for row in silent:  # no communication has no place on a logarithmic axis: a line across
                level = _y(row, figure)[0]
                axes.axhline(level, color=style["color"], ls="--", lw=1.2, label=f"{label} {row.point}".strip())
        if not rows:
            continue
        x = [row.mean(figure.x) for row in rows]
        y, error = np.array([_y(row, figure) for row in rows]).T
        axes.errorbar(x, y, yerr=error, label=label, lw=1.2, ms=5, capsize=2, **style)
        if isinstance(figure, TradeOff):
            labels += [(row.point, *spot, style["color"]) for row, *spot in zip(rows, x, y, strict=True)]
    axes.set_xlabel(AXES.get(figure.x, figure.x.replace("_", " ")))
    _scale(axes, figure)
    _annotate(axes, labels)


def _scale(axes: Any, figure: Figure) -> None:
    """Make axes logarithmic where asked; one of a few decades has plain numbers beside 1, 2 and 5 of each."""
    for axis, name, is_log in ((axes.xaxis, "x", figure.log_x), (axes.yaxis, "y", figure.log_y)):
        if not is_log:
            continue
        axes.set(**{f"{name}scale": "log"})
        axes.autoscale_view()
        low, high = axis.get_view_interval()
        if high < 1000 * low:
            axis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0)))
            axis.set_major_formatter(FuncFormatter(axis_number))
            axis.set_minor_locator(NullLocator())
    number_axes(axes)


def _annotate(axes: Any, labels: Sequence[tuple[str, float, float, str]]) -> None:
    """Write each label beside its dot, unless it would run into one that stands already."""
    axes.figure.draw_without_rendering()
    placed: list[tuple[float, float]] = []
    for text, across, up, colour in labels:
        spot = axes.transData.transform((across, up))
        if all(abs(spot[0] - x) > 7 * len(text) or abs(spot[1] - y) > 12 for x, y in placed):
            placed.append((spot[0], spot[1]))
            axes.annotate(text, (across, up), xytext=(4, 5), textcoords="offset points", fontsize=7, color=colour)


def _y(row: Row, figure: Figure) -> tuple[float, float]:
    measured = row.measured[figure.y]
    share = row.clients if figure.per_client else 1
    return measured.mean / share, measured.error / share


def _over_time(axes: Any, figure: OverTime, experiment: Experiment, records: Mapping[str, Record]) -> None:
    groups: dict[tuple[str, str], list[Record]] = {}
    for series, point, cell in experiment.cells():
        if series.label in _shown(figure, [series.label]) and (not figure.labels or point.label in figure.labels):
            groups.setdefault((series.label, point.label), []).append(records[cell.key()])
    is_one_label = len({point_label for _, point_label in groups}) == 1 and len(groups) > 1
    for place, ((series_label, point_label), group) in enumerate(groups.items()):
        share = group[0].curves["turn"] if figure.rate else group[0].clients if figure.per_client else 1
        curves = np.array([record.curves[figure.y] for record in group]) / share
        turns = group[0].curves["turn"] / (group[0].clients if figure.by_round else 1)
        first = len(turns) // 50 if figure.rate else 0  # a rate of a few turns is noise, and would set the axis
        turns, curves = turns[first:], curves[:, first:]
        mean, spread = curves.mean(axis=0), figure.band * _spread(curves, figure.spread)
        style = line_style(place)
        label = series_label if is_one_label else f"{series_label} {point_label}".strip()
        axes.plot(turns, mean, label=label, **style)
        axes.fill_between(turns, mean - spread, mean + spread, color=style["color"], alpha=0.18, lw=0)
    axes.set_xlabel("rounds" if figure.by_round else "turns")


def _spread(curves: Floats, kind: str) -> Floats:
    if len(curves) < 2:
        return np.zeros(curves.shape[1])
    deviation = curves.std(axis=0, ddof=1)
    return np.asarray(deviation / np.sqrt(len(curves)) if kind == "standard error" else deviation)
