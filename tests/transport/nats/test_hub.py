"""The coordinator's side of a real broker: it comes back for ever, and notices a broker that stores nothing."""

from __future__ import annotations

import asyncio
import json
import logging

import pytest

from fedbandit.core.errors import InvalidInput
from fedbandit.transport.link import NotStored
from fedbandit.transport.nats import link as link_module
from fedbandit.transport.nats import unstored
from fedbandit.transport.nats.address import Address
from fedbandit.transport.nats.broker import Broker, free_port
from fedbandit.transport.nats.broker_settings import BrokerSettings
from fedbandit.transport.nats.door import Door
from fedbandit.transport.nats.hub import Hub
from fedbandit.transport.nats.link import NatsLink
from samples.hubs import SUBJECTS, opened, upload
from samples.waiting import PATIENCE, meanwhile


def test_a_broker_that_was_away_for_many_attempts_is_found_again_with_all_that_sites_send(tmp_path, caplog):
    settings = BrokerSettings(tmp_path, port=free_port())

    async def attempt():
        broker = Broker(settings)
        hub, arrived = await opened(broker)
        attempts = []
        connecting = hub._connect

        async def counted():
            attempts.append(1)
            await connecting()

        hub._connect = counted
        broker.kill()
        await meanwhile(lambda: len(attempts) > 5)
        assert not hub.is_connected
        await hub.send(SUBJECTS, [(1, b"dropped")])
        with Broker(settings) as again:
            await meanwhile(lambda: hub._returning.done())
            link = await NatsLink.open(Address(again.url, "demo"), 1)
            await link.send(upload(1))
            arrival = await asyncio.wait_for(arrived.get(), PATIENCE)
            assert (arrival.sender, arrival.data) == (1, upload(1))
            await hub.send(SUBJECTS, [(1, b"for us")])
            assert await asyncio.wait_for(link.receive(), PATIENCE) == b"for us"
            await link.close()
            await hub.close()

    asyncio.run(attempt())
    assert sum("is gone (it has ended the connection); trying" in record.getMessage() for record in caplog.records) == 1


@pytest.mark.parametrize("error", [InvalidInput("it has no JetStream yet"), AssertionError("a fault of the library")])
def test_a_broker_that_is_back_but_cannot_make_streams_yet_is_tried_again(tmp_path, caplog, error):
    async def attempt():
        with Broker(BrokerSettings(tmp_path)) as broker:
            hub, _ = await opened(broker)
            letting_in, tried = hub._let_in, []

            async def not_at_first(door):
                tried.append(hub._broker)
                if len(tried) == 1:
                    raise error
                await letting_in(door)

            hub._let_in = not_at_first
            await hub._broker.close()
            await meanwhile(lambda: hub._returning is not None and hub._returning.done())
            assert [each.is_connected for each in tried] == [False, True]
            await hub.close()

    asyncio.run(attempt())
    with_traces = [record.getMessage() for record in caplog.records if record.exc_info]
    assert with_traces == ([] if isinstance(error, InvalidInput) else [f"the broker is not ready ({error})"])


def test_a_broker_that_is_killed_while_it_is_spoken_to_is_found_again(tmp_path):
    """What was left to be said when it went away must not keep the coordinator from noticing that."""
    settings = BrokerSettings(tmp_path, port=free_port())

    async def attempt():
        broker = Broker(settings)
        hub, _ = await opened(broker)
        broker.kill()
        while hub.is_connected:
            await hub.send(SUBJECTS, [(1, b"dropped")])
            await asyncio.sleep(0)
        with Broker(settings):
            await meanwhile(lambda: hub.is_connected)
            await hub.close()

    asyncio.run(attempt())


def test_a_broker_that_goes_away_while_a_coordinator_begins_is_named(tmp_path):
    async def attempt():
        with Broker(BrokerSettings(tmp_path)) as broker:
            hub = Hub(broker.url)
            await hub.connect()
        await meanwhile(lambda: not hub.is_connected)
        with pytest.raises(InvalidInput, match=rf"the broker at {broker.url} does not answer \(.+\): see that it runs"):
            await hub.open(Door(SUBJECTS, 2, 1000, print))
        await hub.probe()  # which has nothing to say to one that is away
        await hub.close()

    asyncio.run(attempt())


