"""The result of a run: sums, summary, trace and saved file, each compared with the world that was played."""

import csv
import json
import math
from dataclasses import replace

import numpy as np
import pytest

import fedbandit as fb
from fedbandit.core.errors import InvalidInput
from fedbandit.simulation.result import Result
from fedbandit.simulation.trace import Trace
from reference.recorded import linear_turns
from samples.worlds import recorded

WORLD = linear_turns(seed=1, turns=60, clients=4, arms=3, dimension=2)
KEYS = (
    "algorithm", "parameters", "turns", "clients", "regret", "reward", "messages", "scalars", "bytes", "uploads",
    "downloads", "rounds", "seconds",
)  # fmt: skip


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("result")


@pytest.fixture(scope="module")
def result(folder):
    return fb.run("async-linucb", recorded(folder, WORLD), upload_threshold=1.3, download_threshold=[2, 3, np.inf, 1])


@pytest.fixture(scope="module")
def blind(folder):
    """A run on a file that does not know its means."""
    arrays = {name: array for name, array in WORLD.items() if name != "mean"}
    return fb.run("local-linucb", recorded(folder, arrays, "blind.npz"))


@pytest.fixture
def duel():
    """A run of duels, as an engine leaves it."""
    trace = Trace.empty(3)
    trace.client[:] = [1, 0, 1]
    trace.choice = np.array([[0, 1], [2, 2], [1, 0]])
    trace.reward[:] = np.nan
    trace.regret[:] = [0.1, 0.0, 0.25]
    trace.propensity[:] = [1.0, 1.0, np.nan]
    trace.messages[:], trace.scalars[:], trace.bytes[:] = [0, 2, 0], [0, 6, 0], [0, 90, 0]
    about = {"algorithm": "x", "parameters": {}, "environment": "y", "world": {}, "seed": 0, "clients": 2}
    return Result.of(trace, 0.5, **about)


def test_regret_and_reward_are_sums_of_what_the_choices_earned(result):
    turn = np.arange(60)
    earned = WORLD["reward"][turn, result.choice]
    missed = WORLD["mean"].max(axis=1) - WORLD["mean"][turn, result.choice]
    np.testing.assert_array_equal(result.turn_reward, earned)
    np.testing.assert_array_equal(result.turn_regret, missed)
    np.testing.assert_array_equal(result.reward, np.cumsum(earned))
    np.testing.assert_array_equal(result.regret, np.cumsum(missed))


def test_communication_only_grows_and_ends_at_the_totals(result):
    summary = result.summary()
    for name in ("messages", "scalars", "bytes"):
        assert (np.diff(getattr(result, name)) >= 0).all()
        assert summary[name] == getattr(result, name)[-1] > 0
    assert summary["messages"] == summary["uploads"] + summary["downloads"]
    assert summary["scalars"] == summary["messages"] * (2 * 2 + 2)
    assert summary["rounds"] == (np.diff(result.messages, prepend=0) > 0).sum()


def test_the_summary_has_every_key_and_goes_through_json(result):
    summary = json.loads(json.dumps(result.summary(), allow_nan=False))
    assert set(KEYS) <= set(summary)
    assert summary["algorithm"] == "async-linucb"
    assert summary["parameters"]["download_threshold"] == [2.0, 3.0, "inf", 1.0]
    assert summary["parameters"]["alpha"] is None
    assert (summary["turns"], summary["clients"]) == (60, 4)
    assert summary["regret"] == pytest.approx(result.turn_regret.sum())
    assert summary["reward"] == pytest.approx(result.turn_reward.sum())
    assert summary["seconds"] >= 0


def test_the_parameters_of_the_summary_give_the_same_algorithm_again(result):
    again = fb.algorithm("async-linucb", **json.loads(json.dumps(result.summary()["parameters"])))
    assert again.values() == result.parameters


def test_what_the_world_does_not_know_is_none(blind, duel):
    assert blind.summary()["regret"] is None
    assert blind.summary()["reward"] == pytest.approx(blind.turn_reward.sum())
    assert duel.summary()["reward"] is None
    assert duel.summary()["regret"] == pytest.approx(0.35)


def rows(result, path):
    result.write_trace(path)
    with path.open(newline="") as file:
        return list(csv.reader(file))


def test_the_trace_has_one_row_a_turn_with_exact_values(result, tmp_path):
    head, *body = rows(result, tmp_path / "trace.csv")
    assert head == ["turn", "client", "arm", "reward", "regret", "messages", "scalars", "bytes", "propensity"]
    assert len(body) == 60
    for turn, row in enumerate(body):
        arm = int(row[2])
        assert row[:2] == [str(turn), str(WORLD["client"][turn])]
        assert float(row[3]) == WORLD["reward"][turn, arm], "to the last digit"
        assert float(row[4]) == WORLD["mean"][turn].max() - WORLD["mean"][turn, arm]
        assert row[8] == "1.0"
        assert [int(each) for each in row[5:8]] == [result.messages[turn], result.scalars[turn], result.bytes[turn]]


