"""The figure of advice: what settings gain over every site alone, against what they send."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np
from matplotlib.figure import Figure as Canvas
from matplotlib.ticker import FuncFormatter, LogLocator, NullLocator

from fedbandit.advice.advice import Advice
from fedbandit.advice.frontier import Point
from fedbandit.files.amounts import shown_bytes
from fedbandit.results.styles import marker_of
from fedbandit.simulation.drawing import COLOURS, STYLE, write


def draw_frontier(advice: Advice, folder: Path) -> list[Path]:
    """Draw `frontier.png` and `frontier.svg`; return their paths."""
    finalists = [each for each in advice.points if each.bytes and not each.candidate.is_pooled]
    tried = [*finalists, *(each for each in advice.screened if each.bytes and not each.candidate.is_pooled)]
    names = list(dict.fromkeys(each.candidate.name for each in tried))
    with mpl.rc_context(STYLE):
        canvas = Canvas(figsize=(8.6, 4.6), layout="constrained")
        axes = canvas.add_subplot()
        for place, name in enumerate(names):
            style: dict[str, Any] = {
                "color": COLOURS[place % len(COLOURS)],
                "marker": marker_of(place),
                "ls": "",
            }
            others = [each for each in advice.screened if each.candidate.name == name]
            own = [each for each in finalists if each.candidate.name == name]
            axes.plot(*_spots(advice, others), alpha=0.35, ms=4, label="" if own else name, **style)
            if own:
                x, y = _spots(advice, own)
                ends = np.array([[each.gain - each.gain_band[0], each.gain_band[1] - each.gain] for each in own])
                axes.errorbar(x, y, yerr=np.maximum(ends.T, 0), label=name, ms=6, capsize=3, lw=1.2, **style)
        _lines(axes, advice)
        axes.set(xscale="log", xlabel="bytes a day, with idle talk", ylabel="reward gained over every site alone")
        axes.xaxis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0)))
        axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: shown_bytes(value)))
        axes.xaxis.set_minor_locator(NullLocator())
        axes.legend(fontsize=8, loc="upper left", bbox_to_anchor=(1.0, 1.0))  # beside, where it hides nothing
        return write(canvas, folder / "frontier")


def _spots(advice: Advice, some: list[Point]) -> tuple[list[float], list[float]]:
    return [advice.bytes_a_day(each) for each in some], [each.gain for each in some]


def _lines(axes: Any, advice: Advice) -> None:
    """Mark the budget, what alone and what pooled raw data would earn, and the advised setting."""
    axes.axvline(advice.budget, color="#4d4d4d", ls=":", lw=1.2, label=f"budget: {shown_bytes(advice.budget)}")
    axes.axhline(0.0, color="#4d4d4d", lw=1.0)
    axes.annotate("every site alone", (0.01, 0.0), xycoords=("axes fraction", "data"), xytext=(0, 3),
                  textcoords="offset points", fontsize=8, color="#4d4d4d")  # fmt: skip
    pooled = next(each for each in advice.points if each.candidate.is_pooled)
    axes.axhline(pooled.gain, color="#4d4d4d", ls="--", lw=1.0)
    axes.annotate("all raw data in one place", (0.01, pooled.gain), xycoords=("axes fraction", "data"), xytext=(0, 3),
                  textcoords="offset points", fontsize=8, color="#4d4d4d")  # fmt: skip
    if advice.choice.helps:
        spot = advice.bytes_a_day(advice.point), advice.point.gain
        axes.hlines(spot[1], *advice.bytes_a_day_band, color="#4d4d4d", lw=2.0, zorder=3)
        axes.annotate("advised", spot, xytext=(8, -14), textcoords="offset points", fontsize=9, weight="bold")