def test_while_the_broker_is_away_no_connection_is_ended(tmp_path):
    async def attempt():
        with Broker(BrokerSettings(tmp_path)) as broker:
            hub, _ = await opened(broker)
        await meanwhile(lambda: not hub.is_connected)
        assert await hub.end_connections(older_than=0.0) == 0
        await hub.close()

    asyncio.run(attempt())


def test_what_was_delivered_and_not_settled_comes_again_after_a_reconnect(tmp_path):
    settings = BrokerSettings(tmp_path, port=free_port())

    async def attempt():
        broker = Broker(settings)
        hub, arrived = await opened(broker)
        link = await NatsLink.open(Address(broker.url, "demo"), 1)
        for number in (1, 2):
            await link.send(upload(number))
        first = await asyncio.wait_for(arrived.get(), PATIENCE)
        await asyncio.wait_for(arrived.get(), PATIENCE)
        await hub.settle([first])
        await hub._broker.flush()
        broker.stop()
        with Broker(settings):
            while (again := await asyncio.wait_for(arrived.get(), PATIENCE)).data != upload(2):
                assert again.data == upload(1)  # the broker ended before it had removed it
            await link.close()
            await hub.close()

    asyncio.run(attempt())


def full(tmp_path):
    """A broker with so little room that a few uploads fill it."""
    store = json.dumps(str(tmp_path))
    limited = f"jetstream {{ store_dir: {store}, sync_interval: always, max_file_store: 64KB }}"
    return Broker(BrokerSettings(tmp_path, port=free_port(), more=(limited,)))


def test_a_broker_without_room_is_noticed_by_the_site_and_by_the_coordinator(tmp_path, caplog):
    async def attempt(broker):
        hub, arrived = await opened(broker, most_bytes=20_000)
        await hub.probe()
        assert hub.trouble == ""
        link = await NatsLink.open(Address(broker.url, "demo"), 1)

        async def send():
            for number in range(1, 20):
                await link.send(upload(number, size=10_000))
            await link.receive()

        with pytest.raises(NotStored, match="the broker has not stored a message: insufficient"):
            await asyncio.wait_for(send(), PATIENCE)
        await link.close()
        while not hub.trouble:  # the connection may be lost once, and is made again
            await hub.probe()
            await asyncio.sleep(0)
        assert "insufficient" in hub.trouble
        came = set()
        while hub.trouble or not arrived.empty():
            while not arrived.empty():  # what came on a connection that was lost comes once more
                arrival = arrived.get_nowait()
                came.add(arrival.sender)
                await hub.settle([arrival])
            await hub.probe()
        assert came == {1}, "probes are nobody's uploads"
        await hub.close()

    caplog.set_level(logging.INFO)
    with full(tmp_path) as broker:
        asyncio.run(attempt(broker))
    said = [record.getMessage() for record in caplog.records]
    assert sum("does not store what sites send (" in each for each in said) == 1
    assert sum("stores again what sites send" in each for each in said) == 1


def test_a_broker_that_says_nothing_of_an_upload_breaks_the_link(tmp_path, monkeypatch):
    monkeypatch.setattr(link_module, "NO_ANSWER_SECONDS", 0.2)
    monkeypatch.setattr(unstored, "NO_ANSWER_SECONDS", 0.2)

    async def attempt(broker):
        hub, _ = await opened(broker)
        link = await NatsLink.open(Address(broker.url, "demo"), 1)
        link._unstored.add(b"an upload of which nothing is heard")
        with pytest.raises(NotStored, match=r"has stored no message for .* seconds: is its disk full"):
            await asyncio.wait_for(link.receive(), PATIENCE)
        await link.close()
        await hub.close()

    with Broker(BrokerSettings(tmp_path, port=free_port())) as broker:
        asyncio.run(attempt(broker))
