"""What goes wrong with one federation of a coordinator is told, and leaves the others alone."""

from __future__ import annotations

import asyncio
import logging

import pytest

from fedbandit.durable.journals.lease import JournalLost
from fedbandit.service.coordinator.host import FederationHost
from fedbandit.service.coordinator.settings import FederationPlan, ServicePlan
from fedbandit.service.coordinator.term import Term
from fedbandit.service.status.severity import is_grave
from samples.hosts import NotingHub, arrival, ask, charter, host_of, raising, serve
from samples.waiting import PATIENCE


def test_a_federation_that_fails_leaves_the_others_alone_and_is_told_of(monkeypatch, caplog):
    plans = tuple(FederationPlan(name, charter()) for name in ("bad", "good"))

    async def run():
        term = Term(ServicePlan(plans, journal="memory:"))
        hub = term.hub = NotingHub()
        hub.probe, hub.end_connections = nothing, nothing
        bad, good = term.hosts = [FederationHost(each, "memory:", hub) for each in plans]
        term.is_serving = True
        doors = []
        for host in term.hosts:
            await host.open()
            doors.append(hub.door)
        monkeypatch.setattr(bad.server, "receive", raising)
        serving = asyncio.ensure_future(term._serve())
        doors[0].arrive(arrival(bad, 1, "ask", ask(1)))
        async with asyncio.timeout(PATIENCE):
            while not bad.failure:
                await asyncio.sleep(0.005)
            doors[0].arrive(arrival(bad, 1, "ask", ask(1)))
            doors[1].arrive(arrival(good, 2, "ask", ask(2)))
            while not hub.settled:
                await asyncio.sleep(0.005)
        assert [each.sender for each in hub.settled] == [2], "what the failed one was sent stays with the broker"
        assert "the federation bad has failed (RuntimeError: telemetry is broken)" in term.problem()
        assert [each.kind for each in bad.server.concerns] == ["federation-failed"]
        assert list(good.server.concerns) == []
        term.stop()
        await serving

    async def nothing(*_, **__):
        return None

    with caplog.at_level(logging.INFO):
        asyncio.run(run())
    assert any("the federation bad has failed" in record.getMessage() for record in caplog.records)


def test_if_all_federations_have_failed_the_coordinator_ends_with_the_error(monkeypatch):
    plans = (FederationPlan("bad", charter()),)

    async def run():
        term = Term(ServicePlan(plans, journal="memory:"))
        hub = term.hub = NotingHub()
        hub.probe = hub.end_connections = nothing
        (bad,) = term.hosts = [FederationHost(each, "memory:", hub) for each in plans]
        await bad.open()
        monkeypatch.setattr(bad.server, "receive", raising)
        hub.door.arrive(arrival(bad, 1, "ask", ask(1)))
        with pytest.raises(RuntimeError, match="telemetry is broken"):
            await asyncio.wait_for(term._serve(), PATIENCE)

    async def nothing(*_, **__):
        return None

    asyncio.run(run())


def test_a_broker_that_stores_nothing_is_a_problem_and_a_concern():
    plans = (FederationPlan("demo", charter()),)

    async def run():
        term = Term(ServicePlan(plans, journal="memory:"))
        hub = term.hub = NotingHub()
        (host,) = term.hosts = [FederationHost(each, "memory:", hub) for each in plans]
        term.is_serving = True

        async def full():
            hub.trouble = "insufficient resources"

        async def nothing(**_):
            return 0

        hub.probe, hub.end_connections = full, nothing
        await host.open()
        serving = asyncio.ensure_future(term._serve())
        async with asyncio.timeout(PATIENCE):
            while not hub.trouble:
                await asyncio.sleep(0.005)
        assert "does not store what sites send (insufficient resources)" in term.problem()
        term._note_broker()
        assert [each.kind for each in host.server.concerns] == ["broker-cannot-store"]
        hub.trouble = ""
        term._note_broker()
        assert list(host.server.concerns) == []
        assert term.problem() == ""
        term.stop()
        await serving

    asyncio.run(run())


def test_a_journal_that_has_gone_is_a_concern(tmp_path):
    host = FederationHost(FederationPlan("demo", charter()), str(tmp_path), NotingHub())
    (tmp_path / "demo.db").rename(tmp_path / "elsewhere.db")
    serve(host, [arrival(host, 0, "ask", ask(0))], until=lambda: list(host.server.concerns))
    host.abandon()
    (concern,) = host.server.concerns
    assert (concern.kind, "demo.db cannot be used: its file has gone" in concern.text) == ("journal-damaged", True)


def test_another_coordinator_of_the_same_federation_is_a_grave_concern_as_long_as_it_is_heard():
    async def run():
        term = Term(ServicePlan((), journal="memory:"))
        hub = term.hub = NotingHub()
        (host,) = term.hosts = [host_of(hub)]
        hub.others = {"demo"}
        term._note_broker()
        (concern,) = host.server.concerns
        assert concern.kind == "two-coordinators"
        assert is_grave(concern)
        hub.others = {"another"}
        term._note_broker()
        assert list(host.server.concerns) == []

    asyncio.run(run())


def test_a_term_is_over_when_it_is_found_that_another_has_taken_the_journals_over():
    async def run():
        term = Term(ServicePlan((FederationPlan("demo", charter()),), journal="memory:"))

        async def lost():
            raise JournalLost("another coordinator has it")

        term._require_office = lost
        async with asyncio.timeout(PATIENCE):
            await term._look_at_the_broker()
        return term._loss

    assert str(asyncio.run(run())) == "another coordinator has it"
