"""How the figures of experiments are drawn."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import matplotlib as mpl
from matplotlib.figure import Figure as Canvas
from matplotlib.ticker import FuncFormatter, LogLocator, NullLocator

from fedbandit.experiments.experiment import Experiment
from fedbandit.experiments.figures import Against, Figure, Groups, OverTime, TradeOff
from fedbandit.experiments.table import Table
from fedbandit.results.curves import draw_curves
from fedbandit.results.dots import draw_dots
from fedbandit.results.labels import Label, annotate
from fedbandit.results.published_points import explain
from fedbandit.results.record import Record
from fedbandit.simulation.drawing import AXES, COLOURS, CROWD, STYLE, axis_number, number_axes, write

SIZE = (7.2, 4.6)  # inches
ROWS = 25  # names of lines that fit beneath each other


def draw(
    figure: Figure,
    experiment: Experiment,
    table: Table,
    records: Mapping[str, Record],
    folder: Path,
    formats: Sequence[str] = (),
) -> list[Path]:
    """Draw one figure of an experiment; return the files that were written: PNG, SVG, other formats, groups' table."""
    if isinstance(figure, Groups):
        from fedbandit.results.groups import draw_groups

        return draw_groups(figure, experiment, records, folder, formats)
    with mpl.rc_context(STYLE):
        canvas = Canvas(figsize=SIZE, layout="constrained")
        axes = canvas.add_subplot()
        labels: list[Label] = []
        if isinstance(figure, OverTime):
            has_published = draw_curves(axes, figure, experiment, records)
        elif isinstance(figure, TradeOff | Against):
            labels, has_published = draw_dots(axes, figure, experiment, table)
        _scale(axes, figure)
        if has_published:
            explain(axes)
        axes.set_title(figure.title or experiment.title, loc="left", fontsize=11)
        axes.set_ylabel(_y_label(figure))
        _explain_lines(canvas, axes)
        annotate(axes, labels)  # last, when all that takes room is there
        return write(canvas, folder / figure.file_name, formats)


def _explain_lines(canvas: Canvas, axes: Any) -> None:
    """Write the legend: beside the axes if there are many lines, where it hides nothing, and the canvas has room."""
    names = len(axes.get_legend_handles_labels()[1])
    if names <= CROWD:
        if names:
            axes.legend(fontsize=8)
        return
    columns = -(-names // ROWS)
    long = {"handlelength": 3.5} if names > len(COLOURS) else {}  # to see dashes by
    legend = axes.legend(fontsize=8, loc="upper left", bbox_to_anchor=(1.0, 1.0), ncols=columns, **long)
    if columns > 1:
        canvas.set_size_inches(SIZE[0] + legend.get_window_extent().width / canvas.dpi, SIZE[1])


def _y_label(figure: Figure) -> str:
    if isinstance(figure, OverTime) and figure.rate:
        return f"{figure.y} per turn, so far"
    return AXES.get(figure.y, figure.y) + (" per client" if figure.per_client else "")


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
