"""Logs that sites write of their decisions, read as folders and as packed files."""

from __future__ import annotations

import json
import tomllib
from importlib.util import find_spec

import numpy as np
import pytest
from typer.testing import CliRunner

import fedbandit as fb
from fedbandit.cli.main import app, main
from fedbandit.logs.packing import pack
from samples.wall_clock import WallClock

NEEDS_ARROW = pytest.mark.skipif(find_spec("pyarrow") is None, reason="needs pyarrow: pip install '.[logs]'")
FEATURES = {
    "context": {"segment": {"kind": "category", "levels": ["new", "gold"]}},
    "arm": {"price": {"kind": "number", "range": [0, 500]}, "id": {"kind": "hashed", "size": 4}},
    "cross": {"taste": {"of": ["segment", "price"]}},
}


def decide(folder, count=40, number=0, by_ids=True, **more):
    """Let a site decide, with two to four articles on offer; every fourth decision expires, some are rewarded late."""
    clock, rng = WallClock(), np.random.default_rng(number)
    features = fb.Features(FEATURES)
    how = {"features": features, "expires": 60, "clock": clock, "log": folder, "explore": 0.5, "clients": 3}
    late = []
    with fb.Site("async-linucb", number=number, fresh=1, **how, **more) as site:
        for turn in range(count):
            arms = [{"id": f"A-{each}", "price": float(rng.integers(500))} for each in rng.permutation(9)]
            arms = arms[: rng.integers(2, 5)]
            ids = [arm["id"] for arm in arms] if by_ids else None
            decision = site.choose(arms, ids, context={"segment": "gold" if turn % 3 else "new"})
            if turn % 4:
                site.learn(decision, float(rng.integers(2)))
                site.learn(decision, 9.0)  # once more, which changes nothing
            else:
                late.append(decision)
            clock.now += 10
        clock.now += 100
        for decision in late[::2]:
            assert not site.learn(decision, 0.5)
    return features


def same(one, other, features):
    assert len(one) == len(other)
    assert one.sites == other.sites
    assert one.unrewarded == other.unrewarded
    for name in ("site", "time", "choice", "reward", "propensity"):
        np.testing.assert_array_equal(getattr(one, name), getattr(other, name))
    np.testing.assert_array_equal(one.encode(features), other.encode(features))


@pytest.mark.parametrize("by_ids", [True, False])
@pytest.mark.parametrize("default_reward", [None, 0.0])
def test_a_folder_is_read_as_the_site_decided(tmp_path, by_ids, default_reward):
    features = decide(tmp_path, by_ids=by_ids, default_reward=default_reward)
    log = fb.Log.read(tmp_path)
    assert (len(log), log.unrewarded) == ((35, 5) if default_reward is None else (40, 0))
    assert int((log.reward == 0.5).sum()) == 5  # those that came late
    assert log.reward.max() == 1.0
    assert list(log.context) == ["segment"]
    rows = [json.loads(line) for path in tmp_path.iterdir() for line in path.read_text().splitlines()]
    rows = {row["id"]: row for row in rows if "late" not in row}
    vectors, at = log.encode(features), {time: place for place, time in enumerate(log.time.tolist())}
    for row in rows.values():
        if row["time"] in at:
            place = at[row["time"]]
            expected = features.encode(row["context"], row["arms"])
            np.testing.assert_array_equal(vectors[place, : len(expected)], expected)
            chosen = row["ids"].index(row["choice"]) if by_ids else row["choice"]
            assert (log.choice[place], log.propensity[place]) == (chosen, row["propensity"])


def test_rows_that_are_there_twice_count_once(tmp_path):
    features = decide(tmp_path)
    once = fb.Log.read(tmp_path)
    (path,) = tmp_path.iterdir()
    path.write_bytes(path.read_bytes() * 2)
    same(fb.Log.read(tmp_path), once, features)


def test_a_line_that_is_still_being_written_is_left_out(tmp_path):
    features = decide(tmp_path)
    once = fb.Log.read(tmp_path)
    (path,) = tmp_path.iterdir()
    path.write_bytes(path.read_bytes() + b'{"id":"64')
    same(fb.Log.read(tmp_path), once, features)


