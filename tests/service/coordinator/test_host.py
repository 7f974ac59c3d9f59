"""One federation in a coordinator's process, with a hub that only notes what it is told."""

from __future__ import annotations

import asyncio
from types import SimpleNamespace

import numpy as np

from fedbandit.algorithms.linear.shared.messages import Welcome
from fedbandit.durable.coordinator.roster import Standing
from fedbandit.durable.journals.journal import open_journal
from fedbandit.service.coordinator import host as module
from fedbandit.service.coordinator import telling
from fedbandit.service.coordinator.fair_queue import MOST_OF_ONE
from fedbandit.service.coordinator.host import FederationHost
from fedbandit.service.coordinator.settings import FederationPlan
from fedbandit.transport.nats.door import Arrival
from fedbandit.wire import encode
from fedbandit.wire.frame import Frame, Kind
from fedbandit.wire.report import Report
from samples import pair
from samples.bad_frames import introduction
from samples.hosts import NotingHub, arrival, ask, charter, handled, host_of, raising, serve


def test_telemetry_that_raises_does_not_end_the_service(monkeypatch, caplog):
    hub = NotingHub()
    host = host_of(hub)
    for name in ("received", "report", "sent", "left_out"):
        monkeypatch.setattr(host.telemetry, name, raising)
    report = Report(1, 0, 0.0, {}).to_frame(0, 1).to_bytes()
    arrivals = [arrival(host, 1, "ask", ask(1)), arrival(host, 0, "report", report), arrival(host, 2, "ask", ask(2))]
    serve(host, arrivals, lambda: len(hub.settled) == 3)
    assert {site for site, _ in hub.sent} == {1, 2}
    assert sum("telemetry is broken" in record.getMessage() for record in caplog.records) == 1


def test_a_log_that_cannot_be_written_does_not_end_the_service(monkeypatch):
    hub = NotingHub()
    host = host_of(hub)
    monkeypatch.setattr(telling, "log", SimpleNamespace(warning=raising))
    serve(host, [arrival(host, 1, "up", b"nonsense"), arrival(host, 2, "ask", ask(2))], lambda: len(hub.settled) == 2)
    assert {site for site, _ in hub.sent} == {2}


def test_a_flood_of_one_site_is_handled_a_few_at_a_time_and_logged_once(caplog):
    hub = NotingHub()
    host = host_of(hub)
    flood = [arrival(host, 0, "up", b"nonsense") for _ in range(100)]
    groups = []
    taken = host._arrived.take
    host._arrived.take = lambda most: groups.append(taken(most)) or groups[-1]
    serve(host, [*flood, arrival(host, 1, "ask", ask(1))], lambda: len(hub.settled) == 101)
    assert [each.sender for each in groups[0]] == [0] * MOST_OF_ONE + [1]
    assert max(map(len, groups)) == MOST_OF_ONE + 1
    assert sum("frame cut short" in record.getMessage() for record in caplog.records) == 1


def test_a_round_goes_on_without_the_silent_when_its_time_is_over_and_not_before(monkeypatch):
    host = FederationHost(FederationPlan("demo", charter("sync-linucb"), deadline=10.0), "memory:", NotingHub())
    monkeypatch.setattr(host.server, "awaited", lambda: np.array([2]))
    struck = []
    monkeypatch.setattr(host.server, "deadline", lambda now: struck.append(now) or np.array([2]))
    for now in (100.0, 105.0, 109.9, 110.0):
        monkeypatch.setattr(module, "time", SimpleNamespace(time=lambda now=now: now, monotonic=lambda now=now: now))
        asyncio.run(handled(host))
    assert struck == [110.0]


def test_a_round_does_not_wait_for_sites_that_were_forgotten(monkeypatch):
    host = FederationHost(FederationPlan("demo", charter("sync-linucb")), "memory:", NotingHub())
    struck, awaited = [], [1, 2]
    monkeypatch.setattr(host.server, "awaited", lambda: np.array(awaited))
    monkeypatch.setattr(host.server, "deadline", lambda now: struck.append(now))
    for forgotten, times in ((set(), 0), ({2}, 0), ({1, 2}, 1)):
        host.server.accounts.forgotten = forgotten
        asyncio.run(handled(host))
        assert len(struck) == times
    awaited.clear()
    asyncio.run(handled(host))
    assert len(struck) == 1, "no round is open"


