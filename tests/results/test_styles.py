"""Lines of a figure can be told apart: no two have the same colour and dashes, however many there are."""

from __future__ import annotations

from types import SimpleNamespace

import matplotlib as mpl
import numpy as np
import pytest
from matplotlib.colors import to_hex
from matplotlib.figure import Figure as Canvas

from fedbandit.experiments.experiment import Experiment, Series, grid
from fedbandit.experiments.figures import Against, OverTime, TradeOff
from fedbandit.experiments.table import CURVES, QUANTITIES
from fedbandit.results import plots
from fedbandit.results.record import Record
from fedbandit.results.reproduce import tabulate
from fedbandit.results.styles import LOOSE, Looks, shades
from fedbandit.simulation.drawing import DASHES

ALGORITHMS = ("async-linucb", "sync-linucb", "lean-linucb", "fedlinucb", "clustered-linucb", "local-linucb",
              "pooled-linucb")  # fmt: skip


def experiment_of(series, points):
    """Have `series` series of as many points each, of which neighbours share their algorithm."""
    ridges = grid("ridge={ridge:g}", ridge=range(1, points + 1)) if points > 1 else grid("", ridge=[1])
    each = tuple(Series(f"series {k}", ALGORITHMS[k // 2 % len(ALGORITHMS)], ridges) for k in range(series))
    return Experiment(id="test/styles", title="", environment="linear", turns=9, seeds=1, series=each)


def records_of(experiment, apart):
    """Make up records whose curves lie apart, or all upon each other; every fifth sends nothing."""
    turns, records = np.arange(1.0, 10.0), {}
    for k, (_, _, cell) in enumerate(experiment.cells()):
        curves = dict.fromkeys(CURVES, turns * (1 + apart * k)) | {"turn": turns}
        curves["messages"] = curves["messages"] * (k % 5 > 0)
        totals = dict.fromkeys(QUANTITIES, 1.0) | {name: float(curves[name][-1]) for name in CURVES}
        records[cell.key()] = Record(2, totals, curves)
    return records


def legend_of(figure, series, points, apart, tmp_path, monkeypatch):
    """Draw a figure; return the canvas, and colour and dashes of each line of its legend."""
    canvases = []
    monkeypatch.setattr(plots, "write", lambda canvas, *_: canvases.append(canvas) or [])
    experiment = experiment_of(series, points)
    records = records_of(experiment, apart)
    plots.draw(figure, experiment, tabulate(experiment, records), records, tmp_path)
    (axes,) = canvases[0].axes
    handles = axes.get_legend_handles_labels()[0]
    lines = [getattr(handle, "lines", [handle])[0] for handle in handles]
    looks = [(to_hex(line.get_color()), str(line._unscaled_dash_pattern)) for line in lines]
    return SimpleNamespace(canvas=canvases[0], axes=axes, lines=lines, looks=looks)


@pytest.mark.parametrize("apart", [1, 0], ids=["apart", "upon each other"])
@pytest.mark.parametrize(("series", "points"), [(1, 16), (14, 1), (14, 5), (25, 1)])
@pytest.mark.parametrize("figure", [OverTime(), TradeOff(), Against(x="bytes")], ids=lambda each: each.kind)
def test_no_two_lines_of_a_legend_have_the_same_colour_and_dashes(figure, series, points, apart, tmp_path, monkeypatch):
    drawn = legend_of(figure, series, points, apart, tmp_path, monkeypatch)
    assert drawn.looks
    assert len(set(drawn.looks)) == len(drawn.looks)


def test_lines_next_to_each_other_of_many_points_differ_in_dashes_and_markers(tmp_path, monkeypatch):
    drawn = legend_of(OverTime(), 1, 16, 1, tmp_path, monkeypatch)
    for one, other in zip(drawn.lines, drawn.lines[1:], strict=False):
        assert one._unscaled_dash_pattern != other._unscaled_dash_pattern
        assert one.get_marker() != other.get_marker()
    few = legend_of(OverTime(), 1, 5, 1, tmp_path, monkeypatch)
    assert {line.get_marker() for line in few.lines} == {"None"}
    assert {line.get_linestyle() for line in few.lines} == {"-"}


def test_the_names_of_seventy_lines_are_all_on_the_canvas(tmp_path, monkeypatch):
    drawn = legend_of(OverTime(), 14, 5, 1, tmp_path, monkeypatch)
    drawn.canvas.draw_without_rendering()
    inside, legend = drawn.canvas.bbox, drawn.axes.get_legend().get_window_extent()
    assert len(drawn.lines) == 70
    assert inside.x0 <= legend.x0
    assert legend.x1 <= inside.x1
    assert inside.y0 <= legend.y0
    assert legend.y1 <= inside.y1
    assert drawn.axes.get_window_extent().width > inside.width / 4


def test_series_of_one_dot_each_differ_in_colour_or_marker(tmp_path, monkeypatch):
    drawn = legend_of(Against(x="bytes"), 25, 1, 1, tmp_path, monkeypatch)
    seen = [(to_hex(line.get_color()), line.get_marker()) for line in drawn.lines]
    assert len(set(seen)) == 25


def gaps(dashes):
    (line,) = Canvas().add_subplot().plot([0, 1], ls=dashes)
    return (line._unscaled_dash_pattern[1] or [0, 0])[1::2]


def test_of_lines_upon_each_other_all_but_the_first_have_wide_gaps(tmp_path, monkeypatch):
    drawn = legend_of(OverTime(), 14, 1, 0, tmp_path, monkeypatch)
    first, *others = (line._unscaled_dash_pattern for line in drawn.lines)
    assert first == (0, None)
    assert set(others) <= set(LOOSE)


def test_what_lies_below_is_seen_through_gaps_as_no_other_dashes_have():
    with mpl.rc_context():
        widest = max(gap for each in DASHES for gap in gaps(each))
        assert all(gap >= 2 * widest for each in LOOSE for gap in gaps(each))
    assert len(set(LOOSE)) == len(LOOSE) == len(DASHES)


def test_a_colour_whose_dashes_are_all_taken_becomes_greyer_and_lines_without_end_do_not_fail():
    looks = Looks()
    (style,) = shades(0, 1)
    found = [tuple(looks.own(style).values()) for _ in range(200)]
    assert found[0] == (style["color"], "-")
    assert len(set(found[:90])) == 90
