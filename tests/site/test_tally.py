"""The aggregate counters that a site reports if it opted in, and that it sends nothing of the kind if it did not."""

from __future__ import annotations

import numpy as np
import pytest

import fedbandit as fb
from fedbandit.core.errors import ProtocolError
from fedbandit.site.tally import Tally
from fedbandit.wire.frame import Frame, Kind
from fedbandit.wire.report import LONGEST_NAME, MOST_ARMS, OTHERS, Report
from fedbandit.wire.watched import Controlled

ARMS = np.eye(3)


def reports(site):
    frames = [Frame.from_bytes(data) for data in site.everything()]
    return [Report.from_frame(frame) for frame in frames if frame.kind is Kind.REPORT]


def test_a_site_reports_nothing_unless_it_is_told_to():
    site = fb.Site("async-linucb", dimension=3)
    site.learn(site.choose(ARMS), 1.0)
    assert reports(site) == []


def test_a_site_that_opts_in_reports_counts_and_sums_and_nothing_else():
    site = fb.Site("async-linucb", dimension=3, report=True)
    chosen = [site.choose(ARMS, ids=["red", "green", "blue"]) for _ in range(5)]
    for decision in chosen[:3]:
        site.learn(decision, 0.5)
        site.learn(decision, 0.5)  # a repeated reward counts once
    (report,) = reports(site)
    assert (report.decisions, report.rewards, report.reward_sum) == (5, 3, 1.5)
    assert report.arms == {arm: sum(each.arm == arm for each in chosen) for arm in report.arms}


def test_a_site_that_opts_in_tells_what_it_has_watched():
    site = fb.Site("async-linucb", dimension=3, report=True, explore=0.5)
    old, rewards, predicted = site.policy(), [], []
    for turn in range(60):
        decision = site.choose(ARMS)
        predicted.append(site._predictions._made[decision.id])
        rewards.append(float(turn % 3))
        site.learn(decision, rewards[-1])
    site.choose(ARMS)
    (watched,) = [report.watched for report in reports(site)]
    off = np.array(rewards) - predicted
    assert (watched.rows, watched.known) == (60, 61)
    assert watched.means == pytest.approx((np.mean(predicted), 1.0, off.std(ddof=1) / np.sqrt(60)))
    assert watched.explored / watched.known == site.watch.explored
    assert watched.control is None
    site.control(old, share=0.5)
    assert reports(site)[0].watched.control == Controlled(0.5, 0, 0, None, None)
    for turn in range(400):
        site.learn(site.choose(ARMS), float(turn % 2))
    control, found = reports(site)[0].watched.control, site.comparison
    assert (control.without, control.with_control) == (found.rewards[False], found.rewards[True])
    assert (control.difference, control.interval) == (found.difference, found.interval)


def test_both_arms_of_a_duel_are_counted():
    tally = Tally(0, 1)
    tally.chose(("red", "blue"))
    tally.chose(("red", "red"))
    assert Report.from_frame(tally.report()).arms == {"red": 3, "blue": 1}


def test_many_arms_are_counted_together_and_long_names_are_cut():
    tally = Tally(0, 1)
    for number in range(MOST_ARMS + 10):
        tally.chose(f"{number} " + "é" * 100)
    report = Report.from_frame(tally.report())
    assert report.arms[OTHERS] == 10
    assert max(len(name.encode()) for name in report.arms) <= LONGEST_NAME


CONTROL = Controlled(0.5, 0, 0, None, None).to_bytes()
GOOD = Report(3, 2, 1.0, {"red": 2, "blue": 1})


def frame(report=GOOD, sequence=None, body=None):
    made = report.to_frame(0, 1)
    return Frame(
        Kind.REPORT, 0, 1, made.sequence if sequence is None else sequence, made.body if body is None else body
    )


@pytest.mark.parametrize(
    ("bad", "reason"),
    [
        (frame(body=b""), "cut short"),
        (frame(body=GOOD.to_frame(0, 1).body[:-1]), "cut short"),
        (frame(body=GOOD.to_frame(0, 1).body + b"x"), "cut short"),
        (frame(body=GOOD.to_frame(0, 1).body + bytes(17)), "cut short"),
        (frame(body=GOOD.to_frame(0, 1).body + bytes(16 + 48 + 1)), "cut short"),
        (frame(body=GOOD.to_frame(0, 1).body + bytes(16 + 48) + CONTROL + b"x"), "after its end"),
        (frame(body=GOOD.to_frame(0, 1).body + b"\xff" * 16), "speaks of"),
        (frame(sequence=9), "speaks of"),
        (frame(Report(3, 2, 1.0, {"red": 2})), "counts 2 arms"),
        (frame(Report(3, 2, float("nan"), {"red": 3})), "sum of"),
        (frame(Report(3, 0, 1.0, {"red": 3})), "sum of"),
        (frame(Report(1, 1, 1.0, {"re\nd": 1})), "cannot be printed"),
        (frame(Report(1, 1, 1.0, {"r" * 41: 1})), "41 bytes"),
        (frame(Report(40, 1, 1.0, {str(each): 1 for each in range(40)})), "40 arms"),
        (frame(body=GOOD.to_frame(0, 1).body.replace(b"red", b"\xff\xff\xff")), "UTF-8"),
    ],
)
def test_a_report_that_no_site_can_have_made_is_refused(bad, reason):
    with pytest.raises(ProtocolError, match=reason):
        Report.from_frame(bad)
