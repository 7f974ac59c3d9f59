"""Colours and dashes of an experiment's figures: one hue a series in all of them, no line like another or behind it."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import count
from typing import Any

import numpy as np
from matplotlib.colors import to_hex, to_rgb

from fedbandit.core.arrays import Floats
from fedbandit.experiments.experiment import Experiment
from fedbandit.simulation.drawing import COLOURS, DASHES, line_style

# Algorithms that stand beside each other in experiments of several papers have the same hue in all of them.
HUES = ("async-linucb", "sync-linucb", "lean-linucb", "async-linucb-am", "fedlinucb", "clustered-linucb",
        "local-linucb", "pooled-linucb", "private-linucb")  # fmt: skip
HIDDEN = 0.012  # of the axis: lines that are nearer to each other than this cannot be told apart
CLEAR = 5  # shades of one hue that can be told apart by themselves
PATTERNS = 4  # dashes that the points of a series have in turn, where there are more
# Each of DASHES with gaps so long that the line below is seen through them.
LOOSE = ((0, (6, 6)), (0, (3, 6)), (0, (1, 4)), (0, (6, 4, 1, 4)), (0, (12, 6)), (0, (6, 4, 1, 4, 1, 4)),
         (0, (12, 5, 3, 5)))  # fmt: skip
TINTS = 15  # how often a colour whose dashes are all taken is made greyer
MARKERS = "osD^vPX*<>"


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

    Of more points than shades can tell apart, each has other dashes than those next to it.

    >>> shades(0, 1) == [line_style(0)], len({style["color"] for style in shades(0, 5)})
    (True, 5)
    >>> [style["ls"] for style in shades(0, 6)]
    ['-', '--', ':', '-.', '-', '--']
    """
    style = line_style(place)
    if points == 1:
        return [style]
    pure = np.array(to_rgb(style["color"]))
    parts = np.linspace(-0.55, 0.45, points)  # below 0 towards white, above towards black
    mixed = [pure * (1 - part) if part > 0 else pure * (1 + part) - part for part in parts]
    turn = PATTERNS if points > CLEAR else 1
    first = DASHES.index(style["ls"])
    return [
        {"color": _hex(each), "ls": DASHES[(first + number % turn) % len(DASHES)]} for number, each in enumerate(mixed)
    ]


def _hex(colour: Floats) -> str:
    red, green, blue = colour.tolist()
    return to_hex((red, green, blue))


def marker_of(place: int) -> str:
    """Return the marker of the n-th series: where colours begin again, with another one.

    >>> marker_of(0), marker_of(10), line_style(0)["color"] == line_style(10)["color"]
    ('o', '^', True)
    """
    return MARKERS[(place + 3 * (place // len(COLOURS))) % len(MARKERS)]


class Looks:
    """The colours and dashes of one figure's lines: no two lines have the same."""

    def __init__(self) -> None:
        """Begin with nothing drawn."""
        self._taken: set[tuple[str, Any]] = set()

    def own(self, style: dict[str, Any]) -> dict[str, Any]:
        """Return a style for one line alone: itself, or else with other dashes."""
        return self._free(style["color"], [style["ls"], *DASHES])

    def over(self, style: dict[str, Any]) -> dict[str, Any]:
        """Return a style of its own for a line that runs over another, which is seen through its gaps."""
        return self._free(style["color"], [LOOSE[DASHES.index(style["ls"])], *LOOSE])

    def _free(self, colour: str, dashes: Sequence[Any]) -> dict[str, Any]:
        pure, grey = np.array(to_rgb(colour)), 0.5
        tints = [_hex(grey + (pure - grey) * 0.8**step) for step in range(1, TINTS)]
        free = ((tint, each) for tint in [colour, *tints] for each in dashes if (tint, each) not in self._taken)
        found = next(free, (colour, dashes[0]))  # nobody tells a hundred lines of one colour apart
        self._taken.add(found)
        return {"color": found[0], "ls": found[1]}


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
