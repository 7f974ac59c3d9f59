"""What a site that reports has watched: it comes back as it was, and what no site can have watched is refused."""

from __future__ import annotations

import struct
from dataclasses import asdict, replace

import numpy as np
import pytest

from fedbandit.core.errors import ProtocolError
from fedbandit.wire.report import Report
from fedbandit.wire.watched import Controlled, Watched

CONTROL = Controlled(0.2, without=40, with_control=9, difference=0.25, interval=(-0.5, 1.0))
WATCHED = Watched(rows=50, predicted=20.0, reward=25.0, squares=30.0, known=80, explored=8, control=CONTROL)
REPORT = Report(100, 60, 30.0, {"red": 100}, watched=WATCHED)


def carried(report):
    return Report.from_frame(report.to_frame(client=1, life=2))


@pytest.mark.parametrize("drift", [{}, {"values": 2}])
@pytest.mark.parametrize(
    "control",
    [
        None,
        CONTROL,
        replace(CONTROL, interval=None),
        Controlled(0.5, without=0, with_control=0, difference=None, interval=None),
    ],
)
def test_what_was_watched_comes_back_as_it_was(control, drift):
    report = replace(REPORT, watched=replace(WATCHED, control=control), drift=drift)
    assert carried(report) == report
    assert Watched.from_values(asdict(report.watched)) == report.watched


def test_reports_without_it_have_the_bytes_that_they_always_had():
    plain = Report(1, 1, 0.5, {"red": 1}).to_frame(7, 1).body
    assert plain == struct.pack("<QQdBB", 1, 1, 0.5, 1, 3) + b"red" + struct.pack("<Q", 1)
    drifting = Report(1, 1, 0.5, {"red": 1}, {"values": 2}).to_frame(7, 1).body
    assert drifting == plain + struct.pack("<QQ", 0, 2)


def test_means_and_their_error_are_those_of_the_rows():
    rng = np.random.default_rng(0)
    predicted, reward = rng.random(50), rng.random(50)
    off = reward - predicted
    told = Watched(50, predicted.sum(), reward.sum(), (off**2).sum(), 0, 0)
    assert told.means == pytest.approx((predicted.mean(), reward.mean(), off.std(ddof=1) / np.sqrt(50)))
    assert replace(told, rows=1).means is None


NAN = float("nan")


@pytest.mark.parametrize(
    "bad",
    [
        {"rows": 61}, {"known": 101}, {"explored": 81}, {"predicted": NAN}, {"predicted": 1e102}, {"reward": NAN},
        {"reward": float("inf")}, {"squares": -1.0}, {"squares": NAN},
        {"control": replace(CONTROL, share=0.0)}, {"control": replace(CONTROL, share=NAN)},
        {"control": replace(CONTROL, without=52)}, {"control": replace(CONTROL, difference=NAN)},
        {"control": replace(CONTROL, interval=(0.5, 1.0))}, {"control": replace(CONTROL, interval=(NAN, 1.0))},
        {"control": replace(CONTROL, interval=(-1.0, float("inf")))},
    ],
    ids=str,
)  # fmt: skip
def test_what_no_site_can_have_watched_is_refused(bad):
    with pytest.raises(ProtocolError, match=r"report (has|speaks)"):
        carried(replace(REPORT, watched=replace(WATCHED, **bad)))


def test_a_reward_beyond_the_limit_of_the_federation_is_refused():
    frame = replace(REPORT, reward_sum=0.0).to_frame(1, 2)
    with pytest.raises(ProtocolError, match="25 as that of their rewards"):
        Report.from_frame(frame, largest_reward=0.4)


@pytest.mark.parametrize("name", ["rows", "known", "explored"])
def test_a_report_that_counts_less_than_the_one_before_it_does_not_go_on_from_it(name):
    later = replace(REPORT, watched=replace(WATCHED, **{name: getattr(WATCHED, name) - 1}))
    assert not later.goes_on_from(REPORT)
    assert REPORT.goes_on_from(later)
    assert REPORT.goes_on_from(replace(REPORT, watched=None))
