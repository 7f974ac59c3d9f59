"""The figure of the leaderboard: a dot an algorithm, regret against bytes, those that send nothing at the left edge."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import cycle
from pathlib import Path

import matplotlib as mpl
import numpy as np
from matplotlib.figure import Figure as Canvas
from matplotlib.ticker import FuncFormatter, LogLocator, NullLocator

from fedbandit.files.amounts import shown_bytes
from fedbandit.results.labels import CORNERS, Label, annotate
from fedbandit.results.ranking import BASELINE, FAMILIES, Entry
from fedbandit.results.store import write_smaller
from fedbandit.simulation.drawing import AXES, COLOURS, STYLE, axis_number

EDGE = 30.0  # by which the fewest bytes are divided, for where those stand who send nothing
NEAR = (0.06, 0.05)  # of the width and of the height: dots that are no farther apart may be taken for each other
MARKERS = {"nothing": "o", "raw data": "X", "noised sums": "^", "sums or models": "o"}


def draw_ranking(entries: Sequence[Entry], title: str, path: Path) -> None:
    """Draw the entries of a ranking, a hue a family; write a PNG in few colours."""
    families = dict.fromkeys([*FAMILIES.values(), BASELINE, *(entry.family for entry in entries)])
    hues = dict(zip(families, cycle(COLOURS), strict=False))
    least = min(entry.bytes for entry in entries if entry.bytes) / EDGE
    with mpl.rc_context(STYLE):
        canvas = Canvas(figsize=(10.0, 7.6), layout="constrained")
        axes = canvas.add_subplot()
        axes.set(xscale="log", yscale="log", xlabel=AXES["bytes"], ylabel=AXES["regret"])
        labels: dict[tuple[float, float], Label] = {}
        for entry in entries:
            across, up, colour = entry.bytes or least, entry.regret.mean, hues[entry.family]
            is_alone = not entry.bytes
            error = entry.regret.error
            axes.plot((across, across), (up - error, up + error), color=colour, lw=1.0)  # names keep off lines
            axes.plot(across, up, MARKERS[entry.leaves_sites], color=colour, ms=6, mfc="white" if is_alone else colour)
            spot = round(across), round(up, 6)
            name = ", ".join([labels[spot].text, entry.name] if spot in labels else [entry.name])
            labels[spot] = Label(name, across, up, colour)  # dots that coincide have one label
        for family in dict.fromkeys(entry.family for entry in entries):
            axes.plot([], [], "o", color=hues[family], label=family)
        axes.plot([], [], "X", color="black", label="all raw data in one place")
        axes.plot([], [], "^", color="black", label="differentially private")
        axes.plot([], [], "o", color="black", mfc="white", label="nothing is sent")
        most = max(entry.bytes for entry in entries)
        axes.set_xlim(least / EDGE, EDGE / 2 * most)
        _number(axes, least, most)
        axes.set_title(title, loc="left", fontsize=11)
        axes.legend(fontsize=8, loc="upper left", bbox_to_anchor=(1.0, 1.0))
        placed = _away_from_each_other(list(labels.values()), axes)
        annotate(axes, sorted(placed, key=lambda label: -len(label.text)))  # long names find room first
        drawn = path.with_suffix(".drawn.png")
        canvas.savefig(drawn, dpi=150)
    write_smaller(drawn, path)
    drawn.unlink()


def _away_from_each_other(labels: Sequence[Label], axes: mpl.axes.Axes) -> list[Label]:
    """Let each name stand on that side of its dot, if it can, where no other dot is near: whose it is can be seen."""
    spots = axes.transAxes.inverted().transform(axes.transData.transform([(each.across, each.up) for each in labels]))
    found = []
    for label, spot in zip(labels, spots, strict=True):
        apart = spots - spot
        near = np.sign(apart[(np.abs(apart) < NEAR).all(axis=1)])
        crowds = [int((near * corner > 0).sum()) for corner in CORNERS]
        found.append(label._replace(corners=[CORNERS[at] for at in np.argsort(crowds, kind="stable")]))
    return found


def _number(axes: mpl.axes.Axes, least: float, most: float) -> None:
    """Number the axes: bytes as people write them, 0 at the left edge, and plain regrets."""
    decades = [10.0**k for k in range(int(np.ceil(np.log10(least * EDGE / 3))), int(np.log10(most)) + 1)]
    axes.set_xticks([least, *decades], ["0", *map(shown_bytes, decades)])
    axes.xaxis.set_minor_locator(NullLocator())
    axes.yaxis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0)))
    axes.yaxis.set_major_formatter(FuncFormatter(axis_number))
    axes.yaxis.set_minor_locator(NullLocator())
