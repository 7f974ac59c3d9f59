"""Logs of every form hold the same decisions."""

import numpy as np
import pytest

import fedbandit as fb
from samples.small_logs import as_csv, as_parquet, by_candidates, rows

FEATURES = fb.Features(
    {
        "context": {"segment": {"kind": "category", "levels": ["new", "gold"]}},
        "arm": {"price": {"kind": "number", "range": [0, 500]}},
        "cross": {"taste": {"of": ["segment", "price"]}},
    }
)
ROWS = rows()


def same(log, expected=None):
    """Check that a log has the decisions of `ROWS`."""
    expected = ROWS if expected is None else expected
    assert len(log) == len(expected)
    assert [log.sites[site] for site in log.site] == [row["site"] for row in expected]
    assert log.reward.tolist() == [row["reward"] for row in expected]
    np.testing.assert_allclose(log.propensity, [row["propensity"] for row in expected])
    vectors = log.encode(FEATURES)
    for x, choice, row in zip(vectors, log.choice, expected, strict=True):
        wanted = FEATURES.encode({"segment": row["segment"]}, row["arms"])
        np.testing.assert_array_equal(x[: len(wanted)], wanted)
        np.testing.assert_array_equal(x[len(wanted) :], np.broadcast_to(wanted[0], x[len(wanted) :].shape))
        assert row["arms"][choice]["id"] == row["choice"]


def test_csv_with_arms_in_json(tmp_path):
    log = fb.Log.read(as_csv(ROWS, tmp_path / "log.csv"))
    same(log)
    assert log.sites == ("shop-0", "shop-1", "shop-2")
    assert (log.unrewarded, log.unordered) == (0, 0)
    assert np.diff(log.time).tolist() == [3600.0] * (len(ROWS) - 1)
    assert log.row.tolist() == list(range(1, len(ROWS) + 1))


def test_a_row_for_each_candidate(tmp_path):
    same(fb.Log.read(as_csv(by_candidates(ROWS), tmp_path / "log.csv")))


def test_ids_of_a_catalogue(tmp_path):
    catalogue = [{"id": f"A-{number}", "price": 70.5 * number} for number in range(6)]
    named = [{**row, "arms": [arm["id"] for arm in row["arms"]]} for row in ROWS]
    priced = [{**row, "arms": [catalogue[int(arm["id"][2:])] for arm in row["arms"]]} for row in ROWS]
    arms = as_csv(catalogue, tmp_path / "catalogue.csv")
    same(fb.Log.read(as_csv(named, tmp_path / "log.csv"), arms=arms), priced)
    without = [{name: value for name, value in row.items() if name != "arms"} for row in ROWS]
    log = fb.Log.read(as_csv(without, tmp_path / "all.csv"), arms=arms)
    same(log, [{**row, "arms": catalogue} for row in ROWS])


@pytest.mark.parametrize("kind", ["parquet", "arrow", "polars"])
def test_parquet_and_data_frames(tmp_path, kind):
    pa = pytest.importorskip("pyarrow")
    table = pa.Table.from_pylist(ROWS)
    if kind == "parquet":
        same(fb.Log.read(as_parquet(ROWS, tmp_path / "log.parquet")))
    elif kind == "arrow":
        same(fb.Log.read(table))
    else:
        same(fb.Log.read(pytest.importorskip("polars").from_arrow(table)))


def test_parquet_with_ids_and_with_a_row_for_each_candidate(tmp_path):
    pytest.importorskip("pyarrow")
    same(fb.Log.read(as_parquet(by_candidates(ROWS), tmp_path / "long.parquet")))
    named = [{**row, "arms": [arm["id"] for arm in row["arms"]]} for row in ROWS]
    log = fb.Log.read(as_parquet(named, tmp_path / "ids.parquet"))
    assert log.offered.shape == (len(ROWS), max(len(row["arms"]) for row in ROWS))


def test_columns_are_named_once(tmp_path):
    renamed = [{("clicked" if name == "reward" else name): value for name, value in row.items()} for row in ROWS]
    same(fb.Log.read(as_csv(renamed, tmp_path / "log.csv"), {"reward": "clicked"}))


def test_rows_are_sorted_by_time_and_those_without_a_reward_are_left_out(tmp_path):
    mixed = [ROWS[place] for place in (3, 1, 2, 0)]
    mixed[2] = {**mixed[2], "reward": None}
    log = fb.Log.read(as_csv(mixed, tmp_path / "log.csv"))
    same(log, [ROWS[0], ROWS[1], ROWS[3]])
    assert log.row.tolist() == [4, 2, 1]
    assert (log.unrewarded, log.unordered) == (1, 2)


