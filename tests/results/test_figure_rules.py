"""What every figure keeps to: one hue a series, nothing hidden, nothing clipped, published numbers beside ours."""

from __future__ import annotations

import os
import sys
from dataclasses import replace

import numpy as np
import pytest
from matplotlib.colors import to_hex
from matplotlib.figure import Figure as Canvas

import fedbandit as fb
from fedbandit.core.errors import InvalidInput
from fedbandit.experiments.experiment import Experiment, Series, experiments, grid
from fedbandit.experiments.figures import Against, Groups, OverTime, TradeOff
from fedbandit.experiments.panel import Published
from fedbandit.results import curves, dots, groups
from fedbandit.results.labels import Label, annotate
from fedbandit.results.published_points import mark, published_of
from fedbandit.results.record import BY_CLIENT, Record, run_cell
from fedbandit.results.reproduce import tabulate
from fedbandit.results.styles import hues
from fedbandit.simulation.drawing import COLOURS, write
from samples.figures import box_of

EXPERIMENT = Experiment(
    id="test/rules",
    title="The title",
    environment="linear",
    world={"clients": 2, "arms": 3, "dimension": 2, "pool": 10},
    turns=40,
    seeds=2,
    series=(
        Series("Sync", "sync-linucb", grid("D={sync_threshold:g}", sync_threshold=[0.1, 1])),
        Series("Sync again", "sync-linucb", grid("D={sync_threshold:g}", sync_threshold=[0.1, 1])),
        Series("Local", "local-linucb"),
        Series("Random", "random"),
    ),
)
FAKE_TEX = """#!{python}
import re, sys
print("*pgf_backend_query_start\\n*", end="", flush=True)
for line in sys.stdin:
    if "wd0" in line:
        print("\\n10.0pt,5.0pt,1.0pt\\n\\n*", end="", flush=True)
    if "@@end" in line:
        break
"""


@pytest.fixture(scope="module")
def records():
    return {cell.key(): run_cell(cell)[1] for _, _, cell in EXPERIMENT.cells()}


@pytest.fixture
def axes():
    return Canvas().add_subplot()


def lines_of(axes):
    return {line.get_label(): line for line in axes.get_lines()}


def test_an_algorithm_has_its_hue_in_every_experiment_and_no_two_series_share_one():
    places = hues(EXPERIMENT)
    assert (places["Sync"], places["Local"]) == (1, 6)
    assert len(set(places.values())) == len(places)
    for name in experiments:
        found = hues(experiments[name])
        assert len(set(found.values())) == len(found), name
        assert all(place == 0 for label, place in found.items() if label == "Async-LinUCB"), name


def test_points_of_a_series_are_shades_of_one_hue_in_all_figures(records, axes):
    curves.draw_curves(axes, OverTime(series=("Sync", "Local")), EXPERIMENT, records)
    drawn = lines_of(axes)
    one, other = (to_hex(drawn[f"Sync D={threshold}"].get_color()) for threshold in (0.1, 1))
    assert one != other
    assert to_hex(drawn["Local"].get_color()) == COLOURS[6]
    dots.draw_dots(axes, TradeOff(series=("Local",)), EXPERIMENT, tabulate(EXPERIMENT, records))
    assert to_hex(axes.get_lines()[-1].get_color()) == COLOURS[6]


def test_of_lines_that_coincide_the_later_is_dashed_and_its_dots_are_rings(records, axes):
    curves.draw_curves(axes, OverTime(labels=("D=1", "")), EXPERIMENT, records)
    dashed = [label for label, line in lines_of(axes).items() if line.get_linestyle() == "--"]
    assert dashed == ["Sync again D=1"]
    other = Canvas().add_subplot()
    dots.draw_dots(other, Against(x="messages", series=("Sync", "Sync again")), EXPERIMENT,
                   tabulate(EXPERIMENT, records))  # fmt: skip
    below, above = (container.lines[0] for container in other.containers)
    assert (below.get_markerfacecolor(), above.get_markerfacecolor()) == (COLOURS[1], "none")


def test_what_costs_nothing_is_a_line_across_logarithmic_axes_of_any_figure(records, axes):
    table = tabulate(EXPERIMENT, records)
    (local,) = table.of("Local")
    for figure in (TradeOff(series=("Local",)), Against(x="messages", series=("Local",), log_x=True)):
        dots.draw_dots(axes, figure, EXPERIMENT, table)
        line = axes.get_lines()[-1]
        assert list(line.get_ydata()) == [local.mean("regret")] * 2
        assert line.get_label() == "Local"
    dots.draw_dots(axes, Against(x="messages", series=("Local",)), EXPERIMENT, table)
    assert axes.containers[-1].lines[0].get_xdata().tolist() == [0]


PUBLISHED = [
    Published(7.0, "regret", "Sync", "D=1", "table 1", error=0.5, per_client=True),
    Published(30.0, "messages", "Sync", "D=1", "table 1"),
    Published(20.0, "regret", "Local", "", "table 1"),
    Published(3.0, "regret", "Sync", "D=0.1", "table 1"),
]


def diamonds(axes):
    hollow = [line for line in axes.get_lines() if line.get_markerfacecolor() == "white"]
    return [(float(line.get_xdata()[0]), float(line.get_ydata()[0])) for line in hollow if len(line.get_xdata())]


