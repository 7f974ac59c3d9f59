"""Reports of sites in what a coordinator tells: totals of decisions, rewards and arms."""

from __future__ import annotations

import pytest

from fedbandit.durable.coordinator.outcome import Outcome
from fedbandit.service.status.kept import note_of, recall
from fedbandit.service.status.metrics import Metrics
from fedbandit.service.status.telemetry import Telemetry
from fedbandit.wire.report import MOST_ARMS, OTHERS
from samples.told import report, watching


def test_reports_are_totals_so_repetition_and_disorder_do_no_harm(told):
    first, second = report(2, 1, 0.5, {"red": 2}), report(5, 4, 2.0, {"red": 3, "blue": 2})
    outcomes = [told.report(each, 1.0, sender=0).outcome for each in (first, second, first, second)]
    assert outcomes == [Outcome.ACCEPTED, Outcome.ACCEPTED, Outcome.REPEATED, Outcome.REPEATED]
    now = told.snapshot(2.0)
    assert now["arms"] == {"red": 3, "blue": 2}
    assert now["arms_over_time"] == [{"at": 0, "sums": {"red": 3.0, "blue": 2.0}}]
    assert now["totals"]["reports"] == 2
    assert now["sites"][0]["reported"]["reward_sum"] == 2.0
    assert sum(each["sums"]["reward_sum"] for each in now["sites"][0]["reported"]["history"]) == 2.0
    assert now["sites"][1]["reported"] is None


def test_a_site_that_was_restarted_counts_from_nothing_and_what_it_reported_before_stays(told):
    told.report(report(5, 5, 5.0, {"red": 5}), 1.0)
    told.report(report(1, 1, 1.0, {"red": 1}, life=2), 2.0)
    assert told.snapshot(3.0)["arms"] == {"red": 6}


@pytest.mark.parametrize(
    ("frame", "sender"),
    [
        (report(1, 1, 1.0, {"red": 1}), 1),
        (report(1, 1, 1.0, {"red": 1}, client=3), None),
        (report(1, 1, float("inf"), {"red": 1}), 0),
        (b"", 0),
        (report(9, 0, 0.0, {"red": 9}), 0),
    ],
    ids=["in another's name", "not on the roster", "not finite", "empty", "less than before"],
)
def test_a_report_that_is_refused_changes_no_counter(told, frame, sender):
    told.report(report(5, 3, 1.0, {"red": 5}), 1.0)
    before = told.snapshot(2.0)["sites"][0]["reported"]
    verdict = told.report(frame, 2.0, sender=sender)
    assert verdict.outcome is Outcome.REFUSED
    assert verdict.reason
    assert told.snapshot(2.0)["sites"][0]["reported"] == before
    assert told.totals()["refused"] == 1


def test_arms_beyond_the_first_are_counted_together(told):
    for client in range(3):
        arms = {f"{client}-{arm}": 1 for arm in range(MOST_ARMS)}
        told.report(report(MOST_ARMS, 0, 0.0, arms, client=client), 1.0)
    assert told.snapshot(2.0)["arms"][OTHERS] == 2 * MOST_ARMS


def test_only_the_first_sites_that_report_have_a_history_of_their_own():
    told = Telemetry("clinics", "async-linucb", clients=100, now=0.0)
    for client in range(100):
        told.report(report(1, 1, 0.5, {"red": 1}, client=client), 1.0)
    now = told.snapshot(2.0)
    assert sum(bool(each["reported"]["history"]) for each in now["sites"]) == 12
    sums = {"decisions": 100.0, "rewards": 100.0, "reward_sum": 50.0}
    assert now["rewards_over_time"] == [{"at": 0, "sums": sums}]


def test_alarms_of_drift_are_a_concern_for_a_day_and_a_metric(told):
    told.report(report(9, 9, 1.0, {"red": 9}), 1.0, sender=0)
    told.report(report(10, 10, 1.0, {"red": 10}, drift={"rewards": 1}), 2.0, sender=0)
    told.report(report(11, 11, 1.0, {"red": 11}, drift={"rewards": 1}), 3.0, sender=0)
    (concern,) = told.watch.concerns
    assert (concern.kind, concern.site, concern.since) == ("site-drift", 0, 2.0)
    assert concern.text == "site 0 reports drift of its rewards: see there what has changed (fedbandit watch)"
    assert told.snapshot(3.0)["sites"][0]["reported"]["drift"] == {"rewards": 1}
    text = Metrics([told], clock=lambda: 3.0).text().decode()
    assert f'fedbandit_site_drift{{federation="{told.name}",kind="rewards",site="north"}} 1.0' in text
    told.watch.look({}, 2.0 + 86_401.0)
    assert list(told.watch.concerns) == []


def test_a_report_with_fewer_alarms_than_before_is_refused(told):
    told.report(report(9, 9, 1.0, {"red": 9}, drift={"values": 2}), 1.0, sender=0)
    verdict = told.report(report(10, 10, 1.0, {"red": 10}, drift={"values": 1, "rewards": 4}), 2.0, sender=0)
    assert verdict.outcome is Outcome.REFUSED
    assert [each.text for each in told.watch.concerns if "rewards" in each.text] == []


def test_what_sites_watch_is_told_and_is_a_metric():
    told = watching()
    north, south, east = (each["reported"] and each["reported"]["watched"] for each in told.snapshot(1000.0)["sites"])
    assert north["control"]["interval"] == (0.0104, 0.0721)
    assert (north["predicted"], north["reward"], north["explored"]) == (0.52, 0.49, 0.04)
    assert (south["control"], south["explored"], east) == (None, None, None)
    text = Metrics([told], clock=lambda: 1000.0).text().decode()
    told_of_north = {
        "reward_predicted": 0.52, "reward_received": 0.49, "explored": 0.04, "control_share": 0.1,
        "control_difference": 0.0412, "control_difference_low": 0.0104, "control_difference_high": 0.0721,
    }  # fmt: skip
    for name, number in told_of_north.items():
        assert f'fedbandit_site_{name}{{federation="clinics",site="north"}} {number}\n' in text
    assert 'fedbandit_site_reward_predicted{federation="clinics",site="south"} 0.5\n' in text
    assert 'fedbandit_site_explored{federation="clinics",site="south"}' not in text


def test_what_sites_watch_is_kept_across_starts_of_a_coordinator():
    told = watching()
    again = Telemetry("clinics", "async-linucb", clients=3, now=0.0, names=["north", "south", "east"])
    assert recall(again, note_of(told))
    assert again.reports.sites[0].last == told.reports.sites[0].last
