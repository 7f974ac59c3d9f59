"""Figures are drawn without a display, the same every time, and for whatever was measured."""

import re
from dataclasses import replace

import numpy as np
import pytest

import fedbandit as fb
from fedbandit.experiments.experiment import Experiment, Series, grid
from fedbandit.experiments.figures import Against, OverTime, TradeOff
from fedbandit.results.plots import draw
from fedbandit.results.record import run_cell
from fedbandit.results.reproduce import tabulate
from fedbandit.simulation.drawing import plot_run
from reference.recorded import linear_turns

EXPERIMENT = Experiment(
    id="test/plots",
    title="The title",
    environment="linear",
    world={"clients": 3, "arms": 3, "dimension": 2, "pool": 10},
    turns=60,
    seeds=2,
    series=(
        Series("Async", "async-linucb", grid("γ={upload_threshold:g}", upload_threshold=[1.2, 2])),
        Series("Local", "local-linucb"),
    ),
)


@pytest.fixture(scope="module")
def records():
    return {cell.key(): run_cell(cell)[1] for _, _, cell in EXPERIMENT.cells()}


FIGURES = {
    "trade-off": TradeOff(),
    "trade-off in bytes": TradeOff(x="bytes", y="later_regret", name="bytes"),
    "trade-off of one series": TradeOff(series=("Async",), log_y=True),
    "trade-off of the silent": TradeOff(series=("Local",)),
    "over time": OverTime(),
    "over rounds, per client": OverTime(by_round=True, per_client=True, spread="standard deviation", band=2),
    "over time of some": OverTime(labels=("γ=2",), y="messages"),
    "over time of none": OverTime(labels=("γ=9",)),
    "against a parameter": Against(x="upload_threshold", series=("Async",), log_x=True),
    "against a quantity": Against(x="rounds", per_client=True),
}


def drawn(figure, records, folder):
    folder.mkdir(exist_ok=True)
    return draw(figure, EXPERIMENT, tabulate(EXPERIMENT, records), records, folder)


@pytest.mark.parametrize("case", FIGURES)
def test_a_figure_is_a_png_and_an_svg(records, tmp_path, case):
    png, svg = drawn(FIGURES[case], records, tmp_path)
    assert (png.name, svg.name) == (f"{FIGURES[case].file_name}.png", f"{FIGURES[case].file_name}.svg")
    assert png.read_bytes().startswith(b"\x89PNG")
    text = svg.read_text(encoding="utf-8")
    assert "<svg" in text
    assert "The title" in text


@pytest.mark.parametrize("case", ["trade-off", "over time"])
def test_the_same_numbers_give_the_same_bytes(records, tmp_path, case):
    one, other = (drawn(FIGURES[case], records, tmp_path / name)[1].read_bytes() for name in ("one", "other"))
    assert one == other


def test_a_figure_names_its_axes_its_series_and_its_points(records, tmp_path):
    text = drawn(TradeOff(title="Mine"), records, tmp_path)[1].read_text(encoding="utf-8")
    for word in ("Mine", "messages", "cumulative regret", "Async", "Local", "γ=1.2"):
        assert word in text
    assert "The title" not in text


def test_a_figure_of_one_series_leaves_the_others_out(records, tmp_path):
    text = drawn(TradeOff(series=("Local",)), records, tmp_path)[1].read_text(encoding="utf-8")
    assert "Async" not in text


def test_a_world_without_means_can_be_drawn(tmp_path):
    path = tmp_path / "turns.npz"
    arrays = linear_turns(seed=0, turns=30, clients=2, arms=3, dimension=2)
    np.savez(path, **{name: array for name, array in arrays.items() if name != "mean"})
    blind = replace(EXPERIMENT, environment="recorded", world={"path": str(path)}, turns=None)
    found = fb.reproduce(
        replace(blind, figures=(TradeOff(y="reward"), OverTime(), OverTime(y="reward", name="r"))), tmp_path
    )
    assert all(figure.stat().st_size for figure in found.figures)


@pytest.mark.parametrize("ending", ["png", "svg", "pdf"])
def test_a_run_can_be_drawn_to_a_file(tmp_path, ending):
    result = fb.run("async-linucb", fb.environment("linear", clients=3, dimension=2), turns=30)
    result.plot(tmp_path / f"run.{ending}")
    assert (tmp_path / f"run.{ending}").stat().st_size > 1000


def test_runs_are_told_apart_by_algorithm_and_seed(tmp_path):
    world = fb.environment("linear", clients=3, dimension=2)
    runs = [
        fb.run(name, world, turns=20, seed=seed)
        for name, seed in (("async-linucb", 0), ("async-linucb", 1), ("local-linucb", 0))
    ]
    left, right = plot_run(runs).axes
    labels = [text.get_text() for text in left.get_legend().get_texts()]
    assert labels == ["async-linucb, seed 0", "async-linucb, seed 1", "local-linucb"]
    assert left.get_ylabel() == "cumulative regret"
    assert right.get_ylabel() == "messages"
    np.testing.assert_array_equal(left.get_lines()[0].get_ydata(), runs[0].regret)


def test_a_run_without_known_regret_is_drawn_by_its_reward(tmp_path):
    path = tmp_path / "turns.npz"
    arrays = linear_turns(seed=0, turns=30, clients=2, arms=3, dimension=2)
    np.savez(path, **{name: array for name, array in arrays.items() if name != "mean"})
    left, _ = fb.run("local-linucb", fb.environment("recorded", path=str(path))).plot().axes
    assert left.get_ylabel() == "cumulative reward"


@pytest.mark.parametrize("figure", [TradeOff(x="bytes"), OverTime(y="bytes"), Against(x="bytes", y="scalars")])
def test_large_numbers_are_written_out_beside_the_axes(records, tmp_path, figure):
    large = {
        key: replace(
            each,
            totals={name: 1e4 * value for name, value in each.totals.items()},
            curves={name: 1e4 * curve for name, curve in each.curves.items()},
        )
        for key, each in records.items()
    }
    text = drawn(figure, large, tmp_path)[1].read_text(encoding="utf-8")
    assert re.search(r">[\d.,]+ M<", text)
    assert not re.search(r">1?e\+?\d+<|>[−\d.]*1e", text)
