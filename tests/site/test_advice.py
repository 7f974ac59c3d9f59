"""What an algorithm would have whoever runs a site know stands in the site's log, once."""

import logging

import numpy as np
import pytest

import fedbandit as fb


@pytest.fixture
def told(caplog):
    """Let a site decide and learn on arms of which some features are always 0; return what its log says."""

    def run(site, rewards, zeros):
        rng = np.random.default_rng(0)
        with caplog.at_level(logging.WARNING, "fedbandit.site"):
            for _ in range(rewards):
                arms = rng.standard_normal((4, 3)) / 3
                arms[:, zeros] = 0.0
                site.learn(site.choose(arms).id, rng.random())
        return [record.getMessage() for record in caplog.records]

    return run


def test_a_site_whose_features_never_reach_full_rank_is_told_once_and_how_to_go_on(told):
    with fb.Site("async-linucb-am", dimension=3, clients=2, number=1) as site:
        assert told(site, 11, zeros=[2]) == []
        (warning,) = told(site, 30, zeros=[2])
    assert warning == (
        "async-linucb-am has not started: after 12 turns the arms chosen have rank 2 of 3, so it still decides by "
        "plain LinUCB and uploads nothing. Leave out features that are always 0 or follow from others, or run "
        "async-linucb, which needs no full rank"
    )


def test_a_site_that_has_started_is_told_nothing(told):
    with fb.Site("async-linucb-am", dimension=3, clients=2, number=1) as site:
        assert told(site, 30, zeros=[]) == []


def test_whoever_hears_the_warning_may_ask_the_site(told):
    with fb.Site("async-linucb-am", dimension=3) as site:
        asked = []
        handler = logging.Handler()
        handler.emit = lambda record: asked.append(site.pending)
        log = logging.getLogger("fedbandit.site")
        log.addHandler(handler)
        try:
            told(site, 12, zeros=[0])
        finally:
            log.removeHandler(handler)
        assert asked == [0]
