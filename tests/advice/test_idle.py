"""What idle sites say, counted at a site and a coordinator that have nothing to tell each other."""

import pytest

import fedbandit as fb
from fedbandit.advice.idle import PAUSES, bytes_of_question, idle_bytes_a_day, pause_for
from fedbandit.durable.coordinator.server import DurableServer
from fedbandit.durable.journals.journal import open_journal

FEATURES = {"arm": {"price": {"kind": "number", "range": [0, 500]}}}


@pytest.mark.parametrize("has_features", [False, True])
def test_a_question_and_its_answer_have_as_many_bytes_as_is_said(has_features, tmp_path):
    given = {"features": fb.Features(FEATURES)} if has_features else {"dimension": 3}
    with fb.Site("async-linucb", **given, clients=2, number=1) as site:
        coordinator = DurableServer(site.charter, open_journal(str(tmp_path), "demo"), epoch=1, now=0.0)
        (question,) = site.everything()
        coordinator.receive(question, now=0.0)
        ((_, answer),) = coordinator.commit()
        assert len(question) + len(answer) == bytes_of_question(has_features)
        site.hear(answer)
        assert [len(each) for each in site.everything()] == [len(question)]  # and so on


def test_idle_talk_grows_with_sites_and_falls_with_pauses():
    assert idle_bytes_a_day(10, 30.0, has_features=False) == 10 * 94 * 2880
    assert idle_bytes_a_day(10, 60.0, has_features=False) == 10 * 94 * 1440


@pytest.mark.parametrize("budget", [1e5, 1e6, 1e7, 1e9])
def test_the_pause_is_the_shortest_that_leaves_nine_tenths_of_the_budget(budget):
    every = pause_for(budget, sites=12, has_features=True)
    assert idle_bytes_a_day(12, every, has_features=True) <= budget / 10
    shorter = [each for each in PAUSES if each < every]
    assert all(idle_bytes_a_day(12, each, has_features=True) > budget / 10 for each in shorter)
