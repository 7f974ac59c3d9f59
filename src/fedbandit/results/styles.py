"""Colours and dashes of an experiment's figures: one hue a series in all of them, and none hidden behind another."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import count
from typing import Any

import numpy as np
from matplotlib.colors import to_hex, to_rgb

from fedbandit.core.arrays import Floats
from fedbandit.experiments.experiment import Experiment
from fedbandit.simulation.drawing import line_style

# Algorithms that stand beside each other in experiments of several papers have the same hue in all of them.
HUES = ("async-linucb", "sync-linucb", "lean-linucb", "async-linucb-am", "fedlinucb", "clustered-linucb",
        "local-linucb", "pooled-linucb", "private-linucb")  # fmt: skip
HIDDEN = 0.012  # of the axis: lines that are nearer to each other than this cannot be told apart
OVER = (0, (4, 3))  # dashes, through which the line below is seen


def hues(experiment: Experiment) -> dict[str, int]:
    """Return the place among the colours of each series, by label; from the tenth series on there are dashes too."""
    kept = {HUES.index(series.algorithm) for series in experiment.series if series.algorithm in HUES}
    found: dict[str, int] = {}
    for series in experiment.series:
        taken = set(found.values())
        own = HUES.index(series.algorithm) if series.algorithm in HUES else None
        free = next(place for place in count() if place not in taken | kept)
        found.setdefault(series.label, free if own is None or own in taken else own)
    return found


def shades(place: int, points: int) -> list[dict[str, Any]]:
    """Return colours and dashes of the points of a series: shades of its hue, from light to dark.

    >>> shades(0, 1) == [line_style(0)], len({style["color"] for style in shades(0, 5)})
    (True, 5)
    """
    style = line_style(place)
    if points == 1:
        return [style]
    pure = np.array(to_rgb(style["color"]))
    parts = np.linspace(-0.55, 0.45, points)  # below 0 towards white, above towards black
    mixed = [pure * (1 - part) if part > 0 else pure * (1 + part) - part for part in parts]
    return [{**style, "color": to_hex(each)} for each in mixed]


def coincide(one: Floats, others: Sequence[Floats], height: float) -> bool:
    """Tell whether a line runs over most of another; both are given at the same places.

    >>> coincide(np.arange(9.0), [np.arange(9.0) + 0.01], height=8.0), coincide(np.arange(9.0), [np.zeros(9)], 8.0)
    (True, False)
    """
    same = [other for other in others if other.shape == one.shape]
    return any(float(np.mean(np.abs(one - other) <= HIDDEN * height)) > 0.5 for other in same)


def levels_of(values: Floats, is_log: bool) -> Floats:
    """Return where values stand on an axis, in decades if it is logarithmic; what has no place there is NaN.

    >>> levels_of(np.array([0.0, 100.0]), is_log=True)
    array([nan,  2.])
    """
    return np.log10(values, out=np.full_like(values, np.nan), where=values > 0) if is_log else values


def height_of(values: Floats, is_log: bool) -> float:
    """Return how much of an axis values take up: their range, in decades if it is logarithmic.

    >>> height_of(np.array([1.0, 5.0, np.nan]), is_log=False), height_of(np.array([0.0, 1.0, 100.0]), is_log=True)
    (4.0, 2.0)
    """
    levels = levels_of(values, is_log)
    known = levels[np.isfinite(levels)]
    return float(np.ptp(known)) if known.size else 0.0