def test_published_numbers_stand_where_they_belong(records, axes, monkeypatch):
    for module in (curves, dots):
        monkeypatch.setattr(module, "published_of", lambda experiment: PUBLISHED)
    assert curves.draw_curves(axes, OverTime(per_client=True), EXPERIMENT, records)
    assert diamonds(axes) == [(40.0, 1.5), (40.0, 7.0), (40.0, 10.0)]
    other = Canvas().add_subplot()
    _, has_published = dots.draw_dots(other, TradeOff(), EXPERIMENT, tabulate(EXPERIMENT, records))
    assert has_published
    assert diamonds(other) == [(30.0, 14.0), (0.0, 20.0)]  # the last at the left edge: it costs nothing
    third = Canvas().add_subplot()
    dots.draw_dots(third, Against(x="sync_threshold", series=("Sync",)), EXPERIMENT, tabulate(EXPERIMENT, records))
    assert diamonds(third) == [(0.1, 3.0), (1.0, 14.0)]


def test_only_full_runs_stand_beside_published_numbers():
    whole = experiments["async-linucb/delicious"]
    assert [each.value for each in published_of(whole)][:3] == [1.6891, 1.8348, 14_230]
    assert published_of(whole.quickened()) == []
    assert published_of(replace(whole, id="mine")) == []


def test_bars_have_errors_and_published_means(axes):
    figure = Groups(width=10, count=2)
    seeds = [
        Record(2, {}, {}, {name: np.array(values) for name, values in zip(BY_CLIENT, each, strict=True)})
        for each in (((5.0, 20.0), (1.0, 4.0), (0.0, 1.0)), ((5.0, 20.0), (3.0, 4.0), (0.0, 1.0)))
    ]
    published = [Published(2.0, "rewards 0-9", "A", "γ=3", ""), Published(8.0, "turns 0-9", "A", "γ=∞", "")]
    groups._bars(axes, figure, {"γ=3": seeds}, published)
    height, error = groups._mean_rewards(seeds, figure)
    expected = np.array([[each.by_client["rewards"] / each.by_client["turns"]] for each in seeds])[:, 0]
    np.testing.assert_allclose(height, expected.mean(axis=0))
    np.testing.assert_allclose(error, expected.std(axis=0, ddof=1) / np.sqrt(2))
    assert diamonds(axes) == [(0.0, 0.25)]


def test_names_of_dots_keep_off_published_numbers_on_a_logarithmic_axis(axes):
    mark(axes, 14_230, (1.8, 0.0), "black")
    axes.set(xscale="log", xlim=(10, 1e6), ylim=(0, 3))
    annotate(axes, [Label("a name", 100.0, 1.0, "black")])
    assert [name.get_text() for name in axes.texts] == ["a name"]


def test_names_of_dots_stay_inside_and_do_not_touch(axes):
    axes.set(xlim=(0, 1), ylim=(0, 1))
    spots = [(1.0, 1.0), (0.99, 0.99), (0.5, 0.5), (0.5, 0.52), (0.0, 0.0)]
    annotate(axes, [Label(f"a long name {place}", *spot, "black") for place, spot in enumerate(spots)])
    boxes = [box_of(name) for name in axes.texts]
    inside = axes.get_window_extent()
    assert len(boxes) == 5
    assert all(inside.x0 <= box.x0 and box.x1 <= inside.x1 and inside.y0 <= box.y0 <= inside.y1 for box in boxes)
    assert not any(one.overlaps(other) for place, one in enumerate(boxes) for other in boxes[:place])


def written(folder, formats):
    folder.mkdir()
    canvas = Canvas(figsize=(2, 1))
    canvas.text(0.5, 0.5, "regret, γ=2")
    return write(canvas, folder / "figure", formats)


def test_figures_are_written_as_pdf_too_the_same_bytes_each_time(tmp_path):
    one, other = (written(tmp_path / name, ("pdf", "png")) for name in ("one", "other"))
    assert [path.suffix for path in one] == [".png", ".svg", ".pdf"]
    assert one[2].read_bytes().startswith(b"%PDF")
    assert [path.read_bytes() for path in one] == [path.read_bytes() for path in other]


def test_an_experiment_has_its_figures_in_the_formats_that_are_asked_for(tmp_path):
    short = replace(EXPERIMENT, seeds=1, series=EXPERIMENT.series[3:], figures=(OverTime(),))
    assert [path.suffix for path in fb.reproduce(short, tmp_path, formats=["pdf"]).figures] == [".png", ".svg", ".pdf"]


@pytest.mark.parametrize(("format_", "said"), [("gif", "unknown format 'gif'"), ("pgf", "needs xelatex or lualatex")])
def test_other_formats_are_refused_before_anything_is_run(tmp_path, monkeypatch, format_, said):
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(InvalidInput, match=said):
        fb.reproduce(EXPERIMENT, tmp_path / "made", formats=(format_,))
    assert not (tmp_path / "made").exists()


def test_figures_are_written_for_latex_where_it_can_measure_letters(tmp_path, monkeypatch):
    tex = tmp_path / "xelatex"
    tex.write_text(FAKE_TEX.format(python=sys.executable))
    tex.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}{os.pathsep}{os.environ['PATH']}")
    text = written(tmp_path / "made", ("pgf",))[2].read_text(encoding="utf-8")
    assert r"\begin{pgfpicture}" in text
    assert "regret, γ=2" in text
