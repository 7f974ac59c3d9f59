"""All experiments of the papers: each once, with a forecast of time, and the verdicts of their panels."""

from __future__ import annotations

from dataclasses import replace

import pytest

import fedbandit as fb
from fedbandit.core.errors import InvalidInput
from fedbandit.experiments.experiment import Cell, experiments
from fedbandit.experiments.panel import panels
from fedbandit.results.everything import (
    NOT_RUN,
    Forecast,
    answers,
    experiments_of,
    folder_of,
    learn_from,
    panels_of,
    planned,
    write_answers,
    write_times,
)
from fedbandit.results.tables import read_table
from samples.small_experiment import SMALL


def test_every_experiment_behind_a_panel_is_run_once():
    chosen = experiments_of(panels_of(None))
    assert len(panels_of(None)) == len(list(panels))
    assert [each.id for each in chosen] == list(dict.fromkeys(panels[name].experiment for name in panels))
    assert {each.id.partition("/")[0] for each in experiments_of(panels_of("fldb"))} == {"fldb"}
    with pytest.raises(InvalidInput, match="unknown paper 'fldbb': did you mean 'fldb'"):
        panels_of("fldbb")


def test_quick_results_are_kept_apart(tmp_path):
    assert folder_of(SMALL, tmp_path) == tmp_path / "test" / "small"
    assert folder_of(SMALL.quickened(), tmp_path) == tmp_path / "test" / "small" / "quick"


def cell(algorithm="async-linucb", environment="linear", turns=100, **world):
    return Cell(environment, world, algorithm, {}, turns, seed=0)


def test_a_forecast_goes_by_the_runs_that_are_most_alike():
    forecast = Forecast()
    assert forecast.seconds([]) == 0.0
    assert forecast.seconds([cell()]) is None
    forecast.add(cell("sync-linucb"), 50.0)
    assert forecast.seconds([cell(turns=10)]) == pytest.approx(5.0)  # nothing else is known
    assert forecast.guessed([cell(), cell("sync-linucb")]) == 1
    forecast.add(cell(environment="logistic"), 4.0)
    assert forecast.seconds([cell(turns=10)]) == pytest.approx(0.4)  # of the same algorithm
    forecast.add(cell(clients=5), 2.0)
    assert forecast.seconds([cell(turns=10)]) == pytest.approx(0.2)  # in the same environment
    forecast.add(cell(clients=6), 1.0)
    assert forecast.seconds([cell(turns=10, clients=6)]) == pytest.approx(0.1)  # in the same world
    assert forecast.seconds([cell(turns=10), cell(turns=10, clients=6)]) == pytest.approx(0.15 + 0.1)


def test_what_is_kept_is_not_planned_again_and_tells_how_long_the_rest_may_take(tmp_path):
    forecast = Forecast()
    plan = planned(SMALL, tmp_path, forecast)
    assert (len(plan.missing), plan.kept) == (12, 0)
    assert forecast.seconds(plan.missing) is None
    fb.reproduce(replace(SMALL, seeds=2), plan.folder)
    again = planned(SMALL, tmp_path, forecast)
    assert (len(again.missing), again.kept) == (4, 8)
    assert {each.seed for each in again.missing} == {2}
    assert forecast.seconds(again.missing) > 0
    before = dict(forecast.known)
    found = fb.reproduce(SMALL, plan.folder)
    learn_from(forecast, again, found)
    assert forecast.known[()][0] == before[()][0] + 4 * 50
    whole = sum(one for row in found.table.rows for one in row.measured["seconds"].values)
    assert forecast.known[()][1] == pytest.approx(whole)
    write_times([found], tmp_path / "times.csv")
    assert read_table(tmp_path / "times.csv") == [
        ["experiment", "runs", "seconds"],
        ["test/small", "12", str(round(whole, 2))],
    ]


def test_quick_runs_tell_how_long_full_ones_may_take(tmp_path):
    forecast = Forecast()
    fb.reproduce(SMALL.quickened(), folder_of(SMALL.quickened(), tmp_path))
    plan = planned(SMALL, tmp_path, forecast)
    assert (len(plan.missing), plan.kept) == (12, 0)
    assert forecast.seconds(plan.missing) > 0


def test_panels_whose_experiment_was_not_run_say_so(tmp_path):
    chosen = panels_of("fldb")
    lines = answers(chosen, {})
    assert {line[0] for line in lines} == {panel.id for panel in chosen}
    assert {line[-1] for line in lines} == {NOT_RUN}
    for _, experiment, _, sentence, _ in lines:
        assert sentence in {claim.sentence for claim in experiments[experiment].claims}
    write_answers(lines, tmp_path / "verdicts.csv")
    assert len(read_table(tmp_path / "verdicts.csv")) == 1 + len(lines)
