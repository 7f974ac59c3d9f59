"""Figures over time: a line with its band for each point of a series."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from fedbandit.core.arrays import Floats
from fedbandit.experiments.experiment import Experiment
from fedbandit.experiments.figures import OverTime
from fedbandit.results.published_points import found, mark, published_of
from fedbandit.results.record import Record
from fedbandit.results.styles import CLEAR, Looks, coincide, height_of, hues, levels_of, marker_of, shades
from fedbandit.simulation.drawing import CROWD

BAND = 0.18  # how opaque the band around a line is, where there are few
MARKS = 6  # markers along a line


class Curve(NamedTuple):
    """The mean of y over the turns, and half the height of the band around it, of one point of a series."""

    series: str
    point: str
    clients: int
    turns: Floats
    mean: Floats
    spread: Floats


def draw_curves(axes: Any, figure: OverTime, experiment: Experiment, records: Mapping[str, Record]) -> bool:
    """Draw lines with bands, shades of one hue a series; tell whether there are published numbers at their ends."""
    groups: dict[tuple[str, str], list[Record]] = {}
    for series, point, cell in experiment.cells():
        if figure.shows(series.label) and (not figure.labels or point.label in figure.labels):
            groups.setdefault((series.label, point.label), []).append(records[cell.key()])
    curves = [_curve(figure, *names, group) for names, group in groups.items()]
    height = height_of(np.concatenate([curve.mean for curve in curves]), figure.log_y) if curves else 0.0
    is_one_label = len({curve.point for curve in curves}) == 1 and len(curves) > 1
    places, published = hues(experiment), published_of(experiment)
    counts = Counter(curve.series for curve in curves)
    styles = {label: iter(enumerate(shades(place, counts[label]))) for label, place in places.items()}
    looks, drawn = Looks(), list[Floats]()
    alpha = BAND * min(1.0, CROWD / max(len(curves), 1))  # or else many bands hide each other's lines
    marked = 0
    for curve in curves:
        number, style = next(styles[curve.series])
        style = looks.own(style)
        level = levels_of(curve.mean, figure.log_y)
        if coincide(level, drawn, height):
            style = looks.over(style)
        drawn.append(level)
        label = curve.series if is_one_label else f"{curve.series} {curve.point}".strip()
        marked_at = _marks(number, counts[curve.series], len(curve.turns)) if counts[curve.series] > CLEAR else {}
        axes.plot(curve.turns, curve.mean, label=label, **style, **marked_at)
        low, high = curve.mean - curve.spread, curve.mean + curve.spread
        axes.fill_between(curve.turns, low, high, color=style["color"], alpha=alpha, lw=0)
        beside = found(published, figure.y, curve.series, curve.point, curve.clients, figure.per_client)
        if beside is not None and not figure.rate:
            mark(axes, float(curve.turns[-1]), beside, style["color"])
            marked += 1
    axes.set_xlabel("rounds" if figure.by_round else "turns")
    return marked > 0


def _marks(number: int, points: int, turns: int) -> dict[str, Any]:
    """Return the markers of one of many points of a series: a few along its line, each point's elsewhere."""
    apart = max(1, turns // MARKS)
    return {"marker": marker_of(number), "ms": 4, "markevery": (apart * number // points, apart)}


def _curve(figure: OverTime, series: str, point: str, group: Sequence[Record]) -> Curve:
    clients = group[0].clients
    share = group[0].curves["turn"] if figure.rate else clients if figure.per_client else 1
    curves = np.array([record.curves[figure.y] for record in group]) / share
    turns = group[0].curves["turn"] / (clients if figure.by_round else 1)
    first = len(turns) // 50 if figure.rate else 0  # a rate of a few turns is noise, and would set the axis
    turns, curves = turns[first:], curves[:, first:]
    return Curve(series, point, clients, turns, curves.mean(axis=0), figure.band * _spread(curves, figure.spread))


def _spread(curves: Floats, kind: str) -> Floats:
    if len(curves) < 2:
        return np.zeros(curves.shape[1])
    deviation = curves.std(axis=0, ddof=1)
    return np.asarray(deviation / np.sqrt(len(curves)) if kind == "standard error" else deviation)