def test_a_log_of_vectors_needs_no_features(tmp_path):
    features = decide(tmp_path / "raw")
    decide(tmp_path / "vectors", log_raw=False)
    raw, vectors = fb.Log.read(tmp_path / "raw"), fb.Log.read(tmp_path / "vectors")
    np.testing.assert_array_equal(vectors.encode(), raw.encode(features))
    np.testing.assert_array_equal(vectors.choice, raw.choice)
    np.testing.assert_array_equal(vectors.offered >= 0, raw.offered >= 0)


def test_a_context_may_have_values_with_the_names_of_columns(tmp_path):
    site = fb.Site("async-linucb", features=fb.Features({
        "context": {"time": {"kind": "category", "levels": ["day", "night"]}},
        "arm": {"price": {"kind": "number", "range": [0, 9]}}, "cross": {"taste": {"of": ["time", "price"]}},
    }), log=tmp_path)  # fmt: skip
    for turn in range(4):
        site.learn(site.choose([{"price": 1}, {"price": turn}], context={"time": "day" if turn % 2 else "night"}), 1.0)
    log = fb.Log.read(tmp_path)
    assert log.context["time"].values == ["night", "day"]
    assert (log.time > 1e9).all()


def test_what_explored_choices_would_have_earned_is_evaluated_without_a_bias(tmp_path):
    """The site prefers what it knows; weights of its propensities bring back the mean of every arm."""
    rng = np.random.default_rng(1)
    site = fb.Site("async-linucb", dimension=2, explore=0.3, log=tmp_path, exploration="igw")
    for _ in range(4000):
        decision = site.choose(np.eye(2))
        site.learn(decision, float(rng.random() < (0.3, 0.7)[decision.arm]))
    log = fb.Log.read(tmp_path)
    for arm, mean in enumerate((0.3, 0.7)):
        terms = (log.choice == arm) * log.reward / log.propensity
        assert abs(terms.mean() - mean) < 4 * terms.std() / np.sqrt(len(log))
    found = fb.evaluate(log, np.tile([0.0, 1.0], (len(log), 1)))
    assert abs(found.dr - 0.7) < 4 * found.dr_error


@pytest.mark.slow
@pytest.mark.parametrize("explore", [0.0, 0.2])
def test_over_many_logs_of_sites_that_learn_estimates_are_unbiased(tmp_path, explore):
    """Of 200 sites that prefer what they know, each log tells what always choosing the last arm would have earned.

    Where choices are explored at least a little, intervals hold the truth as often as they say; without, weights are so
    large that a log of 500 rows is refused, unless one evaluates anyway.
    """
    means, found = np.array([0.3, 0.5, 0.4]), []
    for seed in range(200):
        rng = np.random.default_rng([seed, 5])
        how = {"dimension": 3, "exploration": "igw", "explore": explore, "seed": seed, "fresh": 1}
        with fb.Site("async-linucb", log=tmp_path / str(seed), **how) as site:
            for _ in range(500):
                decision = site.choose(np.eye(3))
                site.learn(decision, float(rng.random() < means[decision.arm]))
        found.append(fb.evaluate(fb.Log.read(tmp_path / str(seed)), np.tile([0.0, 0.0, 1.0], (500, 1)), anyway=True))
    for name in ("ips", "dr"):
        errors = np.array([getattr(each, name) for each in found]) - means[2]
        assert abs(errors.mean()) < 4 * errors.std(ddof=1) / np.sqrt(200)
        if explore:
            widths = np.array([getattr(each, f"{name}_error") for each in found])
            assert (np.abs(errors) <= 1.96 * widths).mean() >= 0.894  # 93 %, less two deviations of 200


def test_choices_of_unknown_propensity_are_logged_without_one(tmp_path):
    site = fb.Site("async-linucb", dimension=2, log=tmp_path, exploration="thompson")
    for _ in range(5):
        site.learn(site.choose(np.eye(2)), 1.0)
    assert fb.Log.read(tmp_path).propensity is None


