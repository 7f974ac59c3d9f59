"""What a site sees of its own predictions, rewards and values while it runs."""

from __future__ import annotations

import logging

import numpy as np
import pytest

import fedbandit as fb
from fedbandit.logs.watching import watched
from fedbandit.site.predictions import SPARE
from fedbandit.wire.frame import Frame, Kind
from fedbandit.wire.report import Report

ARMS = np.array([[1.0, 0.0], [0.6, 0.8]])


def play(site, rng, turns, mean):
    for _ in range(turns):
        site.learn(site.choose(ARMS), mean + 0.2 * float(rng.standard_normal()))


def last_report(site):
    (frame,) = [each for each in map(Frame.from_bytes, site.everything()) if each.kind is Kind.REPORT]
    return Report.from_frame(frame)


def test_a_site_warns_of_drift_and_reports_the_alarm_but_not_its_data(caplog):
    rng = np.random.default_rng(0)
    site = fb.Site("async-linucb", dimension=2, report=True, explore=0.1)
    play(site, rng, 1500, mean=0.5)
    assert site.watch.alarms == {}
    assert last_report(site).drift == {}
    assert site.watch.mean_reward == pytest.approx(0.5, abs=0.03)
    with caplog.at_level(logging.WARNING, "fedbandit.site"):
        play(site, rng, 500, mean=0.1)
    assert site.watch.alarms == {"rewards": len(caplog.messages)}
    assert caplog.messages[0].startswith("rewards have been lower than predicted for some time")
    assert last_report(site).drift == site.watch.alarms


def test_a_site_sees_what_its_log_tells_later(tmp_path):
    rng = np.random.default_rng(1)
    site = fb.Site("async-linucb", dimension=2, log=tmp_path, explore=0.3)
    play(site, rng, 900, mean=0.5)
    play(site, rng, 500, mean=-0.5)
    later, alarms = watched(tmp_path)
    assert site.watch.alarms == later.alarms == {"rewards": len(alarms)}
    assert site.watch.calibration.groups() == later.calibration.groups()
    seen = [(each.rows, each.mean_predicted, each.mean_reward, each.explored) for each in (site.watch, later)]
    assert seen[0] == seen[1]


def test_strange_values_are_warned_of_once(caplog):
    site = fb.Site(
        "async-linucb", features=fb.Features({"arm": {"price": {"kind": "number", "range": [0, 500]}}}), report=True
    )
    with caplog.at_level(logging.WARNING, "fedbandit.site"):
        for turn in range(2000):
            site.choose([{"price": turn % 500}, {"price": 100 if turn < 600 else 501}])
    assert len(caplog.messages) == 1
    assert "of the values of price are clipped, unknown or missing, and 0.0% were at first" in caplog.messages[0]
    assert site.watch.alarms == {"values": 1}


def test_nobody_watches_where_nothing_is_logged_or_reported():
    assert fb.Site("async-linucb", dimension=2).watch is None


def test_predictions_of_decisions_that_have_ended_are_not_kept_for_ever():
    site = fb.Site("async-linucb", dimension=2, report=True)
    for _ in range(SPARE + 100):
        site.give_up(site.choose(ARMS))
    assert len(site._predictions._made) <= SPARE