def test_a_clock_that_is_set_back_does_not_keep_a_round_open(monkeypatch):
    """A round is opened, the clock goes back by an hour, and the deadline strikes all the same."""
    hub = NotingHub()
    plan = FederationPlan("demo", charter("sync-linucb", sync_threshold=0.01), deadline=0.2)
    host = FederationHost(plan, "memory:", hub)
    wall = SimpleNamespace(time=module.time.time, monotonic=module.time.monotonic)
    monkeypatch.setattr(module, "time", wall)
    real = wall.time
    monkeypatch.setattr(host.server, "awaited", lambda: np.array([2]))
    struck = []

    def strike(now):
        struck.append(now)
        host.server.awaited = lambda: np.array([], dtype=int)
        return np.array([2])

    monkeypatch.setattr(host.server, "deadline", strike)

    def set_back():
        if hub.settled:
            wall.time = lambda: real() - 3600.0
        return bool(struck)

    serve(host, [arrival(host, 1, "up", b"x")], set_back)
    assert struck


def test_what_arrives_is_handled_at_once():
    async def attempt():
        host = host_of(NotingHub())
        await host.open()
        waiting = asyncio.ensure_future(host._group())
        await asyncio.sleep(0)
        host._hub.door.arrive(arrival(host, 0, "ask", ask(0)))
        for _ in range(10):  # of all that can be done without waiting
            await asyncio.sleep(0)
        assert waiting.done()

    asyncio.run(attempt())


def test_a_coordinator_that_starts_again_sends_every_site_its_latest_download(tmp_path):
    of = pair.charter()
    first = FederationHost(FederationPlan("demo", of), str(tmp_path), NotingHub())
    sites = [pair.open_site(of, number) for number in range(2)]
    for seed, site in enumerate(sites):
        pair.turn(site, seed)
    pair.exchange(first.server, sites)
    first.close()
    hub = NotingHub()
    again = FederationHost(FederationPlan("demo", of), str(tmp_path), hub)
    asyncio.run(again.open())
    again.close()
    assert {site for site, data in hub.sent if Frame.from_bytes(data).kind is Kind.DOWNLOAD} == {0, 1}


def test_frames_of_no_site_change_nothing(caplog):
    hub = NotingHub()
    host = host_of(hub)
    frame = Frame(Kind.VOID, 1, 1, 1).to_bytes()
    strange = Arrival(None, frame, SimpleNamespace(subject="fedbandit.demo.up.2.1", reply="somewhere"))
    serve(host, [strange], lambda: hub.settled)
    assert hub.sent == []
    assert "refused what came under fedbandit.demo.up.2.1" in caplog.text


def test_a_question_is_no_upload_on_the_status_page():
    hub = NotingHub()
    lean = charter("lean-linucb")
    host = FederationHost(FederationPlan("demo", lean), "memory:", hub)
    frames = {"ask": introduction(1, lean), "up": Frame(Kind.UPLOAD, 1, 1, 1, encode(Welcome()))}
    serve(host, [arrival(host, 1, *each) for each in as_bytes(frames)], lambda: len(hub.settled) == 2)
    totals = host.telemetry.totals()
    assert (totals["uploads"], totals["refused"]) == (0, 0)
    assert totals["bytes_up"] == sum(len(data) for _, data in as_bytes(frames))


def as_bytes(frames):
    return [(what, frame.to_bytes()) for what, frame in frames.items()]


def test_sites_that_sent_something_before_there_was_a_roster_stand_in_it_under_their_numbers(tmp_path):
    agreed = pair.charter(sites=3)
    journal = open_journal(str(tmp_path), "demo")
    server, sites = pair.open_server(agreed, journal), [pair.open_site(agreed, number) for number in (2, 1)]
    for site in sites:
        pair.turn(site)
        pair.to_server(server, site.commit())
    server.commit()
    journal.close()
    host = FederationHost(FederationPlan("demo", agreed), str(tmp_path), NotingHub(), has_roster=True)
    assert [(each.name, each.number, each.standing) for each in host.roster.members.values()] == [
        ("1", 1, Standing.JOINED), ("2", 2, Standing.JOINED),
    ]  # fmt: skip
    host.close()
