"""Two coordinators of one federation at one broker notice each other."""

from __future__ import annotations

import asyncio

import nats
import pytest

from fedbandit.core.errors import InvalidInput
from fedbandit.transport.nats import presence as module
from fedbandit.transport.nats.broker import Broker, free_port
from fedbandit.transport.nats.broker_settings import BrokerSettings
from fedbandit.transport.nats.connection import end
from fedbandit.transport.nats.door import Door
from fedbandit.transport.nats.hub import Hub
from fedbandit.transport.nats.presence import OVER_SECONDS
from fedbandit.transport.nats.streams import REDELIVER_SECONDS
from fedbandit.transport.nats.subjects import Subjects
from samples.waiting import PATIENCE, meanwhile

SUBJECTS = Subjects("demo")


@pytest.fixture(scope="module")
def broker(tmp_path_factory):
    with Broker(BrokerSettings(tmp_path_factory.mktemp("broker"), port=free_port())) as running:
        yield running


async def connected(broker):
    hub = Hub(broker.url)
    await hub.connect()
    return hub


async def opened(broker, federation="demo"):
    hub = await connected(broker)
    await hub.open(Door(Subjects(federation), 1, 1000, lambda _: None))
    return hub


def test_a_coordinator_does_not_begin_where_another_serves_the_federation(broker):
    async def attempt():
        first, second = await opened(broker), await connected(broker)
        with pytest.raises(InvalidInput, match="another coordinator serves the federation 'demo' at this broker: end"):
            await second.open(Door(SUBJECTS, 1, 1000, lambda _: None))
        assert not first.hears_another(SUBJECTS), "it has not begun"
        await second.open(Door(Subjects("another"), 1, 1000, lambda _: None))
        await second.close()
        await first.close()
        third = await opened(broker)
        assert not third.hears_another(SUBJECTS)
        await third.close()

    asyncio.run(attempt())


def test_two_that_began_at_the_same_moment_hear_each_other_and_no_longer_than_both_are_there(broker):
    async def attempt():
        hubs = [await connected(broker) for _ in range(2)]
        for hub in hubs:
            hub._presence.require_alone = nothing
            await hub.open(Door(SUBJECTS, 1, 1000, lambda _: None))
        await hubs[0].probe()
        await meanwhile(lambda: all(hub.hears_another(SUBJECTS) for hub in hubs))
        assert not any(hub.hears_another(Subjects("another")) for hub in hubs)
        await hubs[1].close()
        now = hubs[0]._presence._clock()
        hubs[0]._presence._clock = lambda: now + OVER_SECONDS
        await hubs[0].probe()
        assert not hubs[0].hears_another(SUBJECTS)
        await hubs[0].close()

    async def nothing(*_):
        pass

    asyncio.run(attempt())


def test_whoever_loses_the_broker_while_it_asks_has_not_heard_that_nobody_is_there(broker):
    async def attempt():
        first, second = await opened(broker), await connected(broker)

        async def asked(*said, **more):
            await end(second._broker)
            await meanwhile(lambda: second.is_connected)  # once more, and with the broker there
            raise nats.errors.TimeoutError

        second._broker.request = asked
        with pytest.raises(InvalidInput, match="does not answer"):
            await second.open(Door(SUBJECTS, 1, 1000, lambda _: None))
        await second.close()
        await first.close()

    asyncio.run(attempt())


def test_one_that_does_not_answer_is_replaced(broker, monkeypatch):
    """As a process that hangs, whose connection lasts."""
    monkeypatch.setattr(module, "ANSWER_SECONDS", 0.1)

    async def attempt():
        connection = await nats.connect(broker.url)
        await connection.subscribe(SUBJECTS.coordinator)
        await connection.flush()
        hub = await opened(broker)
        await hub.close()
        await connection.close()

    asyncio.run(attempt())


def test_what_waits_is_delivered_at_once_though_one_that_is_paused_has_been_delivered_it(broker):
    """As a coordinator that was stopped by a signal: its connection lasts, and it settles nothing."""
    subjects = Subjects("paused")

    async def attempt():
        paused, arrived, again = await connected(broker), asyncio.Event(), []
        await paused.open(Door(subjects, 1, 1000, lambda arrival: arrived.set()))
        sender = await nats.connect(broker.url)
        listener = await nats.connect(broker.url)
        await listener.subscribe(f"{subjects.delivery}.>")  # hears whatever is delivered to anybody
        await sender.jetstream().publish(subjects.up(0), b"upload")
        async with asyncio.timeout(PATIENCE):
            await arrived.wait()
        hub = await connected(broker)
        hub._doors.append(Door(subjects, 1, 1000, again.append))
        await hub._let_in(hub._doors[0])  # one that is paused says nothing when it is asked whether it is there
        async with asyncio.timeout(REDELIVER_SECONDS / 2):
            while not again:
                await asyncio.sleep(0.01)
        for each in (hub, paused, sender, listener):
            await each.close()
        return [each.data for each in again]

    assert asyncio.run(attempt()) == [b"upload"]
