"""The log of a site's decisions: what stands in a row, when it is written, and what a sudden end leaves of it."""

from __future__ import annotations

import json
import subprocess
import sys
from collections import Counter

import numpy as np
import pytest

import fedbandit as fb
from fedbandit.durable.site.decisions import Closed
from fedbandit.site.decision_log import DecisionLog
from samples.wall_clock import WallClock

ARMS = [[1.0, 0.0], [0.0, 1.0]]
PRICES = [{"price": 100}, {"price": None}, {"price": 499.5}]
FEATURES = {
    "context": {"segment": {"kind": "category", "levels": ["new", "gold"]}},
    "arm": {"price": {"kind": "number", "range": [0, 500], "missing": "zero"}},
    "cross": {"taste": {"of": ["segment", "price"]}},
}


def open_site(folder, clock=None, **more):
    how = {"dimension": 2, "log": folder / "decisions", "clock": clock or WallClock(), **more}
    return fb.Site(how.pop("algorithm", "async-linucb"), **how)


def lines(folder):
    return [
        json.loads(line) for path in sorted(folder.glob("decisions/*.jsonl")) for line in path.read_text().splitlines()
    ]


def test_a_row_tells_all_of_a_decision_once_its_reward_has_come(tmp_path):
    clock = WallClock()
    features = fb.Features(FEATURES)
    site = open_site(tmp_path, clock, dimension=None, features=features, number=1, clients=3, explore=0.25)
    decision = site.choose(PRICES, ids=["A", "B", "C"], context={"segment": "gold"})
    assert lines(tmp_path) == []
    clock.now += 7.5
    assert site.learn(decision, 0.5)
    (row,) = lines(tmp_path)
    assert row == {
        "id": decision.id, "time": 1_800_000_000.0, "site": 1, "version": 0,
        "charter": f"{site.charter.fingerprint:016x}", "context": {"segment": "gold"}, "arms": PRICES,
        "ids": ["A", "B", "C"], "choice": decision.arm, "propensity": decision.propensity, "explore": 0.25,
        "predicted": 0.0, "reward": 0.5, "rewarded": 1_800_000_007.5, "expired": False,
    }  # fmt: skip


def test_without_features_or_raw_rows_the_vectors_are_logged(tmp_path):
    site = open_site(tmp_path / "plain")
    site.learn(site.choose(ARMS), 1.0)
    (row,) = lines(tmp_path / "plain")
    assert (row["arms"], row["context"], row["ids"], row["choice"]) == (ARMS, None, None, 0)
    features = fb.Features(FEATURES)
    site = open_site(tmp_path / "coded", dimension=None, features=features, log_raw=False)
    site.learn(site.choose(PRICES, context={"segment": "new"}), 1.0)
    (row,) = lines(tmp_path / "coded")
    assert row["arms"] == features.encode({"segment": "new"}, PRICES).tolist()


@pytest.mark.parametrize(
    ("algorithm", "link"),
    [("lean-linucb", float), ("async-linucb-am", float), ("n-ucb-glm", lambda z: 1 / (1 + np.exp(-z)))],
)
def test_predicted_is_what_the_model_expected_of_the_choice(tmp_path, algorithm, link):
    site = open_site(tmp_path, algorithm=algorithm)
    rng = np.random.default_rng(3)
    for _ in range(30):
        site.learn(site.choose(rng.uniform(-0.7, 0.7, (3, 2))), float(rng.integers(2)))
    state = site.node.life.node.state
    if algorithm == "async-linucb-am":
        assert state.estimates.started[0]
        estimate = np.concatenate([state.estimates.global_estimate[0], state.estimates.local_estimate[0]])
    else:
        estimate = state.rows.estimate[0].copy()
    arms = rng.uniform(-0.7, 0.7, (3, 2))
    decision = site.choose(arms)
    site.learn(decision, 1.0)
    assert lines(tmp_path)[-1]["predicted"] == pytest.approx(link(arms[decision.arm] @ estimate), abs=1e-12)


