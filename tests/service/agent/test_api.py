"""What a site that is a service answers: as the site in Python does, and in sentences where a request is wrong."""

from __future__ import annotations

import json

import pytest

import fedbandit as fb
from fedbandit.service.agent import api
from samples.agents import TWO, asking, plan_in, post

OFFER = {"arms": TWO, "ids": ["red", "blue"]}
STATE, HEALTH, METRICS = ("GET", "/v1/state"), ("GET", "/health"), ("GET", "/metrics")


def test_a_decision_and_its_reward_which_counts_once(tmp_path):
    plan = plan_in(tmp_path)
    [(status, decided)] = asking(plan, post("choose", OFFER))
    assert status == 200
    assert (decided["arm"], decided["propensity"], decided["version"]) == ("red", 1.0, 0)
    reward = {"id": decided["id"], "reward": 0.5}
    told = asking(plan, post("learn", reward), post("learn", reward), STATE)  # after a restart
    assert told[:2] == [(200, {"new": True}), (200, {"new": False})]
    assert (told[2][1]["pending"], told[2][1]["state"], told[2][1]["algorithm"]) == (0, "offline", "async-linucb")


def test_choices_are_those_of_the_site_in_python(tmp_path):
    offers = [{"arms": [[0.1 * k, 0.3 - 0.05 * turn] for k in range(4)]} for turn in range(5)]
    site = fb.Site("async-linucb", dimension=2)
    plan = plan_in(tmp_path)
    for offer in offers:
        wanted = site.choose(offer["arms"])
        site.learn(wanted.id, 0.25)
        [(_, decided)] = asking(plan, post("choose", offer))
        assert decided["arm"] == wanted.arm
        asking(plan, post("learn", {"id": decided["id"], "reward": 0.25}))


def test_in_a_list_each_stands_for_itself(tmp_path):
    plan = plan_in(tmp_path)
    [(_, decided)] = asking(plan, post("choose", [OFFER, {"arms": [[1.0]]}, {"arms": TWO}]))
    assert [set(each) for each in decided] == [{"id", "arm", "propensity", "version"}, {"error"}, set(decided[0])]
    assert decided[1]["error"] == "arms has shape (1, 1), but (K, 2) is needed: reshape it"
    assert decided[2]["arm"] == 0
    rewards = [{"id": decided[2]["id"], "reward": 1}, {"id": "1-1", "reward": 1}, {"id": decided[0]["id"], "reward": 0}]
    [(status, learnt)] = asking(plan, post("learn", rewards))
    assert status == 200
    assert learnt[0] == learnt[2] == {"new": True}
    assert learnt[1]["error"].startswith("no decision '1-1' was made at this site")


def test_a_decision_that_is_given_up_takes_no_reward(tmp_path):
    plan = plan_in(tmp_path)
    [(_, decided)] = asking(plan, post("choose", OFFER))
    asked = {"id": decided["id"]}
    told = asking(plan, post("give-up", asked), post("give-up", asked), post("learn", {**asked, "reward": 1.0}), STATE)
    assert [each[1] for each in told[:3]] == [{"ended": True}, {"ended": False}, {"new": False}]
    assert told[3][1]["pending"] == 0


def test_values_become_vectors_where_the_site_has_features(tmp_path):
    (tmp_path / "features.toml").write_text(
        '[context]\nage = { kind = "number", range = [0, 100] }\n[arm]\nprice = { kind = "number", range = [0, 9] }\n'
        '[cross]\ntaste = { of = ["age", "price"] }\n'
    )
    plan = plan_in(tmp_path, offline={"algorithm": "lean-linucb"}, features="features.toml")
    offer = {"context": {"age": 40}, "arms": [{"price": 3}, {"price": 7}], "ids": ["a", "b"]}
    [(status, decided), wrong] = asking(plan, post("choose", offer), post("choose", {**offer, "context": {"age": "x"}}))
    assert status == 200
    assert decided["arm"] in {"a", "b"}
    assert wrong[0] == 400
    assert "age" in wrong[1]["error"]


def test_a_context_that_arms_share_and_a_duel(tmp_path):
    lasso = plan_in(tmp_path, offline={"algorithm": "lasso-bandit", "dimension": 2, "arms": 3}, store="lasso.db")
    [(status, decided)] = asking(lasso, post("choose", {"context": [0.5, 0.5]}))
    assert (status, decided["arm"] in range(3)) == (200, True)
    both = asking(lasso, post("choose", {"context": [0.5, 0.5], "arms": TWO}))
    assert both == [
        (400, {"error": "context is a vector, and arms are given: give one of them, or a table as context"})
    ]
    duel = plan_in(tmp_path, offline={"algorithm": "fldb-ogd", "dimension": 2, "smallest_upload": 1}, store="duel.db")
    [(_, decided)] = asking(duel, post("choose", OFFER))
    assert len(decided["arm"]) == 2


