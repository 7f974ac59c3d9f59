"""Tables as files: what is written can be read again, and judged."""

import math

import pytest

from fedbandit.core.errors import InvalidInput
from fedbandit.experiments.experiment import Experiment, Point, Series
from fedbandit.experiments.table import Table
from fedbandit.results.tables import read_runs, read_table, write_runs, write_table
from samples.tables import row

EXPERIMENT = Experiment(
    id="test/tables",
    title="Two points",
    environment="linear",
    series=(Series("A, b", "local-linucb", (Point({"ridge": 2.0}, {"clients": 3}, "γ=1"), Point({}, {}, "other"))),),
)
TABLE = Table(
    (
        row("A, b", "γ=1", {"clients": 3, "ridge": 2.0}, 3, regret=(1 / 3, 2e-17), messages=(5.0, 1e9)),
        row("A, b", "other", {}, 10, regret=(0.1, 0.2), messages=(0.0, 0.0)),
    )
)


def test_runs_come_back_as_they_were(tmp_path):
    write_runs(TABLE, tmp_path / "runs.csv")
    assert read_runs(tmp_path / "runs.csv", EXPERIMENT) == TABLE
    assert read_table(tmp_path / "runs.csv")[:2] == [
        ["series", "point", "clients", "seed", "regret", "messages"],
        ["A, b", "γ=1", "3", "0", repr(1 / 3), "5.0"],
    ]


def test_what_is_not_known_comes_back_unknown(tmp_path):
    write_runs(Table((row("A, b", "other", regret=(math.nan, 1.0)),)), tmp_path / "runs.csv")
    back = read_runs(tmp_path / "runs.csv", EXPERIMENT).rows[0].measured["regret"].values
    assert math.isnan(back[0])
    assert back[1] == 1.0


@pytest.mark.parametrize("line", ["A, c,γ=1,3,0,1.0,2.0", '"A, b",γ=2,3,0,1.0,2.0', '"A, b",γ=1,3,0,1.0'])
def test_runs_of_another_experiment_are_refused(tmp_path, line):
    path = tmp_path / "runs.csv"
    path.write_text("series,point,clients,seed,regret,messages\n" + line + "\n", encoding="utf-8")
    with pytest.raises(InvalidInput, match=r"runs.csv: test/tables has no point .*: make it anew"):
        read_runs(path, EXPERIMENT)


def test_the_table_has_a_column_for_every_setting_that_some_point_has(tmp_path):
    write_table(TABLE, tmp_path / "table.csv")
    head, first, second = read_table(tmp_path / "table.csv")
    assert head[:5] == ["series", "point", "ridge", "clients", "seeds"]
    assert (first[2:5], second[2:5]) == (["2.0", "3", "2"], ["", "10", "2"])