def test_where_there_is_no_model_of_the_mean_nothing_is_predicted(tmp_path):
    site = open_site(tmp_path, algorithm="random")
    site.learn(site.choose(ARMS), 1.0)
    assert lines(tmp_path)[0]["predicted"] is None


@pytest.mark.parametrize("default_reward", [None, -0.5])
def test_a_decision_that_ends_has_a_row_and_a_late_reward_a_line(tmp_path, default_reward):
    clock = WallClock()
    site = open_site(tmp_path, clock, expires=60, default_reward=default_reward)
    decision, given_up = site.choose(ARMS), site.choose(ARMS)
    site.give_up(given_up)
    clock.now += 61
    site.news()
    clock.now += 9
    assert not site.learn(decision, 1.0)
    told = [(row["id"], row.get("reward"), row.get("late"), row.get("expired")) for row in lines(tmp_path)]
    assert told == [
        (given_up.id, default_reward, None, True),
        (decision.id, default_reward, None, True),
        (decision.id, None, 1.0, None),
    ]
    assert [row["rewarded"] - 1_800_000_000.0 for row in lines(tmp_path)] == [0.0, 61.0, 70.0]


def test_a_reward_that_comes_again_is_no_late_one(tmp_path):
    how = {"store": tmp_path / "site.db"}
    with open_site(tmp_path, **how) as site:
        decision = site.choose(ARMS)
        assert [site.learn(decision, 0.5), site.learn(decision, 0.75)] == [True, False]
        assert len(lines(tmp_path)) == 1
    with open_site(tmp_path, **how) as site:  # which does not remember, so that the reader decides
        other = site.choose(ARMS)
        assert [site.learn(decision, 0.75), site.learn(other, 0.25)] == [False, True]
    assert [row.get("late") for row in lines(tmp_path)] == [None, 0.75, None]
    assert fb.Log.read(tmp_path / "decisions").reward.tolist() == [0.5, 0.25]


def test_of_rewards_long_ago_nothing_is_remembered(tmp_path, monkeypatch):
    monkeypatch.setattr("fedbandit.site.decision_log.REMEMBERED", 3)
    site = open_site(tmp_path)
    decisions = [site.choose(ARMS) for _ in range(5)]
    for decision in decisions + decisions:
        site.learn(decision, 1.0)
    assert [row["id"] for row in lines(tmp_path) if "late" in row] == [each.id for each in decisions[:2]]


def test_each_day_has_a_file_and_a_full_one_is_followed_by_another(tmp_path):
    log = DecisionLog(tmp_path, most_bytes=200)
    row = b'"choice":"%b"' % (b"x" * 50)
    day = 86_400.0
    for number in range(5):
        log.write([Closed(f"64-{number}", row, 1.0, day, False)])
    log.write([Closed("64-9", row, 1.0, 3 * day, False), Closed("64-a", row, 1.0, day, False)])
    log.close()
    again = DecisionLog(tmp_path, most_bytes=200)
    again.write([Closed("64-b", row, 1.0, 3 * day - 0.5, False)])
    again.close()
    found = {path.name: path.read_bytes().count(b"\n") for path in tmp_path.iterdir()}
    assert found == {
        "1970-01-02.jsonl": 1, "1970-01-02.2.jsonl": 1, "1970-01-02.3.jsonl": 1, "1970-01-02.4.jsonl": 1,
        "1970-01-02.5.jsonl": 1, "1970-01-02.6.jsonl": 1, "1970-01-04.jsonl": 1, "1970-01-03.jsonl": 1,
    }  # fmt: skip


@pytest.mark.parametrize("torn", [b'{"id":"64-', b"x" * 3_000_000])
def test_a_torn_last_line_is_cut_when_the_log_is_opened(tmp_path, torn):
    with open_site(tmp_path) as site:
        site.learn(site.choose(ARMS), 1.0)
    (path,) = (tmp_path / "decisions").iterdir()
    whole = path.read_bytes()
    path.write_bytes(whole + torn)
    open_site(tmp_path).close()
    assert path.read_bytes() == whole
    path.write_bytes(torn)
    open_site(tmp_path).close()
    assert path.read_bytes() == b""


