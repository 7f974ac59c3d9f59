"""Sites that begin with a past: rows of a log, each learnt from exactly once, whatever interrupts it."""

from __future__ import annotations

import numpy as np
import pytest

import fedbandit as fb
from fedbandit.site import bookkeeping
from fedbandit.wire.state import encode_state
from samples.pair import charter, exchange, open_server

ROWS, ARMS, DIMENSION = 200, 3, 4


def past(rows=ROWS, sites=1, seed=0, **more):
    rng = np.random.default_rng(seed)
    arms = rng.integers(-8, 9, (rows, ARMS, DIMENSION)) / 32
    choice, reward = rng.integers(ARMS, size=rows), rng.integers(0, 2, rows).astype(float)
    return fb.Log.from_arrays(site=rng.integers(sites, size=rows), arms=arms, choice=choice, reward=reward, **more)


def open_site(algorithm="async-linucb", **more):
    return fb.Site(algorithm, **{"dimension": DIMENSION, "arms": ARMS, "fresh": 1, **more})


def state(site):
    return encode_state(site.node.life.node.state)


def taught(site, log):
    """Let a site learn from a log as if it had chosen that itself."""
    for row in range(len(log)):
        chosen = log.vectors[row, log.choice[row]]
        site.learn(site.choose(chosen[np.newaxis]), log.reward[row])
    return site


@pytest.mark.parametrize("algorithm", ["async-linucb", "lean-linucb", "n-ucb-glm", "clustered-linucb"])
def test_a_past_is_learnt_as_if_the_site_had_decided_so_itself(algorithm):
    log, site, other = past(), open_site(algorithm), open_site(algorithm)
    assert site.warm_start(log) == ROWS
    taught(other, log)
    if algorithm == "lean-linucb":  # which also notes when it has asked, and a past asks nothing
        rows, others = site.node.life.node.state.rows, other.node.life.node.state.rows
        assert (rows.gram[0].tolist(), rows.moment[0].tolist()) == (others.gram[0].tolist(), others.moment[0].tolist())
    else:
        assert state(site) == state(other)
    assert site.unsent == other.unsent or algorithm == "lean-linucb"


def test_a_past_counts_once_however_often_it_is_given(tmp_path):
    log = past()
    with open_site(store=tmp_path / "site.db") as site:
        assert (site.warm_start(log), site.warm_start(log)) == (ROWS, 0)
        site.learn(site.choose(np.eye(DIMENSION)), 1.0)
        assert site.warm_start(log) == 0
        before = state(site)
    with open_site(store=tmp_path / "site.db", fresh=2) as site:
        assert site.warm_start(log) == 0
        assert state(site) == before


@pytest.mark.parametrize("ends_at", [1, 63, 64, 65, 130, 199])
@pytest.mark.parametrize("snapshot_every", [40, 512])
def test_a_site_that_ends_in_the_middle_goes_on_there(tmp_path, monkeypatch, ends_at, snapshot_every):
    log = past()
    whole = open_site()
    whole.warm_start(log)
    site = open_site(store=tmp_path / "site.db")
    site.node.snapshot_every = snapshot_every
    recall, done = site.node.recall, []

    def interrupted(*row):
        if len(done) == ends_at:
            raise KeyboardInterrupt
        done.append(row)
        recall(*row)

    monkeypatch.setattr(site.node, "recall", interrupted)
    with pytest.raises(KeyboardInterrupt):
        site.warm_start(log)
    site.node.journal.rollback()  # what was not written yet is lost, as if the process had been killed
    site.close()
    kept = ends_at // bookkeeping.AT_ONCE * bookkeeping.AT_ONCE
    with open_site(store=tmp_path / "site.db", fresh=2) as site:
        assert site.warm_start(log) == ROWS - kept
        assert state(site) == state(whole)
        assert site.node.life.past[1] == ROWS


def test_rows_of_a_past_wait_their_turn_where_messages_flow_in_rounds():
    of = charter("sync-linucb", sites=2, sync_threshold=0.01)
    sites = [fb.Site(of.algorithm, dimension=3, arms=2, clients=2, number=number, horizon=100) for number in range(2)]
    rng = np.random.default_rng(1)
    log = fb.Log.from_arrays(
        site=[0] * 40, arms=rng.integers(-4, 5, (40, 2, 3)) / 16, choice=[0] * 40, reward=np.ones(40)
    )
    assert [site.warm_start(log) for site in sites] == [40, 40]
    server = open_server(of)
    exchange(server, [site.node for site in sites])
    assert [site.node.life.node.state.rows.turns.tolist() for site in sites] == [[40], [40]]
    assert not any(site.pending for site in sites)


def test_the_rows_of_one_of_several_sites_are_a_past():
    log = past(sites=3)
    own = log.take(np.flatnonzero(log.site == 1))
    one, other = open_site(), open_site()
    assert one.warm_start(log, site="1") == other.warm_start(own) == len(own)
    assert state(one) == state(other)


def test_old_rows_count_for_less_where_the_federation_forgets():
    log = past(rows=4, time=[0.0, 60.0, 120.0, 180.0])
    site = open_site(discount=0.5, epoch_seconds=60, clock=lambda: 200.0, upload_threshold=np.inf)
    site.warm_start(log)
    chosen = log.vectors[np.arange(4), log.choice]
    weights = np.array([0.125, 0.25, 0.5, 1.0])
    expected = (weights * log.reward) @ chosen
    np.testing.assert_allclose(site.node.life.node.state.rows.moment[0], expected, atol=1e-15)


def test_a_log_of_values_is_encoded_by_the_features_of_the_site(tmp_path):
    features = fb.Features({"arm": {"price": {"kind": "number", "range": [0, 500]}}})
    source = fb.Site("async-linucb", features=features, log=tmp_path)
    for turn in range(20):
        source.learn(source.choose([{"price": turn}, {"price": 20 * turn}]), float(turn % 2))
    site = fb.Site("async-linucb", features=features)
    assert site.warm_start(fb.Log.read(tmp_path)) == 20
    assert site.node.life.node.state.rows.gram.tolist() == source.node.life.node.state.rows.gram.tolist()


def refused(words, log, prepare=lambda site: None, **more):
    site = open_site(**more)
    prepare(site)
    before = state(site)
    with pytest.raises(fb.InvalidInput, match=words):
        site.warm_start(log)
    assert state(site) == before


def test_what_cannot_be_a_past_is_refused_and_changes_nothing():
    log = past()
    refused("it has rows of several sites: give site as one of 0, 1", past(sites=2))
    refused("row 5 of the log: reward 9 is farther from 0 than the limit of 1", with_reward(log, 4, 9.0),
            limits={"reward": 1.0})  # fmt: skip
    refused("has made 1 decision: a past is taken in before the first", log, lambda site: site.choose(np.eye(4)))
    refused("has learnt from 200 rows of another log", log, lambda site: site.warm_start(past(seed=1)))
    refused("vectors of dimension 4, the site 5", log, dimension=5)
    with pytest.raises(fb.InvalidInput, match="it has no rows of 'north': give site as one of 0"):
        open_site().warm_start(log, site="north")
    with pytest.raises(fb.InvalidInput, match="fldb-ogd does not learn from single arms"):
        open_site("fldb-ogd", smallest_upload=1).warm_start(log)


def with_reward(log, row, value):
    reward = log.reward.copy()
    reward[row] = value
    return fb.Log.from_arrays(site=log.site, arms=log.vectors, choice=log.choice, reward=reward)
