"""`fedbandit run`: what it prints and writes."""

import csv
import json

import numpy as np
import pytest

import fedbandit as fb
from fedbandit.simulation.result import Result
from reference.recorded import linear_turns

KEYS = {
    "algorithm", "parameters", "turns", "clients", "regret", "reward", "messages", "scalars", "bytes", "uploads",
    "downloads", "rounds", "seconds",
}  # fmt: skip
SMALL = ("--world", "clients=4", "--world", "arms=3", "--world", "dimension=2", "--world", "pool=10")


def run(fedbandit, *arguments, algorithm="async-linucb"):
    return fedbandit("run", algorithm, *SMALL, "--turns", 40, *arguments)


def test_json_is_the_last_line_and_all_of_standard_output(fedbandit):
    said = run(fedbandit, "--json", "--set", "ridge=0.5", "--seed", "3")
    assert said.code == 0
    summary = json.loads(said.out.splitlines()[-1])
    assert len(said.out.splitlines()) == 1
    assert set(summary) >= KEYS
    world = fb.environment("linear", clients=4, arms=3, dimension=2, pool=10)
    wanted = fb.run("async-linucb", world, turns=40, seed=3, ridge=0.5).summary()
    for name in wanted.keys() - {"seconds"}:
        assert summary[name] == wanted[name], name


def test_json_of_a_recorded_file_without_means_has_no_regret(fedbandit, tmp_path):
    arrays = linear_turns(seed=0, turns=20, clients=2, arms=3, dimension=2)
    del arrays["mean"]
    np.savez(tmp_path / "turns.npz", **arrays)
    said = fedbandit("run", "local-linucb", "--recorded", "turns.npz", "--json")
    summary = json.loads(said.out)
    assert summary["regret"] is None
    assert (summary["turns"], summary["clients"], summary["environment"]) == (20, 2, "recorded")


def test_json_has_no_infinities(fedbandit):
    said = run(fedbandit, "--json", "--set", "upload_threshold=inf")
    assert json.loads(said.out, parse_constant=pytest.fail)["parameters"]["upload_threshold"] == "inf"


def test_json_of_several_seeds_has_their_means_and_each_of_them(fedbandit):
    said = run(fedbandit, "--json", "--seeds", "3", "--seed", "5")
    summary = json.loads(said.out)
    assert set(summary) >= KEYS
    assert summary["seeds"] == [5, 6, 7]
    assert [each["seed"] for each in summary["runs"]] == [5, 6, 7]
    for name in ("regret", "messages"):
        assert summary[name] == pytest.approx(np.mean([each[name] for each in summary["runs"]]))


def test_two_jobs_give_the_numbers_of_one(fedbandit):
    one, two = (json.loads(run(fedbandit, "--json", "--seeds", "3", "--jobs", jobs).out) for jobs in (1, 2))
    assert [each["regret"] for each in one["runs"]] == [each["regret"] for each in two["runs"]]


def test_the_trace_has_exactly_its_columns_and_the_values_of_the_run(fedbandit, tmp_path):
    arrays = linear_turns(seed=0, turns=30, clients=3, arms=3, dimension=2)
    np.savez(tmp_path / "turns.npz", **arrays)
    said = fedbandit("run", "sync-linucb", "--recorded", "turns.npz", "--trace", "trace.csv", "--json")
    summary = json.loads(said.out.splitlines()[-1])
    with (tmp_path / "trace.csv").open(newline="") as file:
        head, *rows = list(csv.reader(file))
    assert head == ["turn", "client", "arm", "reward", "regret", "messages", "scalars", "bytes", "propensity"]
    assert [int(row[1]) for row in rows] == arrays["client"].tolist()
    assert [float(row[3]) for row in rows] == [arrays["reward"][turn, int(row[2])] for turn, row in enumerate(rows)]
    assert sum(float(row[4]) for row in rows) == pytest.approx(summary["regret"])
    assert [int(each) for each in rows[-1][5:8]] == [summary["messages"], summary["scalars"], summary["bytes"]]
    assert {row[8] for row in rows} == {"1.0"}, "nothing is drawn"
    assert "trace: trace.csv" in said.err, "where things were written is said on standard error"


def test_the_result_and_a_figure_can_be_kept(fedbandit, tmp_path):
    said = run(fedbandit, "--save", "result.npz", "--figure", "run.svg", "--json")
    assert said.code == 0
    kept = json.loads(json.dumps(Result.load(tmp_path / "result.npz").summary()))
    assert kept == json.loads(said.out)
    assert (tmp_path / "run.svg").stat().st_size > 1000


def test_without_json_there_is_a_table_for_people(fedbandit):
    said = run(fedbandit, "--seeds", "2")
    assert said.code == 0
    for word in ("async-linucb on linear", "regret", "messages", "mean"):
        assert word in said.out
    assert said.err == ""


def test_parameters_can_be_given_for_each_client(fedbandit):
    said = run(fedbandit, "--json", "--set", "upload_threshold=1.5,2,inf,3")
    assert json.loads(said.out)["parameters"]["upload_threshold"] == [1.5, 2.0, "inf", 3.0]


@pytest.mark.parametrize("algorithm", ["async-linucb", "sync-linucb", "local-linucb", "pooled-linucb"])
def test_every_algorithm_of_the_linear_family_runs(fedbandit, algorithm):
    assert run(fedbandit, algorithm=algorithm).code == 0


def test_what_the_algorithm_warns_of_is_on_standard_error_and_in_the_json(fedbandit):
    arrays = linear_turns(seed=0, turns=40, clients=2, arms=3, dimension=3)
    arrays["arms"][:, :, 2] = 0.0
    np.savez("turns.npz", **arrays)
    said = fedbandit("run", "async-linucb-am", "--recorded", "turns.npz", "--json")
    (warning,) = json.loads(said.out)["warnings"]
    assert warning.startswith("async-linucb-am has not started at 2 of 2 clients")
    assert f"warning: {warning}" in said.err.splitlines()
    assert "warning" not in run(fedbandit).err
