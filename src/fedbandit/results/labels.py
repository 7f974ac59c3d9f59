"""The names of points beside their dots, each where it hides no dot, no other name, and stays inside the axes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise, product
from typing import Any, NamedTuple

import numpy as np
from matplotlib.transforms import Bbox

from fedbandit.core.arrays import Floats

SIZE = 7  # points of the letters
CLOSE = (5,)  # points between a dot and its name, across and up
FARTHER = (12, 20, 30)  # where that is taken: a thin line leads there
APART = 4.0  # pixels between two names beside each other
DOT = 3.5  # points from the middle of a dot to its edge
STEP = 6.0  # pixels between the places on a line that a name keeps off
CORNERS = ((1, 1), (-1, 1), (1, -1), (-1, -1))  # where a name may stand, seen from its dot


class Label(NamedTuple):
    """A name, its dot in the figure's own units, its colour, and where it may stand: the first that is free."""

    text: str
    across: float
    up: float
    colour: str
    corners: Sequence[tuple[int, int]] = CORNERS


def annotate(axes: Any, labels: Sequence[Label]) -> None:
    """Write each name beside its dot, off the lines if it can be, or farther away; one without a place is left out."""
    axes.figure.draw_without_rendering()
    half = DOT * axes.figure.dpi / 72
    legend = axes.get_legend()
    taken = [_box(axes.transData.transform((label.across, label.up)), half) for label in labels]
    taken += [legend.get_window_extent()] if legend else []
    lines = [_box(spot, 1.0) for spot in _along(axes)] if labels else []
    crowded = [label for label in labels if not _write(axes, label, CLOSE, taken, lines)]
    for label in crowded:  # when all that stand beside their dots are there
        _write(axes, label, FARTHER, taken, lines)


def _write(axes: Any, label: Label, away: Sequence[float], taken: list[Bbox], lines: Sequence[Bbox]) -> bool:
    """Write a name where it is free, off the lines if it can be; tell whether it was."""
    places = list(_places(axes, label, away, taken))
    clear = [each for each in places if not any(each[1].overlaps(spot) for spot in lines)]
    for how, box in (clear or places)[:1]:
        taken.append(box.padded(APART, 0.0))
        axes.annotate(label.text, (label.across, label.up), **how)
    return bool(places)


def _along(axes: Any) -> Iterator[Floats]:
    """Yield places on the lines between dots, a few points apart, where they are on the canvas."""
    for line in axes.get_lines():
        data = np.column_stack(line.get_data(orig=False))  # numbers, whatever they were given as
        placed = data[np.isfinite(data).all(axis=1)] if line.get_transform() == axes.transData else np.empty((0, 2))
        spots = axes.transData.transform(placed)
        for one, other in pairwise(spots):
            steps = 1 + int(np.hypot(*(other - one)) / STEP)
            yield from np.linspace(one, other, steps, endpoint=False)


def _box(spot: Floats, half: float) -> Bbox:
    across, up = spot
    return Bbox.from_extents(across - half, up - half, across + half, up + half)


def _places(
    axes: Any, label: Label, distances: Sequence[float], taken: Sequence[Bbox]
) -> Iterator[tuple[dict[str, Any], Bbox]]:
    """Yield how a name can stand, and the room that it takes there, inside the axes and where nothing else is."""
    inside = axes.get_window_extent()
    for away, (right, above) in product(distances, label.corners if label.text else ()):
        how: dict[str, Any] = {
            "xytext": (right * away, above * away), "textcoords": "offset points", "fontsize": SIZE,
            "color": label.colour, "ha": "left" if right > 0 else "right", "va": "bottom" if above > 0 else "top",
        }  # fmt: skip
        name = axes.annotate(label.text, (label.across, label.up), **how)
        if away not in CLOSE:
            how["arrowprops"] = {"arrowstyle": "-", "lw": 0.5, "color": label.colour, "shrinkA": 0, "shrinkB": 2}
        box = name.get_window_extent()
        name.remove()
        is_inside = inside.x0 <= box.x0 and box.x1 <= inside.x1 and inside.y0 <= box.y0 and box.y1 <= inside.y1
        if is_inside and not any(box.overlaps(other) for other in taken):
            yield how, box