BAD = {
    "nothing": (b"", "Input data was truncated"),
    "no JSON": (b"{arms", "JSON is malformed"),
    "a text": (b'"arms"', "Expected `object | array`"),
    "a field that is not known": ({"armes": TWO}, "unknown field `armes`"),
    "arms that are no numbers": ({"arms": [["a"]]}, "Expected `float`, got `str` - at `$.arms[0][0]`"),
    "no arms": ({"arms": []}, "arms"),
    "rows of different length": ({"arms": [[1.0], [1.0, 2.0]]}, "rows of one length"),
    "too few ids": ({"arms": TWO, "ids": ["red"]}, "ids has 1 entries for 2 arms"),
    "not a number": (b'{"arms": [[NaN, 1.0], [0, 0]]}', "JSON is malformed"),
    "an infinite number": (b'{"arms": [[1e999, 1.0], [0, 0]]}', "out of range"),
    "values, and no features": ({"arms": [{"price": 3}, {"price": 4}]}, "arms must hold numbers"),
}


@pytest.mark.parametrize("name", BAD)
def test_a_wrong_request_gets_a_sentence_and_changes_nothing(tmp_path, name):
    body, reason = BAD[name]
    refused, state = asking(plan_in(tmp_path), post("choose", body), STATE)
    assert refused[0] == 400
    assert reason in refused[1]["error"]
    assert state[1]["pending"] == 0


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        ({"id": "x"}, "missing required field `reward`"),
        ({"id": "x", "reward": "1"}, "Expected `float`, got `str` - at `$.reward`"),
        ({"id": 7, "reward": 1}, "Expected `str`, got `int` - at `$.id`"),
        ({"id": "x", "reward": 1}, "no decision 'x' was made at this site"),
        ({"id": "x", "reward": 1e300}, "reward"),
    ],
)
def test_a_wrong_reward_is_refused(tmp_path, body, reason):
    [(status, answer)] = asking(plan_in(tmp_path), post("learn", body))
    assert status == 400
    assert reason in answer["error"]


def test_what_is_not_there_and_what_is_too_much(tmp_path, monkeypatch):
    monkeypatch.setattr(api, "LONGEST_LIST", 2)
    monkeypatch.setattr(api, "LARGEST_REQUEST", 1000)
    nowhere, get, many, large = asking(
        plan_in(tmp_path), ("GET", "/v1/nowhere"), ("GET", "/v1/choose"), post("learn", [{"id": "x", "reward": 1}] * 3),
        post("choose", {"arms": [[0.0] * 1000]}),
    )  # fmt: skip
    assert nowhere == (404, {"error": "Not Found: see /openapi.json"})
    assert get == (405, {"error": "Method Not Allowed: see /openapi.json"})
    assert many == (400, {"error": "a list of 3 requests: send at most 2 at a time"})
    assert large[0] == 413


def test_a_token_is_asked_for_where_there_is_one(tmp_path):
    (tmp_path / "token").write_text("correct horse battery\n")
    plan = plan_in(tmp_path, token_file="token")
    open_to_all = [("GET", "/openapi.json"), HEALTH]
    for wrong in ("", "correct horse batterie"):
        refused = asking(plan, post("choose", OFFER), STATE, METRICS, *open_to_all, token=wrong)
        assert [each[0] for each in refused] == [401, 401, 401, 200, 200]
        assert refused[0][1] == {"error": "the token is missing or wrong: send Authorization: Bearer TOKEN"}
    assert [each[0] for each in asking(plan, post("choose", OFFER), STATE, token="correct horse battery")] == [200, 200]


def test_a_policy_can_be_fetched_and_used_elsewhere(tmp_path):
    [(status, data)] = asking(plan_in(tmp_path), ("GET", "/v1/policy"))
    assert status == 200
    assert fb.Policy.from_bytes(data).choose(TWO) in (0, 1)


def test_a_site_that_cannot_write_is_not_ready_and_says_so(tmp_path, monkeypatch):
    def full(*_, **__):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(fb.Site, "choose", full)
    [(status, answer)] = asking(plan_in(tmp_path), post("choose", OFFER))
    assert status == 503
    assert "No space left on device" in answer["error"]
    assert asking(plan_in(tmp_path), HEALTH) == [(200, {"alive": True, "ready": True, "trouble": ""})]


def test_counters_tell_of_decisions_and_rewards(tmp_path):
    plan = plan_in(tmp_path)
    [(_, decided)] = asking(plan, post("choose", OFFER))
    reward = {"id": decided["id"], "reward": 1.0}
    *_, (_, text) = asking(plan, post("choose", OFFER), post("learn", reward), post("learn", reward), METRICS)
    lines = text.decode().splitlines()
    assert "fedbandit_agent_choose_seconds_count 1.0" in lines
    assert 'fedbandit_agent_rewards_total{new="yes"} 1.0' in lines
    assert 'fedbandit_agent_rewards_total{new="no"} 1.0' in lines
    assert "fedbandit_agent_pending 1.0" in lines


def test_the_answers_are_plain_json(tmp_path):
    [(_, decided)] = asking(plan_in(tmp_path), post("choose", {"arms": TWO, "ids": [7, 8]}))
    assert json.dumps(decided)
    assert decided["arm"] == 7