def test_a_trace_tells_how_likely_choices_were_where_that_is_known(folder, tmp_path):
    lots = fb.run("async-linucb", recorded(folder, WORLD), explore=0.5)
    assert [float(row[-1]) for row in rows(lots, tmp_path / "lots.csv")[1:]] == lots.propensity.tolist()
    assert {round(each, 9) for each in lots.propensity} == {round(0.5 / 3, 9), round(0.5 + 0.5 / 3, 9)}
    sampled = fb.run("async-linucb", recorded(folder, WORLD), exploration="thompson")
    assert {row[-1] for row in rows(sampled, tmp_path / "sampled.csv")[1:]} == {""}


def test_a_result_from_before_propensities_were_kept_is_read(result, tmp_path):
    result.save(tmp_path / "new.npz")
    with np.load(tmp_path / "new.npz") as data:
        np.savez(tmp_path / "old.npz", **{name: data[name] for name in data.files if name != "propensity"})
    found = Result.load(tmp_path / "old.npz")
    assert np.isnan(found.propensity).all()
    assert found.summary() == result.summary()


def test_a_trace_without_means_leaves_regret_empty(blind, tmp_path):
    _, *body = rows(blind, tmp_path / "trace.csv")
    assert {row[4] for row in body} == {""}
    assert "" not in {row[3] for row in body}


def test_a_trace_of_duels_has_arm_and_rival_and_no_reward(duel, tmp_path):
    assert rows(duel, tmp_path / "trace.csv") == [
        ["turn", "client", "arm", "rival", "regret", "messages", "scalars", "bytes", "propensity"],
        ["0", "1", "0", "1", "0.1", "0", "0", "0", "1.0"],
        ["1", "0", "2", "2", "0.0", "2", "6", "90", "1.0"],
        ["2", "1", "1", "0", "0.25", "2", "6", "90", ""],
    ]


@pytest.mark.parametrize("which", ["result", "blind", "duel"])
def test_a_saved_result_comes_back_whole(request, tmp_path, which):
    made = request.getfixturevalue(which)
    made.save(tmp_path / "saved")
    found = Result.load(tmp_path / "saved")
    for name, value in vars(made).items():
        if isinstance(value, np.ndarray):
            np.testing.assert_array_equal(getattr(found, name), value)
            assert getattr(found, name).dtype == value.dtype
        else:
            assert getattr(found, name) == value
    assert found.summary() == made.summary()


def test_a_saved_result_has_no_pickles(result, tmp_path):
    result.save(tmp_path / "saved.npz")
    with np.load(tmp_path / "saved.npz", allow_pickle=False) as data:
        assert all(data[name].dtype != object for name in data.files)


@pytest.mark.parametrize("content", [b"", b"PK\x03\x04 damaged", b"hello"])
def test_a_file_that_is_no_result_is_refused_in_one_sentence(tmp_path, content):
    path = tmp_path / "saved.npz"
    path.write_bytes(content)
    with pytest.raises(InvalidInput) as error:
        Result.load(path)
    assert str(path) in str(error.value)
    assert len(str(error.value).splitlines()) == 1


def test_a_missing_file_and_an_npz_of_something_else_are_refused(tmp_path):
    with pytest.raises(InvalidInput, match="nowhere"):
        Result.load(tmp_path / "nowhere.npz")
    np.savez(tmp_path / "other.npz", **WORLD)
    with pytest.raises(InvalidInput, match="is not a saved result"):
        Result.load(tmp_path / "other.npz")
    np.savez(tmp_path / "about.npz", about=np.array("[1, 2]"))
    with pytest.raises(InvalidInput, match="is not a saved result"):
        Result.load(tmp_path / "about.npz")


def test_a_result_is_shown_without_its_arrays(result):
    assert len(repr(result)) < 1000
    assert "async-linucb" in repr(result)


def test_the_seconds_of_a_summary_are_rounded_to_milliseconds(duel):
    assert duel.summary()["seconds"] == 0.5
    assert not math.isnan(duel.seconds)


def test_warnings_are_saved_and_a_result_from_before_they_were_kept_has_none(duel, tmp_path):
    warned = replace(duel, warnings=("look here",))
    warned.save(tmp_path / "warned.npz")
    assert Result.load(tmp_path / "warned.npz").warnings == ("look here",)
    with np.load(tmp_path / "warned.npz") as data:
        arrays = dict(data)
    about = json.loads(str(arrays["about"]))
    del about["warnings"]
    np.savez(tmp_path / "before.npz", **{**arrays, "about": np.array(json.dumps(about))})
    assert Result.load(tmp_path / "before.npz").warnings == ()


@pytest.mark.parametrize("library", ["pandas", "polars", "pyarrow"])
def test_a_data_frame_has_the_columns_of_the_trace(request, tmp_path, library):
    pytest.importorskip(library)
    for which in ("result", "duel"):
        result = request.getfixturevalue(which)
        frame = result.to_frame(library)
        result.write_trace(tmp_path / "trace.csv")
        with (tmp_path / "trace.csv").open() as file:
            rows = list(csv.DictReader(file))
        assert list(frame.column_names if library == "pyarrow" else frame.columns) == list(rows[0])
        for name in ("turn", "arm", "regret", "bytes"):
            assert [float(value) for value in frame[name].to_numpy()] == [float(row[name]) for row in rows]


def test_a_notebook_shows_the_totals_that_the_world_knows(result, blind):
    shown = result._repr_html_()
    assert f"{result.algorithm} in {result.environment}, seed {result.seed}" in shown
    assert f"<td>{result.regret[-1]:,.6g}</td>" in shown
    assert "<th>regret</th>" not in blind._repr_html_()
