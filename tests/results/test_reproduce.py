"""Reproducing an experiment: every cell once, the same numbers for any number of jobs, and everything on paper."""

import csv
from dataclasses import replace

import numpy as np
import pytest

import fedbandit as fb
from fedbandit.core.errors import InvalidInput
from fedbandit.experiments.claims import Ordered
from fedbandit.experiments.experiment import Experiment, Series, grid
from fedbandit.experiments.figures import Against, OverTime, TradeOff
from fedbandit.results import record as record_module
from fedbandit.results.record import Record

EXPERIMENT = Experiment(
    id="test/reproduce",
    title="Three thresholds",
    environment="linear",
    world={"clients": 4, "arms": 3, "dimension": 2, "pool": 10},
    turns=80,
    seeds=2,
    series=(
        Series("Async", "async-linucb", grid("γ={upload_threshold:g}", upload_threshold=[1.2, 2, 5])),
        Series("Local", "local-linucb"),
    ),
    figures=(TradeOff(), OverTime(), Against(x="upload_threshold", series=("Async",))),
    claims=(Ordered("Sharing helps", ("Async", "Local")),),
    notes="A note.",
)


BARE = replace(EXPERIMENT, figures=())  # drawing takes longer than all the runs


@pytest.fixture
def runs(monkeypatch):
    """The seeds of the runs that are really made."""
    made = []
    real = record_module.run

    def counted(algorithm, *arguments, **named):
        made.append((algorithm.id, named["seed"]))
        return real(algorithm, *arguments, **named)

    monkeypatch.setattr(record_module, "run", counted)
    return made


def numbers(table):
    """Everything measured but the seconds."""
    timed = ("seconds", "processor_seconds")
    return [
        (row.series, row.point, row.clients, {name: each for name, each in row.measured.items() if name not in timed})
        for row in table.rows
    ]


@pytest.fixture(scope="module")
def once(tmp_path_factory):
    return fb.reproduce(EXPERIMENT, tmp_path_factory.mktemp("once"))


def test_everything_is_written(once):
    names = {path.relative_to(once.folder).as_posix() for path in once.folder.rglob("*") if path.is_file()}
    figures = {f"{stem}.{ending}" for stem in ("trade-off", "over-time", "against") for ending in ("png", "svg")}
    cells = {f"cells/{cell.key()}.npz" for _, _, cell in EXPERIMENT.cells()}
    assert names == {"table.csv", "runs.csv", "table.tex", "provenance.json", "report.html", *figures, *cells}
    assert all(path.stat().st_size for path in once.folder.rglob("*"))
    assert {path.name for path in once.figures} == figures
    assert once.report.name == "report.html"


def test_the_table_has_means_and_deviations_over_the_seeds(once):
    row = once.table.rows[1]
    assert (row.series, row.point, row.clients, dict(row.settings)) == ("Async", "γ=2", 4, {"upload_threshold": 2})
    world = fb.environment("linear", **EXPERIMENT.world)
    regrets = [fb.run("async-linucb", world, turns=80, seed=seed, upload_threshold=2).regret[-1] for seed in (0, 1)]
    assert row.measured["regret"].mean == pytest.approx(np.mean(regrets))
    assert row.measured["regret"].deviation == pytest.approx(np.std(regrets, ddof=1))
    assert row.measured["regret"].seeds == 2


def test_the_file_of_the_table_says_the_same(once):
    with (once.folder / "table.csv").open(newline="", encoding="utf-8") as file:
        found = list(csv.DictReader(file))
    assert [(row["series"], row["point"]) for row in found] == [
        ("Async", "γ=1.2"), ("Async", "γ=2"), ("Async", "γ=5"), ("Local", ""),
    ]  # fmt: skip
    assert [row["upload_threshold"] for row in found] == ["1.2", "2", "5", ""]
    for written, row in zip(found, once.table.rows, strict=True):
        assert (written["clients"], written["seeds"]) == ("4", "2")
        for name, value in row.measured.items():
            assert float(written[name]) == value.mean
            assert float(written[f"{name}_deviation"]) == value.deviation