def test_a_row_that_was_lost_after_the_store_had_it_is_written_when_the_site_is_opened(tmp_path):
    how = {"store": tmp_path / "site.db", "expires": 60}
    site = open_site(tmp_path, **how)
    decisions = [site.choose(ARMS) for _ in range(4)]
    for each in decisions[:3]:
        site.learn(each, 0.25)
    site.node.logged = lambda: None  # the process ends here
    site.close()
    (path,) = (tmp_path / "decisions").iterdir()
    first, second, third = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(first + second[:20])
    open_site(tmp_path, **how).close()
    assert path.read_bytes() == first + second + third
    path.unlink()  # packed and thrown away
    open_site(tmp_path, **how).close()
    assert lines(tmp_path) == []


def test_a_row_that_cannot_be_written_is_written_as_soon_as_it_can(tmp_path, monkeypatch):
    site = open_site(tmp_path, store=tmp_path / "site.db")
    one, other = site.choose(ARMS), site.choose(ARMS)
    with monkeypatch.context() as full:
        full.setattr("fedbandit.site.decision_log.os.write", lambda *_: 3)
        for _ in range(2):
            with pytest.raises(fb.InvalidInput, match=r"the log of decisions in .* cannot be written .No space left"):
                site.learn(one, 0.5)
    assert site.learn(other, 1.0)
    assert [(row["id"], row["reward"]) for row in lines(tmp_path)] == [(one.id, 0.5), (other.id, 1.0)]


def test_values_that_json_does_not_know_are_written_nevertheless(tmp_path):
    site = open_site(tmp_path, dimension=None, features=fb.Features(FEATURES))
    arms = [{"price": np.float64(3.0)}, {"price": float("nan")}]
    decision = site.choose(arms, ids=[("a", 1), np.int64(7)], context={"segment": np.str_("gold")})
    site.learn(decision, 1.0)
    (row,) = lines(tmp_path)
    assert (row["arms"], row["ids"]) == ([{"price": 3.0}, {"price": None}], [["a", 1], 7])


def test_a_folder_that_cannot_be_made_is_refused(tmp_path):
    (tmp_path / "decisions").write_text("a file")
    with pytest.raises(fb.InvalidInput, match=r"the log of decisions in .* cannot be written"):
        open_site(tmp_path)


KILLED = """
import sys
import fedbandit as fb

site = fb.Site("async-linucb", dimension=2, store=sys.argv[1] + "/site.db", log=sys.argv[1] + "/decisions")
waiting = []
while True:
    waiting.append(site.choose([[1.0, 0.0], [0.0, 1.0]]).id)
    if len(waiting) > 3:
        decision = waiting.pop(0)
        assert site.learn(decision, 0.5)
        print(decision, flush=True)
"""


def test_after_kill_9_the_log_has_every_reward_that_was_acknowledged(tmp_path):
    acknowledged = []
    for count in (1, 7, 40, 13):
        process = subprocess.Popen([sys.executable, "-c", KILLED, str(tmp_path)], stdout=subprocess.PIPE, text=True)
        acknowledged += [process.stdout.readline().strip() for _ in range(count)]
        process.kill()
        acknowledged += process.communicate()[0].split()
    with fb.Site("async-linucb", dimension=2, store=tmp_path / "site.db", log=tmp_path / "decisions") as site:
        pending = site.pending
    counts = Counter(row["id"] for row in lines(tmp_path))
    assert set(acknowledged) <= counts.keys()
    assert max(counts.values()) <= 2
    assert sum(counts.values()) >= len(acknowledged)
    assert pending >= 12
    assert len(fb.Log.read(tmp_path / "decisions")) == len(counts)