def test_times_may_be_seconds_dates_and_stamps(tmp_path):
    for times in ([3, 1.5, 2], ["2026-01-03", "2026-01-01", "2026-01-02T00:00:00+02:00"]):
        found = [{**row, "time": time} for row, time in zip(ROWS, times, strict=False)]
        assert fb.Log.read(as_csv(found, tmp_path / "log.csv")).row.tolist() == [2, 3, 1]
    pa = pytest.importorskip("pyarrow")
    stamps = pa.array([3, 1, 2], pa.timestamp("us", "UTC"))
    table = pa.Table.from_pylist(ROWS[:3])
    table = table.set_column(table.column_names.index("time"), "time", stamps)
    assert fb.Log.read(table).row.tolist() == [2, 3, 1]


def test_sites_are_numbered_as_they_are_given(tmp_path):
    path = as_csv(ROWS, tmp_path / "log.csv")
    log = fb.Log.read(path, sites=["shop-2", "shop-1", "shop-0", "shop-9"])
    assert log.sites == ("shop-2", "shop-1", "shop-0", "shop-9")
    same(log)
    numbered = [{**row, "site": int(row["site"][5:]) + 9} for row in ROWS]
    assert fb.Log.read(as_csv(numbered, path)).sites == ("9", "10", "11"), "numbers in their own order"


def test_a_log_without_candidates_says_so_when_they_are_needed(tmp_path):
    names = ["time", "site", "segment", "choice", "reward"]
    log = fb.Log.read(as_csv(ROWS, tmp_path / "log.csv", names))
    assert len(log) == len(ROWS)
    with pytest.raises(fb.InvalidInput, match="what else was on offer is not in the log: name a column of candidates"):
        log.encode(FEATURES)
    shared = fb.Features({"context": {"segment": {"kind": "category", "levels": ["new", "gold"]}}})
    assert log.encode(shared).shape == (len(ROWS), 4)


def test_arrays_are_a_log_of_vectors():
    vectors = np.arange(24.0).reshape(3, 2, 4)
    log = fb.Log.from_arrays(
        site=[1, 0, 1], arms=vectors, choice=[0, 1, 1], reward=[1, 2, 3], propensity=[0.5, 1, 0.1], time=[3, 1, 2]
    )
    np.testing.assert_array_equal(log.encode(), vectors[[1, 2, 0]])
    assert (log.reward.tolist(), log.site.tolist(), log.choice.tolist()) == ([2, 3, 1], [0, 1, 1], [1, 1, 0])
    with pytest.raises(fb.InvalidInput, match="features were given for a log of vectors"):
        log.encode(FEATURES)


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"choice": [0, 2]}, r"choice\[1\] is 2: arms are numbered 0 to 1"),
        ({"site": [0, -1]}, r"site\[1\] is -1: sites are numbered from 0"),
        ({"site": [0.0, 1.0]}, "site must hold whole numbers, not float64"),
        ({"reward": [0.0, np.nan]}, r"reward\[1\] is nan: every value must be finite"),
        ({"propensity": [1.0, 0.0]}, r"propensity\[1\] is 0.0: it must be in \(0, 1\]"),
        ({"arms": np.ones((2, 2))}, "arms has shape"),
        ({"reward": [1.0]}, "reward has shape"),
        ({"arms": np.ones((0, 2, 3))}, "arms is empty"),
    ],
)
def test_bad_arrays_are_refused(change, reason):
    arrays = {"site": [0, 1], "arms": np.ones((2, 2, 3)), "choice": [0, 1], "reward": [0.0, 1.0]}
    with pytest.raises(fb.InvalidInput, match=reason):
        fb.Log.from_arrays(**{**arrays, **change})


def test_choices_as_a_recorded_file_tell_the_bytes_of_the_log(tmp_path):
    log = fb.Log.read(as_csv(ROWS, tmp_path / "log.csv"))
    log.record(tmp_path / "choices.npz", FEATURES)
    recorded = fb.environment("recorded", path=str(tmp_path / "choices.npz"))
    assert recorded.setting().arms == 1
    result = fb.run("async-linucb", recorded, upload_threshold=1.1)
    assert result.turn_reward.tolist() == log.reward.tolist()
    arrays = dict(np.load(tmp_path / "choices.npz"))
    chosen = [FEATURES.encode({"segment": row["segment"]}, [arm]) for row in ROWS for arm in row["arms"]
              if arm["id"] == row["choice"]]  # fmt: skip
    np.testing.assert_array_equal(arrays["arms"], chosen)
    assert arrays["client"].tolist() == log.site.tolist()
