"""A part of a site's decisions goes to another policy: who decides, how likely it was, and what is made of it."""

from __future__ import annotations

import json
from collections import Counter

import numpy as np
import pytest
from typer.testing import CliRunner

import fedbandit as fb
from fedbandit.cli.main import app
from fedbandit.logs.watching import watched
from fedbandit.wire.state import encode_state
from samples.pair import charter, open_server
from samples.revising import revise

EYE = np.eye(3)
MEANS = [0.1, 0.8, 0.3]


def open_site(**more):
    return fb.Site("async-linucb", **{"dimension": 3, "fresh": 1, **more})


def teach(site, means, turns, rng):
    for _ in range(turns):
        decision = site.choose(EYE)
        site.learn(decision, float(rng.random() < means[decision.arm]))


def old_policy(means=(0.9, 0.1, 0.1), **more):
    site = open_site(**more)
    teach(site, means, 300, np.random.default_rng(0))
    return site.policy()


@pytest.mark.parametrize("explore", [0.0, 0.3])
def test_propensities_are_those_of_both_policies_together(explore):
    policy = old_policy(explore=explore)
    site = open_site(explore=explore)
    teach(site, MEANS, 300, np.random.default_rng(1))
    site.freeze()  # so that chances stay as they are
    own, others = site.policy().chances(EYE), policy.chances(EYE)
    site.control(policy, share=0.25)
    decisions = [site.choose(EYE) for _ in range(3000)]
    expected = 0.75 * own + 0.25 * others
    counts = Counter(decision.arm for decision in decisions)
    for decision in decisions:
        assert decision.propensity == pytest.approx(expected[decision.arm], rel=1e-12)
    for arm, chance in enumerate(expected):
        assert abs(counts[arm] / 3000 - chance) < 4 * np.sqrt(max(chance * (1 - chance), 1e-9) / 3000) + 1e-12


def test_choices_of_unknown_propensity_have_none():
    site = open_site(exploration="thompson")
    site.control(old_policy(), share=0.5)
    assert {site.choose(EYE).propensity for _ in range(20)} == {None}


def test_the_site_learns_from_all_decisions_and_recovers_them(tmp_path):
    rng = np.random.default_rng(2)
    with open_site(store=tmp_path / "site.db") as site:
        site.control(old_policy(), share=0.5)
        teach(site, MEANS, 100, rng)
        known = encode_state(site.node.life.node.state)
        assert site.node.life.node.state.rows.turns[0] == 100
    with open_site(store=tmp_path / "site.db", fresh=2) as site:
        assert encode_state(site.node.life.node.state) == known
        assert site.comparison is None


def test_the_running_difference_is_that_of_the_log(tmp_path):
    rng = np.random.default_rng(3)
    site = open_site(log=tmp_path / "decisions", explore=0.1)
    teach(site, MEANS, 400, rng)
    site.control(old_policy(explore=0.1), share=0.3)
    teach(site, MEANS, 2500, rng)
    low, high = site.comparison.interval
    assert 0 < low < 0.65 < high
    found, _ = watched(tmp_path / "decisions")
    assert (found.comparison.difference, found.comparison.interval) == (site.comparison.difference, (low, high))
    (path,) = (tmp_path / "decisions").iterdir()
    rows = [json.loads(line) for line in path.read_text().splitlines()]
    assert "control" not in rows[0]
    assert {row["control_share"] for row in rows[400:]} == {0.3}
    assert sum(row["control"] for row in rows[400:]) == site.comparison.rewards[True]
    result = CliRunner().invoke(app, ["watch", str(tmp_path / "decisions")])
    assert "control has 30.0% of the decisions; without it a decision earns +0." in " ".join(result.stdout.split())
    log = fb.Log.read(tmp_path / "decisions")
    assert list(log.context) == []
    terms = (log.choice == 1) * log.reward / log.propensity  # weights of the mixture bring back the mean of an arm
    assert abs(terms.mean() - 0.8) < 4 * terms.std() / np.sqrt(len(log))


@pytest.mark.parametrize("share", [0, 1, 1.5, -0.1, True, "half", float("nan")])
def test_a_share_that_is_none_is_refused(share):
    site = open_site()
    with pytest.raises(fb.InvalidInput, match="share must be above 0 and below 1, not"):
        site.control(site.policy(), share=share)
    assert site.comparison is None


def test_a_policy_that_cannot_decide_here_is_refused():
    site = open_site()
    with pytest.raises(fb.InvalidInput, match="dimension of the policy is 2, and of the site 3"):
        site.control(fb.Site("async-linucb", dimension=2).policy())
    with pytest.raises(fb.InvalidInput, match="duels have no rewards to compare"):
        site.control(fb.Site("fldb-ogd", dimension=3, smallest_upload=1).policy())
    lasso = fb.Site("lasso-bandit", dimension=3, arms=3).policy()
    with pytest.raises(fb.InvalidInput, match="shares_context of the policy is True"):
        site.control(lasso)


def test_arms_that_share_a_context_can_be_controlled():
    site = fb.Site("lasso-bandit", dimension=3, arms=3)
    site.control(fb.Site("lasso-bandit", dimension=3, arms=3).policy(), share=0.5)
    for _ in range(20):
        decision = site.choose([1.0, 0.0, 0.0])
        assert 0 < decision.propensity <= 1
        site.learn(decision, 1.0)
    assert sum(site.comparison.rewards.values()) == 20


def test_a_control_that_does_not_fit_a_revised_charter_decides_no_more(caplog):
    of = charter()
    server = open_server(of)
    site = fb.Site(of.algorithm, dimension=3, arms=2, clients=2, horizon=100)
    site.control(site.policy(), share=0.5)
    for values, is_controlled in (({"upload_threshold": 5.0}, True), ({"dimension": 4}, False)):
        revise(server, values)
        for frame in site.everything():
            server.receive(frame, 0.0, 0)
        for frame in [frame for number, frame in server.commit() if number == 0]:
            site.hear(frame)
        assert (site.comparison is not None) == is_controlled
        for _ in range(10):
            site.learn(site.choose(np.eye(3)), 1.0)
    assert caplog.messages == [
        "there is no control any more: dimension of the policy is 3, and of the site 4: give a policy that decides "
        "between the same arms"
    ]
