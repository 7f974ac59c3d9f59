"""What is kept of a run: totals, curves at checkpoints, and a file that is whole or not there."""

import json

import numpy as np
import pytest

import fedbandit as fb
from fedbandit.experiments.experiment import Cell
from fedbandit.experiments.table import CURVES, QUANTITIES
from fedbandit.results.provenance import made_here
from fedbandit.results.record import CHECKPOINTS, Record, run_cell
from reference.recorded import linear_turns
from samples.worlds import recorded

WORLD = fb.environment("linear", clients=4, arms=3, dimension=2, pool=10)


@pytest.fixture(scope="module")
def result():
    return fb.run("async-linucb", WORLD, turns=1000, seed=1)


def test_the_totals_are_those_of_the_summary(result):
    record = Record.of(result, processor_seconds=2.5)
    summary = result.summary() | {"processor_seconds": 2.5}
    assert set(record.totals) == set(QUANTITIES)
    for name in QUANTITIES:
        if name != "later_regret":
            assert record.totals[name] == summary[name]


def test_later_regret_leaves_out_each_clients_first_turn(result):
    first = [result.client.tolist().index(client) for client in range(4)]
    later = sum(regret for turn, regret in enumerate(result.turn_regret) if turn not in first)
    assert Record.of(result).totals["later_regret"] == pytest.approx(later)


def test_the_curves_are_the_runs_at_a_few_hundred_turns_with_the_first_and_the_last(result):
    record = Record.of(result)
    turn = record.curves["turn"].astype(int)
    assert (turn[0], turn[-1], len(turn)) == (1, 1000, CHECKPOINTS)
    for name in CURVES:
        np.testing.assert_array_equal(record.curves[name], getattr(result, name)[turn - 1])


def test_a_short_run_is_kept_at_every_turn():
    record = Record.of(fb.run("local-linucb", WORLD, turns=7))
    assert record.curves["turn"].tolist() == [1, 2, 3, 4, 5, 6, 7]


def test_what_the_world_does_not_know_is_not_a_number(tmp_path):
    arrays = linear_turns(seed=0, turns=9, clients=2, arms=3, dimension=2)
    del arrays["mean"]
    record = Record.of(fb.run("local-linucb", recorded(tmp_path, arrays)))
    assert np.isnan(record.totals["regret"])
    assert np.isnan(record.totals["later_regret"])
    record.save(tmp_path / "record.npz")
    assert np.isnan(Record.load(tmp_path / "record.npz").totals["regret"])


def test_a_record_comes_back_whole_and_leaves_nothing_else(result, tmp_path):
    made = Record.of(result, processor_seconds=2.5)
    made.save(tmp_path / "record.npz")
    found = Record.load(tmp_path / "record.npz")
    assert found.clients == made.clients
    assert found.totals == made.totals
    assert found.made == made.made == made_here()
    for name, curve in made.curves.items():
        np.testing.assert_array_equal(found.curves[name], curve)
    assert [path.name for path in tmp_path.iterdir()] == ["record.npz"]


def test_a_record_of_an_earlier_version_does_not_say_what_made_it(result, tmp_path):
    record = Record.of(result)
    totals = {name: value for name, value in record.totals.items() if name != "processor_seconds"}
    about = np.array(json.dumps({"clients": record.clients, "totals": totals}))
    np.savez(tmp_path / "record.npz", about=about, **record.curves)
    found = Record.load(tmp_path / "record.npz")
    assert found.made == {}
    assert np.isnan(found.totals["processor_seconds"])


def test_a_damaged_record_is_no_record(result, tmp_path):
    path = tmp_path / "record.npz"
    Record.of(result).save(path)
    good = path.read_bytes()
    assert Record.load(path) is not None
    for damaged in (b"", b"hello", good[:-1], good[: len(good) // 2], good[:300] + b"\0\0\0\0" + good[304:]):
        path.write_bytes(damaged)
        assert Record.load(path) is None
    np.savez(path, about=np.array("[]"))
    assert Record.load(path) is None
    np.savez(path, about=np.array('{"clients": 3, "totals": {}}'), **Record.of(result).curves)
    assert Record.load(path) is None
    path.unlink()
    assert Record.load(path) is None


def test_running_a_cell_gives_the_record_of_its_run():
    cell = Cell("linear", {"clients": 3, "dimension": 2}, "async-linucb", {"ridge": 1}, turns=30, seed=2)
    same, record = run_cell(cell)
    assert same is cell
    assert record.totals["processor_seconds"] > 0
    world = fb.environment("linear", clients=3, dimension=2)
    assert record.totals["regret"] == fb.run("async-linucb", world, turns=30, seed=2, ridge=1).regret[-1]