def test_the_claims_are_judged(once):
    ((sentence, verdict),) = once.verdicts
    assert (sentence, verdict.answer) == ("Sharing helps", "level"), "two seeds leave it open"


def test_finished_cells_are_not_run_again(tmp_path, runs):
    first = fb.reproduce(BARE, tmp_path)
    assert (first.cells_run, first.cells_kept) == (8, 0)
    assert len(runs) == 8
    second = fb.reproduce(BARE, tmp_path)
    assert (second.cells_run, second.cells_kept) == (0, 8)
    assert len(runs) == 8
    assert second.table == first.table, "even the seconds are those that were kept"


def test_only_what_is_missing_is_run(tmp_path, runs):
    fb.reproduce(replace(BARE, seeds=1), tmp_path)
    del runs[:]
    more = fb.reproduce(BARE, tmp_path)
    assert (more.cells_run, more.cells_kept) == (4, 4)
    assert {seed for _, seed in runs} == {1}


def test_a_damaged_cell_is_run_again(tmp_path, runs):
    first = fb.reproduce(BARE, tmp_path)
    cells = sorted((tmp_path / "cells").iterdir())
    cells[0].write_bytes(b"damaged")
    cells[1].write_bytes(cells[1].read_bytes()[:100])
    cells[2].write_bytes(b"")
    del runs[:]
    second = fb.reproduce(BARE, tmp_path)
    assert (second.cells_run, second.cells_kept) == (3, 5)
    assert len(runs) == 3
    assert numbers(second.table) == numbers(first.table)
    assert all(Record.load(path) is not None for path in cells)


def test_a_run_that_was_stopped_goes_on_where_it_was(tmp_path, monkeypatch, runs):
    real = record_module.run

    def stops(algorithm, *arguments, **named):
        if len(runs) == 3:
            raise KeyboardInterrupt
        return real(algorithm, *arguments, **named)

    with monkeypatch.context() as patch:
        patch.setattr(record_module, "run", stops)
        with pytest.raises(KeyboardInterrupt):
            fb.reproduce(BARE, tmp_path)
    assert not (tmp_path / "table.csv").exists()
    found = fb.reproduce(BARE, tmp_path)
    assert (found.cells_run, found.cells_kept) == (5, 3)


def test_the_numbers_are_the_same_for_one_job_and_for_two(once, tmp_path):
    two = fb.reproduce(BARE, tmp_path, jobs=2)
    assert numbers(two.table) == numbers(once.table)
    assert two.verdicts == once.verdicts


def test_a_run_that_two_series_share_is_made_once(tmp_path, runs):
    twice = replace(BARE, series=(*BARE.series, Series("Again", "local-linucb")), seeds=1)
    found = fb.reproduce(twice, tmp_path)
    assert found.cells_run == 4
    assert [row.measured["regret"] for row in found.table.of("Again")] == [
        row.measured["regret"] for row in found.table.of("Local")
    ]


def test_progress_is_told_from_what_is_kept_to_all(tmp_path):
    told = []
    fb.reproduce(BARE, tmp_path, progress=lambda *how: told.append(how))
    assert told == [(done, 8) for done in range(9)]
    del told[:]
    fb.reproduce(BARE, tmp_path, progress=lambda *how: told.append(how))
    assert told == [(8, 8)]


def test_one_seed_has_no_deviation(tmp_path):
    found = fb.reproduce(replace(BARE, seeds=1), tmp_path)
    assert {row.measured["regret"].deviation for row in found.table.rows} == {0.0}


def test_an_experiment_that_cannot_be_run_leaves_nothing(tmp_path):
    bad = replace(BARE, world={"clients": 0})
    with pytest.raises(InvalidInput, match="clients must be at least 1"):
        fb.reproduce(bad, tmp_path / "results")
    assert list(tmp_path.iterdir()) == []