@NEEDS_ARROW
@pytest.mark.parametrize("log_raw", [True, False])
def test_what_is_packed_is_read_as_the_folders_are(tmp_path, log_raw):
    for number in range(3):
        features = decide(tmp_path / f"site-{number}", number=number, log_raw=log_raw)
    table = pack([tmp_path / f"site-{number}" for number in range(3)], tmp_path / "log.parquet")
    log = fb.Log.read(tmp_path / "log.parquet")
    assert (table.rows, len(log), log.sites) == (120, 105, ("0", "1", "2"))
    assert list(log.context) == (["segment"] if log_raw else [])
    whole = [fb.Log.read(tmp_path / f"site-{number}") for number in range(3)]
    for number, one in enumerate(whole):
        own = log.take(np.flatnonzero(log.site == number))
        vectors = own.encode(features if log_raw else None)
        np.testing.assert_array_equal(vectors, one.encode(features if log_raw else None))
        np.testing.assert_array_equal(own.reward, one.reward)


def test_features_are_suggested_from_a_folder(tmp_path):
    decide(tmp_path / "decisions", count=60)
    result = CliRunner().invoke(app, ["suggest", str(tmp_path / "decisions")])
    assert result.exit_code == 0, result.output
    declared = tomllib.loads(result.stdout)
    assert list(declared["context"]) == ["segment"]  # and not what came after the decision, such as predicted
    assert set(declared["arm"]) == {"id", "price"}
    decide(tmp_path / "numbered", count=60, by_ids=False)  # choices are places, and ids are values as others are
    log = fb.Log.read(tmp_path / "numbered")
    assert set(log.arms) == {"decision id", "id", "price"}


@NEEDS_ARROW
def test_the_command_says_what_it_has_packed(tmp_path):
    decide(tmp_path / "decisions")
    output = tmp_path / "log.parquet"
    result = CliRunner().invoke(app, ["log", "pack", str(tmp_path / "decisions"), "-o", str(output)])
    assert result.stdout == f"{output}: 40 decisions, 5 of them without a reward\n"
    assert output.exists()


@pytest.mark.parametrize(
    ("lines", "words"),
    [
        (None, "has no files"),
        ("nonsense\n", "line 1 is 'nonsense', which is no row of a site's log: take it out"),
        ('{"id": "64-1", "late": "soon"}\n', "line 1 is .* which is no row of a site's log"),
        ('{"id": "64-1", "late": 1.0}\n', "has no rows: a log needs at least two"),
    ],
)
def test_a_folder_that_is_no_log_is_refused(tmp_path, lines, words):
    if lines is not None:
        (tmp_path / "2026-01-01.jsonl").write_text(lines)
    with pytest.raises(fb.InvalidInput, match=words):
        fb.Log.read(tmp_path)


@NEEDS_ARROW
def test_a_path_that_is_no_folder_cannot_be_packed(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr("sys.argv", ["fedbandit", "log", "pack", str(tmp_path / "none"), "-o", str(tmp_path / "out")])
    with pytest.raises(SystemExit) as ended:
        main()
    assert ended.value.code == 2
    assert "none is no folder: give the folder of a site's log of decisions" in capsys.readouterr().err


def test_logs_of_duels_and_of_shared_vectors_are_refused(tmp_path):
    site = fb.Site("fldb-ogd", dimension=2, smallest_upload=1, log=tmp_path / "duels")
    site.learn(site.choose(np.eye(2)), 1.0)
    with pytest.raises(fb.InvalidInput, match="row 1 is a duel"):
        fb.Log.read(tmp_path / "duels")
    site = fb.Site("lasso-bandit", dimension=2, arms=3, log=tmp_path / "lasso")
    site.learn(site.choose([1.0, 0.0]), 1.0)
    with pytest.raises(fb.InvalidInput, match="row 1 has one vector for all its arms"):
        fb.Log.read(tmp_path / "lasso")
