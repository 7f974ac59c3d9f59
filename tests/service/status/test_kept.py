"""The status page goes on where an earlier start of the coordinator has left it."""

from __future__ import annotations

import json
import zlib

import pytest

from fedbandit.durable.coordinator.outcome import Outcome, Verdict
from fedbandit.durable.journals.journal import open_journal
from fedbandit.service.coordinator.host import FederationHost
from fedbandit.service.coordinator.settings import FederationPlan
from fedbandit.service.status import kept
from fedbandit.service.status.history import SPANS
from fedbandit.service.status.kept import note_of, recall
from fedbandit.service.status.telemetry import Telemetry
from fedbandit.wire.report import Report
from samples.hosts import NotingHub, arrival, ask, charter, serve
from samples.told import busy, upload

NOW = 1000.0


def eventful():
    told = busy(names=["north", "south", "east"])
    told.received(upload(1), Verdict(Outcome.REFUSED, "gram has a number of size 1e+120"), NOW, sender=1)
    told.received(upload(7), Verdict(Outcome.REFUSED, "site 7 is not on the roster"), NOW, sender=7)
    told.left_out([2], NOW - 30)
    return told


def begun(clients=3, names=("north", "south", "east")):
    return Telemetry("clinics", "async-linucb", clients, now=5 * NOW, names=names)


@pytest.mark.parametrize("span", SPANS)
def test_all_that_is_shown_is_shown_again(span):
    told, again = eventful(), begun()
    told.watch.concerns.open.clear()  # they are found again, or are over
    told.watch._backlogs.clear()  # sites tell them with their next question
    assert recall(again, note_of(told))
    assert again.snapshot(NOW, span) == told.snapshot(NOW, span)


def test_a_report_after_it_counts_what_is_new_in_it_and_no_more():
    told, again = eventful(), begun()
    assert recall(again, note_of(told))
    last = again.reports.sites[0]
    before = again.reports.chosen.copy()
    arms = {name: count + 1 for name, count in last.last.arms.items()}
    more = Report(last.last.decisions + len(arms), last.last.rewards, last.last.reward_sum, arms)
    again.report(more.to_frame(0, last.life).to_bytes(), NOW + 1)
    assert {name: again.reports.chosen[name] - before[name] for name in arms} == dict.fromkeys(arms, 1)


def test_a_federation_that_has_grown_keeps_what_it_knows():
    again = begun(clients=5, names=())
    assert recall(again, note_of(eventful()))
    assert [site.uploads for site in again.sites] == [60, 60, 60, 0, 0]
    assert again.strangers.refused == 1


def without(name):
    memory = json.loads(zlib.decompress(note_of(eventful())))
    del memory[name]
    return zlib.compress(json.dumps(memory).encode())


@pytest.mark.parametrize(
    "note",
    [
        b"", b"nonsense", zlib.compress(b"nonsense"), zlib.compress(b"[]"), zlib.compress(b'{"format": 99}'),
        note_of(eventful())[:-10], *map(without, ("began", "sites", "traffic", "reports", "refusals", "version")),
    ],
)  # fmt: skip
def test_a_note_that_cannot_be_read_changes_nothing(note):
    again = begun()
    assert not recall(again, note)
    assert again.snapshot(5 * NOW) == begun().snapshot(5 * NOW)


def test_a_note_that_is_too_large_leaves_out_the_traffic_of_single_sites_and_then_what_they_report(monkeypatch):
    note, left = note_of(eventful()), []
    for _ in range(2):
        monkeypatch.setattr(kept, "LARGEST", len(note) - 1)
        before, note, again = len(note), note_of(eventful()), begun()
        assert len(note) < before
        assert recall(again, note)
        assert again.totals()["uploads"] == 180
        assert again.traffic.sites == {}
        left.append(len(again.reports.sites))
    assert left == [2, 0]


@pytest.mark.parametrize("where", ["files", "database", "memory"])
def test_a_journal_keeps_the_last_note_beside_its_records(where, tmp_path, request):
    url = {"files": str(tmp_path), "memory": "memory:"}.get(where) or request.getfixturevalue("postgres_url")
    journal = open_journal(url, "noted")
    assert journal.noted() is None
    journal.append(b"record")
    journal.note(b"first")
    journal.note(b"second")
    if where != "memory":
        journal.close()
        journal = open_journal(url, "noted")
    assert journal.noted() == b"second"
    assert [entry.data for entry in journal.records()] == [b"record"]
    journal.close()


def test_a_coordinator_that_is_started_again_shows_what_it_has_shown(tmp_path):
    def host():
        return FederationHost(FederationPlan("demo", charter()), str(tmp_path), NotingHub())

    first = host()
    serve(first, [arrival(first, 1, "ask", ask(1))], lambda: first._hub.settled)
    first.close()
    second = host()
    assert second.telemetry.sites[1].bytes_up == first.telemetry.sites[1].bytes_up > 0
    assert second.telemetry.began == first.telemetry.began
    second.close()


def test_a_note_that_cannot_be_read_does_not_keep_a_coordinator_from_serving(tmp_path, caplog):
    journal = open_journal(str(tmp_path), "demo")
    journal.note(b"nonsense")
    journal.close()
    caplog.set_level("INFO")
    FederationHost(FederationPlan("demo", charter()), str(tmp_path), NotingHub()).close()
    assert "demo: the status page begins anew" in caplog.text


def test_what_has_happened_is_told_on_for_as_long_as_it_lasts_and_what_is_looked_at_again_is_not():
    told, again = eventful(), begun()
    told.watch.reported(2, {"rewards": 3}, NOW)
    told.watch.waiting(0, 5000, NOW)  # it tells so again with its next question
    told.watch.uploaded(2, Verdict(Outcome.NOT_YET, "ask first"), NOW)
    told.watch.uploaded(2, Verdict(Outcome.NOT_YET, "ask first"), NOW + 61)
    assert {"backlog", "uploads-put-off", "uploads-refused", "site-drift"} <= {
        each.kind for each in told.watch.concerns
    }
    assert recall(again, note_of(told))
    assert [(each.kind, each.site, each.since) for each in again.watch.concerns] == [
        ("uploads-refused", 1, NOW), ("site-drift", 2, NOW)
    ]  # fmt: skip
    again.watch.look({}, NOW + 3601)
    assert [each.kind for each in again.watch.concerns] == ["site-drift"]
    again.watch.look({}, NOW + 86_401)
    assert not list(again.watch.concerns)


def test_a_concern_that_was_found_since_the_start_is_not_replaced_by_what_was_kept():
    told, again = eventful(), begun()
    again.watch.concerns.note("uploads-refused", "another", 5 * NOW, site=1, lasts=60.0)
    assert recall(again, note_of(told))
    assert [each.text for each in again.watch.concerns] == ["another"]


def test_a_note_from_before_concerns_were_kept_is_read():
    memory = json.loads(zlib.decompress(note_of(eventful())))
    del memory["concerns"]
    again = begun()
    assert recall(again, zlib.compress(json.dumps(memory).encode()))
    assert not list(again.watch.concerns)
