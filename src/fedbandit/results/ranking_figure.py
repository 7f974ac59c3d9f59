"""The figure of the leaderboard: a dot an algorithm, regret against bytes, those that send nothing at the left edge."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import matplotlib as mpl
import numpy as np
from matplotlib.figure import Figure as Canvas
from matplotlib.ticker import FuncFormatter, LogLocator, NullLocator

from fedbandit.files.amounts import shown_bytes
from fedbandit.results.labels import Label, annotate
from fedbandit.results.ranking import BASELINE, FAMILIES, Entry
from fedbandit.results.store import write_smaller
from fedbandit.simulation.drawing import AXES, COLOURS, STYLE, axis_number

EDGE = 30.0  # by which the fewest bytes are divided, for where those stand who send nothing
MARKERS = {"nothing": "o", "raw data": "X", "noised sums": "^", "sums or models": "o"}


def draw_ranking(entries: Sequence[Entry], title: str, path: Path) -> None:
    """Draw the entries of a ranking, a hue a family; write a PNG in few colours."""
    hues = dict(zip([*FAMILIES.values(), BASELINE], COLOURS, strict=False))
    least = min(entry.bytes for entry in entries if entry.bytes) / EDGE
    with mpl.rc_context(STYLE):
        canvas = Canvas(figsize=(9.0, 6.4), layout="constrained")
        axes = canvas.add_subplot()
        axes.set(xscale="log", yscale="log", xlabel=AXES["bytes"], ylabel=AXES["regret"])
        labels = []
        for entry in entries:
            across, up, colour = entry.bytes or least, entry.regret.mean, hues[entry.family]
            is_alone = not entry.bytes
            axes.errorbar(across, up, yerr=entry.regret.error, color=colour, marker=MARKERS[entry.leaves_sites], ms=6,
                          mfc="white" if is_alone else colour, capsize=2, lw=1.0, ls="none")  # fmt: skip
            labels.append(Label(entry.name, across, up, colour))
        for family in dict.fromkeys(entry.family for entry in entries):
            axes.plot([], [], "o", color=hues[family], label=family)
        axes.plot([], [], "X", color="black", label="all raw data in one place")
        axes.plot([], [], "^", color="black", label="differentially private")
        axes.plot([], [], "o", color="black", mfc="white", label="nothing is sent")
        axes.set_xlim(least / 3)
        _number(axes, least)
        axes.set_title(title, loc="left", fontsize=11)
        axes.legend(fontsize=8, loc="upper left", bbox_to_anchor=(1.0, 1.0))
        annotate(axes, labels)
        drawn = path.with_suffix(".drawn.png")
        canvas.savefig(drawn, dpi=150)
    write_smaller(drawn, path)
    drawn.unlink()


def _number(axes: mpl.axes.Axes, least: float) -> None:
    """Number the axes: bytes as people write them, 0 at the left edge, and plain regrets."""
    high = axes.get_xlim()[1]
    decades = [10.0**k for k in range(int(np.ceil(np.log10(least * EDGE / 3))), int(np.log10(high)) + 1)]
    axes.set_xticks([least, *decades], ["0", *map(shown_bytes, decades)])
    axes.xaxis.set_minor_locator(NullLocator())
    axes.yaxis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0)))
    axes.yaxis.set_major_formatter(FuncFormatter(axis_number))
    axes.yaxis.set_minor_locator(NullLocator())
