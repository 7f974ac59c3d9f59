"""How figures look, and the one of a run: with matplotlib's objects, without a display, the same on every machine."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from shutil import which
from typing import Any

import matplotlib as mpl
import numpy as np
from matplotlib.figure import Figure as Canvas
from matplotlib.ticker import FuncFormatter

from fedbandit.core.errors import InvalidInput, unknown
from fedbandit.simulation.result import Result

COLOURS = ("#0b6e99", "#d9622b", "#3a8f4d", "#8a4fa3", "#b8860b", "#c2367a", "#4d4d4d", "#1aa6a6", "#7a5230", "#5b6ee1")
LARGE = 10_000  # from here on numbers beside an axis need commas or letters
CROWD = 5  # more curves than this have their legend beside the figure
AXES = {
    "messages": "messages",
    "scalars": "scalars sent",
    "bytes": "bytes sent",
    "rounds": "communication rounds",
    "regret": "cumulative regret",
    "later_regret": "regret without each client's first turn",
    "reward": "cumulative reward",
    "normalised": "reward, over a random policy's",
}
STYLE: dict[Any, Any] = {
    "font.size": 10,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "axes.axisbelow": True,
    "grid.color": "#e6e6e6",
    "grid.linewidth": 0.8,
    "legend.frameon": False,
    "svg.hashsalt": "fedbandit",
    "svg.fonttype": "none",
}


DASHES: tuple[Any, ...] = (  # no gap is longer than two line widths
    "-", "--", ":", "-.", (0, (9, 1.6)), (0, (6.4, 1.6, 1, 1.6, 1, 1.6)), (0, (9, 1.6, 3, 1.6)),
)  # fmt: skip


def line_style(place: int) -> dict[str, Any]:
    """Return colour and dashes of the n-th line of a figure: seventy lines can be told apart.

    >>> line_style(0)["ls"], line_style(10)["ls"], line_style(10)["color"] == line_style(0)["color"]
    ('-', '--', True)
    """
    return {"color": COLOURS[place % len(COLOURS)], "ls": DASHES[place // len(COLOURS) % len(DASHES)]}


def axis_number(value: float, _: object = None) -> str:
    """Return a number as it stands beside an axis.

    >>> [axis_number(each) for each in (0.5, 2000, 500_000, 1e6, 2.5e6, -3e9)]
    ['0.5', '2,000', '500,000', '1 M', '2.5 M', '-3 G']
    """
    for size, letter in ((1e9, "G"), (1e6, "M")):
        if abs(value) >= size:
            return f"{value / size:,g} {letter}"
    return f"{value:,g}"


def number_axes(axes: Any) -> None:
    """Write large numbers out beside linear axes, in place of a power of ten at the end."""
    for axis, scale in ((axes.xaxis, axes.get_xscale()), (axes.yaxis, axes.get_yscale())):
        if scale == "linear" and max(abs(end) for end in axis.get_view_interval()) >= LARGE:
            axis.set_major_formatter(FuncFormatter(axis_number))


def plot_run(results: Sequence[Result], path: str | Path | None = None) -> Canvas:
    """Draw regret (reward, where regret is not known) and messages of runs over their turns."""
    with mpl.rc_context(STYLE):
        canvas = Canvas(figsize=(9.5, 3.8), layout="constrained")
        left, right = canvas.subplots(1, 2)
        name = "reward" if np.isnan(results[0].regret[-1]) else "regret"
        for place, result in enumerate(results):
            at = np.unique(np.linspace(0, result.turns - 1, min(result.turns, 1000)).astype(np.int64))
            repeated = sum(other.algorithm == result.algorithm for other in results) > 1
            label = result.algorithm + (f", seed {result.seed}" if repeated else "")
            left.plot(at + 1, getattr(result, name)[at], label=label, **line_style(place))
            right.plot(at + 1, result.messages[at], label=label, **line_style(place))
        left.set_ylabel(AXES[name])
        right.set_ylabel("messages")
        for axes in (left, right):
            axes.set_xlabel("turns")
            number_axes(axes)
        if len(results) > CROWD:
            right.legend(fontsize=8, loc="upper left", bbox_to_anchor=(1.0, 1.0))  # beside, where it hides nothing
        else:
            left.legend(fontsize=8)
            right.legend(fontsize=8)
        if path is not None:
            canvas.savefig(path, dpi=150)
        return canvas


ALWAYS, FURTHER = ("png", "svg"), ("pdf", "pgf")  # the formats of figures: for screens, and for papers
TEX = ("xelatex", "lualatex")  # the programs that can measure Greek letters for PGF


def check_formats(formats: Sequence[str]) -> None:
    """Refuse further formats that are not known, and PGF where no LaTeX measures its letters."""
    for each in formats:
        if each not in (*ALWAYS, *FURTHER):
            raise unknown("format", each, (*ALWAYS, *FURTHER))
        if each == "pgf" and _tex() is None:
            raise InvalidInput(
                f"format pgf needs {' or '.join(TEX)}, and neither is installed: install TeX Live, or choose pdf"
            )


def _tex() -> str | None:
    return next((program for program in TEX if which(program)), None)


def write(canvas: Canvas, stem: Path, formats: Sequence[str] = ()) -> list[Path]:
    """Write a canvas as PNG and SVG, and in further formats, the same bytes each time."""
    paths = [stem.with_suffix(f".{each}") for each in dict.fromkeys([*ALWAYS, *formats])]
    for path in paths:
        dated = {".svg": "Date", ".pdf": "CreationDate"}.get(path.suffix)
        options: dict[str, Any] = {"metadata": {dated: None}} if dated else {}
        with mpl.rc_context({"pgf.texsystem": _tex() or TEX[0]}):
            canvas.savefig(path, dpi=150, **options)
    return paths
