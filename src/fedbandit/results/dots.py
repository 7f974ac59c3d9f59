"""Figures of final numbers: dots with their errors, joined within a series, against a cost or a setting."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from fedbandit.core.arrays import Floats
from fedbandit.experiments.experiment import Experiment
from fedbandit.experiments.figures import Against, Figure, TradeOff
from fedbandit.experiments.panel import Published
from fedbandit.experiments.table import Row, Table
from fedbandit.results.labels import Label
from fedbandit.results.published_points import found, mark, published_of
from fedbandit.results.styles import Looks, coincide, height_of, hues, levels_of, marker_of, shades
from fedbandit.simulation.drawing import AXES


def draw_dots(axes: Any, figure: TradeOff | Against, experiment: Experiment, table: Table) -> tuple[list[Label], bool]:
    """Draw all series; return the names to write beside dots, and whether there are published ones among these."""
    places, published = hues(experiment), published_of(experiment)
    shown = [label for label in table.labels() if figure.shows(label)]
    height = height_of(np.array([_y(row, figure)[0] for label in shown for row in table.of(label)]), figure.log_y)
    looks, labels = Looks(), list[Label]()
    drawn: list[tuple[Floats, Floats]] = []
    marked = 0
    for label in shown:
        style = looks.own(*shades(places[label], 1))
        rows = sorted(table.of(label), key=lambda row: row.mean(figure.x))
        silent = [row for row in rows if figure.log_x and row.mean(figure.x) == 0]
        marked += _mark_published(axes, figure, rows, silent, published, style["color"])
        for row in silent:  # no communication has no place on a logarithmic axis: a line across
            name = f"{label} {row.point}".strip()
            axes.axhline(_y(row, figure)[0], lw=1.2, label=name, **looks.own({**style, "ls": "--"}))
        rows = [row for row in rows if row not in silent]
        if not rows:
            continue
        x = np.array([row.mean(figure.x) for row in rows])
        y, error = np.array([_y(row, figure) for row in rows]).T
        level = levels_of(y, figure.log_y)
        look: dict[str, Any] = {**style, "marker": marker_of(places[label]), "ms": 5}
        below = [other for at, other in drawn if at.shape == x.shape and np.allclose(at, x, rtol=0.02)]
        if coincide(level, below, height):  # rings around the dots below
            look |= {**looks.over(style), "mfc": "none", "ms": 9}
        drawn.append((x, level))
        axes.errorbar(x, y, yerr=error, label=label, lw=1.2, capsize=2, **look)
        if isinstance(figure, TradeOff):
            spots = zip(rows, x.tolist(), y.tolist(), strict=True)
            labels += [Label(row.point, across, up, style["color"]) for row, across, up in spots]
    axes.set_xlabel(AXES.get(figure.x, figure.x.replace("_", " ")))
    return labels, marked > 0


def _mark_published(
    axes: Any, figure: TradeOff | Against, rows: Sequence[Row], silent: Sequence[Row], published: Sequence[Published],
    colour: str,
) -> int:  # fmt: skip
    """Draw the published numbers of a series; return how many there are."""
    marked = 0
    for row in rows:
        value = found(published, figure.y, row.series, row.point, row.clients, figure.per_client)
        across = 0.0 if row in silent else _across(row, figure, published)
        if value is not None and across is not None:
            mark(axes, across, value, colour, at_the_edge=row in silent)
            marked += 1
    return marked


def _across(row: Row, figure: TradeOff | Against, published: Sequence[Published]) -> float | None:
    """Return where a published number stands across: as published, or by the setting that it shares with ours."""
    if figure.x not in row.measured:
        return row.mean(figure.x)
    across = found(published, figure.x, row.series, row.point, row.clients, per_client=False)
    return None if across is None else across[0]


def _y(row: Row, figure: Figure) -> tuple[float, float]:
    measured = row.measured[figure.y]
    share = row.clients if figure.per_client else 1
    return measured.mean / share, measured.error / share
