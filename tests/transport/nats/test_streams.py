"""Streams at a real broker are made anew where they store nothing or are of an earlier version."""

from __future__ import annotations

import asyncio
import json

import nats
import pytest

from fedbandit.core.errors import InvalidInput
from fedbandit.transport.nats import probing, streams
from fedbandit.transport.nats.address import Address
from fedbandit.transport.nats.broker import Broker, free_port
from fedbandit.transport.nats.broker_settings import BrokerSettings
from fedbandit.transport.nats.connection import connect
from fedbandit.transport.nats.door import Door
from fedbandit.transport.nats.hub import Hub
from fedbandit.transport.nats.link import NatsLink
from fedbandit.transport.nats.streams import LARGEST_WORD, ROOM_FOR_HEADERS, Streams
from samples.hubs import SUBJECTS, opened, upload
from samples.waiting import PATIENCE


def test_a_stream_that_does_not_store_any_more_is_made_anew(tmp_path, monkeypatch):
    """As one is that has once met a full disk: nats-server then writes to it no more, whatever room there is."""
    monkeypatch.setattr(probing, "PROBE_SECONDS", 0.3)

    async def attempt(broker):
        hub, arrived = await opened(broker)
        context = hub._broker.jetstream()
        config = (await context.stream_info("fedbandit-demo-up-1")).config
        config.no_ack = True
        await context.update_stream(config)
        await hub.probe()
        assert hub.trouble
        await hub.probe()
        await hub.probe()
        assert hub.trouble == ""
        assert not (await context.stream_info("fedbandit-demo-up-1")).config.no_ack
        link = await NatsLink.open(Address(broker.url, "demo"), 1)
        await link.send(upload(1))
        assert (await asyncio.wait_for(arrived.get(), PATIENCE)).data == upload(1)
        await link.close()
        await hub.close()

    with Broker(BrokerSettings(tmp_path, port=free_port())) as broker:
        asyncio.run(attempt(broker))


class SlowOnce:
    """A cluster that does not answer in time when it is first told to deliver no more."""

    def __init__(self):
        self.ended, self.begun = [], []

    async def add_stream(self, config):
        """Make it."""

    async def subscribe(self, subject, **how):
        """Listen."""

    async def delete_consumer(self, stream, name):
        self.ended.append(stream)
        if len(self.ended) == 1:
            raise nats.errors.TimeoutError

    async def add_consumer(self, stream, config):
        self.begun.append(stream)


def test_a_cluster_that_does_not_answer_in_time_is_asked_again_and_a_single_broker_is_said_to_be_silent(monkeypatch):
    """A coordinator that took over just after a broker was killed had ended with a word about its disk."""
    monkeypatch.setattr(streams, "AGAIN_SECONDS", 0.0)
    slow = SlowOnce()
    asyncio.run(Streams(slow, "nats://here", 3).arrange(SUBJECTS, 1, 1000))
    first, *others = slow.begun
    assert slow.ended == [first, first, *others]

    async def opened_at(hub):
        hub._broker, hub._streams = SlowOnce(), Streams(SlowOnce(), "nats://here", 1)
        monkeypatch.setattr(hub, "_presence", Alone())
        await hub.open(Door(SUBJECTS, 1, 1000, print))

    with pytest.raises(InvalidInput, match=r"the broker at nats://here:4222 does not answer \(.*\): see that it runs"):
        asyncio.run(opened_at(Hub("nats://here:4222")))


class Alone:
    async def nothing(self, *_):
        """Hear nobody."""

    require_alone = listen = say = nothing


def test_streams_of_an_earlier_version_are_made_anew(tmp_path, caplog):
    async def attempt(broker):
        connection = await connect(broker.url, name="old", tls=None, seconds=5, on_error=print, on_end=print)
        for name, subject in SUBJECTS.streams(2).items():
            await connection.jetstream().add_stream(name=name, subjects=[subject], retention="workqueue")
        await connection.close()
        hub, arrived = await opened(broker)
        link = await NatsLink.open(Address(broker.url, "demo"), 1)
        await link.send(upload(1))
        assert (await asyncio.wait_for(arrived.get(), PATIENCE)).data == upload(1)
        await link.close()
        await hub.close()

    with Broker(BrokerSettings(tmp_path, port=free_port())) as broker:
        asyncio.run(attempt(broker))
    assert "is made anew" in caplog.text


@pytest.mark.parametrize("version", ["2.9.25", "2.11.9", "nonsense"])
def test_a_broker_that_is_too_old_is_refused_with_what_to_do(version):
    async def answer(reader, writer):
        told = json.dumps({"server_id": "x", "version": version, "max_payload": 1 << 20, "proto": 1})
        writer.write(f"INFO {told}\r\n".encode())
        while not (await reader.readline()).startswith(b"PING"):
            await writer.drain()
        writer.write(b"PONG\r\n")
        await reader.read()
        writer.close()

    async def attempt():
        server = await asyncio.start_server(answer, "127.0.0.1", 0)
        port = server.sockets[0].getsockname()[1]
        with pytest.raises(InvalidInput, match=r"the broker is a nats-server .*: use one of version 2.12 or later"):
            await Hub(f"nats://127.0.0.1:{port}").connect()
        with pytest.raises(ConnectionError, match="use one of version"):
            await NatsLink.open(Address(f"nats://127.0.0.1:{port}", "demo"), 1)
        server.close()

    asyncio.run(attempt())


def test_a_question_or_a_report_of_any_allowed_length_is_stored(tmp_path):
    async def attempt(broker):
        hub, _ = await opened(broker)
        context = hub._broker.jetstream()
        for name in SUBJECTS.last_words:
            assert (await context.stream_info(name)).config.max_msg_size == LARGEST_WORD + ROOM_FOR_HEADERS
        await hub.close()

    with Broker(BrokerSettings(tmp_path, port=free_port())) as broker:
        asyncio.run(attempt(broker))
