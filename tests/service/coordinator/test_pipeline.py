"""While the disk is waited for, more is taken in; nothing leaves before what it rests on is safe."""

from __future__ import annotations

import asyncio
from threading import Event

import pytest

from samples.hosts import NotingHub, arrival, ask, handled, host_of
from samples.waiting import PATIENCE


def test_more_is_taken_in_while_the_disk_is_waited_for_and_nothing_leaves(monkeypatch):
    hub = NotingHub()
    host = host_of(hub)
    disk, make_safe, taken_in = Event(), host.server.make_safe, []

    def slow(sealed):
        assert disk.wait(PATIENCE)
        make_safe(sealed)

    def receive(data, now, sender, receive=host.server.receive):
        taken_in.append(sender)
        return receive(data, now, sender)

    asyncio.run(handled(host))  # the journal is looked at when the first group comes
    monkeypatch.setattr(host.server, "make_safe", slow)
    monkeypatch.setattr(host.server, "receive", receive)
    first, second = (arrival(host, site, "ask", ask(site)) for site in (1, 2))

    async def attempt():
        await host._handle([first])
        next_group = asyncio.ensure_future(host._handle([second]))
        while len(taken_in) < 2:
            await asyncio.sleep(0)
        assert not next_group.done(), "a group is answered when the one before it was"
        assert hub.sent == hub.settled == []
        disk.set()
        await next_group
        await host._background.finish()

    asyncio.run(asyncio.wait_for(attempt(), PATIENCE))
    assert [site for site, _ in hub.sent] == [1, 2]


def test_more_is_taken_in_while_a_snapshot_is_stored_after_the_group_was_answered(monkeypatch):
    hub = NotingHub()
    host = host_of(hub)
    disk, storing, taken_in = Event(), host.server.storing, []

    def slow(snapshot):
        assert disk.wait(PATIENCE)
        yield from storing(snapshot)

    def receive(data, now, sender, receive=host.server.receive):
        taken_in.append(sender)
        return receive(data, now, sender)

    asyncio.run(handled(host))
    monkeypatch.setattr(host.server, "storing", slow)
    monkeypatch.setattr(host.server, "receive", receive)
    host.server.snapshot_every = 1
    first, second = (arrival(host, site, "ask", ask(site)) for site in (1, 2))

    async def attempt():
        await host._handle([first])
        next_group = asyncio.ensure_future(host._handle([second]))
        while len(taken_in) < 2 or not hub.sent:
            await asyncio.sleep(0)
        assert [site for site, _ in hub.sent] == [1]
        assert host._journal.snapshot() is None
        disk.set()
        await next_group
        steps = 0
        while host._maintenance.is_storing:  # a step with each group, though nothing is in it
            await host._handle(await asyncio.wait_for(host._group(), PATIENCE))
            await host._background.finish()
            steps += 1
        assert steps > 1

    asyncio.run(asyncio.wait_for(attempt(), PATIENCE))
    assert [site for site, _ in hub.sent] == [1, 2]
    assert host._journal.snapshot() is not None


def test_a_disk_that_fails_ends_the_service_though_nothing_more_arrives(monkeypatch):
    hub = NotingHub()
    host = host_of(hub)

    def full(_):
        raise OSError("no room")

    async def attempt():
        await host.open()
        monkeypatch.setattr(host.server, "make_safe", full)
        hub.door.arrive(arrival(host, 1, "up", b"nonsense"))
        with pytest.raises(OSError, match="no room"):
            await asyncio.wait_for(host.serve(), PATIENCE)
        assert hub.settled == []

    asyncio.run(attempt())
