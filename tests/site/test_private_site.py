"""A private site as a program opens it: its ledger, its mark beside the store, and what it refuses."""

from __future__ import annotations

import shutil

import numpy as np
import pytest

import fedbandit as fb
from fedbandit.core.errors import InvalidInput
from fedbandit.protocol.charter import Charter
from samples.pair import NO_LOTS, exchange, open_server, open_site

GIVEN = {"dimension": 2, "epsilon": 2.0, "batch": 2, "releases": 4, "schedule": "own-count"}


def decide(site, turns):
    for _ in range(turns):
        site.learn(site.choose(np.array([[0.6, 0.8], [1.0, 0.0]])).id, 0.5)


def test_the_ledger_survives_a_restart_and_the_mark_stands_beside_the_store(tmp_path):
    store = tmp_path / "site.db"
    with fb.Site("private-linucb", store=store, **GIVEN) as site:
        assert site.privacy.spent == 0.0
        decide(site, 5)
        spent = site.privacy
        assert (spent.made, spent.left) == (2, 2)
        assert 0.0 < spent.spent < 2.0
        site.node.commit()
    assert (tmp_path / "site.db-releases").exists()
    with fb.Site("private-linucb", store=store, **GIVEN) as site:
        assert site.privacy == spent
        assert not site.node.is_closing


def test_a_backup_without_its_mark_is_known_as_one(tmp_path):
    store, backup = tmp_path / "site.db", tmp_path / "other" / "site.db"
    with fb.Site("private-linucb", store=store, **GIVEN) as site:
        decide(site, 3)
    backup.parent.mkdir()
    shutil.copy(store, backup)
    with fb.Site("private-linucb", store=backup, **GIVEN) as site:
        assert site.node.is_closing


def test_reports_are_refused():
    with pytest.raises(InvalidInput) as error:
        fb.Site("private-linucb", report=True, **GIVEN)
    assert str(error.value) == (
        "report=True tells counts of arms and sums of rewards without noise, which breaks the promise of "
        "private-linucb: leave it out"
    )


def test_a_past_is_refused():
    log = fb.Log.from_arrays(
        site=[0, 0, 0], arms=np.full((3, 2, 2), 0.5), choice=[0, 1, 0], reward=[0.0, 1.0, 0.0], time=[1.0, 2.0, 3.0]
    )
    with pytest.raises(InvalidInput, match="private-linucb cannot learn from a log, whose arms were chosen by what"):
        fb.Site("private-linucb", **GIVEN).warm_start(log)


def test_a_site_without_epsilon_says_so():
    with pytest.raises(InvalidInput, match="epsilon has no default: give what anybody may learn of one observation"):
        fb.Site("private-linucb", dimension=2)


def test_other_algorithms_promise_nothing():
    assert fb.Site("async-linucb", dimension=2).privacy is None


def test_a_policy_decides_as_its_site_by_the_last_download():
    of = fb.algorithm("private-linucb", **{k: v for k, v in GIVEN.items() if k != "dimension"})
    charter = Charter.named(of, fb.Setting(1, 2, 2, 100))
    server, site = open_server(charter), open_site(charter)
    offers = np.random.default_rng(5).standard_normal((60, 1, 3, 2))
    offers /= np.linalg.norm(offers, axis=-1, keepdims=True)
    for offer in offers[:10]:
        name, decided = site.choose(offer, NO_LOTS)
        site.learn(name, float(offer[0, decided.choices[0], 0]))
        exchange(server, [site])
    policy = fb.Policy(charter, 0, site.version, site.encoded_state())
    assert [policy.choose(each[0]) for each in offers] == [
        int(site.life.decide(each, NO_LOTS).choices[0]) for each in offers
    ]
