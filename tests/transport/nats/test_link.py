"""A site's link to a real broker: what goes out, what comes in, and how it breaks."""

from __future__ import annotations

import asyncio

import nats
import pytest

from fedbandit.core.errors import InvalidInput
from fedbandit.transport.nats.address import Address, security
from fedbandit.transport.nats.broker import Broker, free_port
from fedbandit.transport.nats.broker_settings import BrokerSettings
from fedbandit.transport.nats.door import Arrival, Door
from fedbandit.transport.nats.hub import Hub
from fedbandit.transport.nats.link import NatsLink, connector
from fedbandit.transport.nats.subjects import Subjects
from fedbandit.wire.frame import Frame, Kind, with_numbers
from samples.waiting import PATIENCE

UPLOAD = Frame(Kind.UPLOAD, 1, 7, 1, b"body").to_bytes()
ASK = with_numbers(Kind.ASK, 1, 0, 0, 7, 0, 1).to_bytes()


@pytest.fixture(scope="module")
def broker(tmp_path_factory):
    with Broker(BrokerSettings(tmp_path_factory.mktemp("broker"), port=free_port())) as running:
        yield running


class Desk:
    """Where a coordinator's arrivals are laid down."""

    def __init__(self, broker, name):
        self.hub, self.subjects = Hub(broker.url), Subjects(name)
        self.arrived: asyncio.Queue[Arrival] = asyncio.Queue()

    async def __aenter__(self):
        await self.hub.connect()
        await self.hub.open(Door(self.subjects, 2, 1000, self.arrived.put_nowait))
        return self

    async def __aexit__(self, *_):
        await self.hub.close()

    async def next(self):
        arrival = await asyncio.wait_for(self.arrived.get(), PATIENCE)
        return arrival.sender, arrival.data

    async def take(self, count):
        return [await asyncio.wait_for(self.arrived.get(), PATIENCE) for _ in range(count)]


def talk(broker, name, what):
    """Run a coroutine with a desk and the link of site 1."""

    async def both():
        async with Desk(broker, name) as desk:
            link = await NatsLink.open(Address(broker.url, name), 1)
            try:
                return await what(desk, link)
            finally:
                await link.close()

    return asyncio.run(both())


def test_frames_go_both_ways_and_the_subject_says_who_sent_them(broker):
    async def what(desk, link):
        await link.send(UPLOAD)
        await link.send(ASK)
        assert sorted([await desk.next(), await desk.next()]) == sorted([(1, UPLOAD), (1, ASK)])
        await desk.hub.send(desk.subjects, [(0, b"not for us"), (1, b"for us")])
        assert await asyncio.wait_for(link.receive(), PATIENCE) == b"for us"

    talk(broker, "ways", what)


def test_a_link_that_is_closed_has_left_the_broker_and_may_be_closed_again(broker):
    async def what(_, link):
        await link.close()
        assert link._broker.is_closed
        await link.close()

    talk(broker, "left", what)


def test_the_broker_takes_nothing_for_a_repetition(broker):
    """What was sent again may be what a coordinator has lost or put off; it knows by itself what it has."""

    async def what(desk, link):
        frames = [UPLOAD, UPLOAD, Frame(Kind.VOID, 1, 7, 1).to_bytes()]
        for _ in range(2):
            await link.send(ASK)
            assert await desk.next() == (1, ASK)
        for frame in frames:
            await link.send(frame)
        assert [(await desk.next())[1] for _ in range(3)] == frames

    talk(broker, "again", what)


def test_what_was_not_settled_comes_again_to_the_next_coordinator_and_what_was_does_not(broker):
    frames = [Frame(Kind.UPLOAD, 1, 7, number).to_bytes() for number in range(1, 5)]

    async def first(desk, link):
        for frame in frames:
            await link.send(frame)
        arrived = await desk.take(4)
        await desk.hub.settle(arrived[:2])

    async def second(desk, link):
        return [(await desk.next())[1] for _ in range(2)]

    talk(broker, "settled", first)
    assert talk(broker, "settled", second) == frames[2:]


def test_of_many_questions_the_last_waits_for_a_coordinator(broker):
    async def nothing(desk, link):
        pass

    async def ask():
        link = await NatsLink.open(Address(broker.url, "waits"), 1)
        for mark in range(5):
            await link.send(with_numbers(Kind.ASK, 1, 0, 0, 7, 0, mark).to_bytes())
        await link.close()

    async def hear(desk, link):
        await link.send(UPLOAD)  # to know that nothing more comes
        return {(await desk.next())[1] for _ in range(2)}

    talk(broker, "waits", nothing)
    asyncio.run(ask())
    assert talk(broker, "waits", hear) == {with_numbers(Kind.ASK, 1, 0, 0, 7, 0, 4).to_bytes(), UPLOAD}


def test_a_link_breaks_where_there_is_no_such_federation(broker):
    async def attempt():
        link = await NatsLink.open(Address(broker.url, "nobody"), 1)
        await link.send(UPLOAD)
        with pytest.raises(ConnectionError, match="knows no federation 'nobody': is its coordinator serving"):
            await asyncio.wait_for(link.receive(), PATIENCE)
        with pytest.raises(ConnectionError):
            await link.send(UPLOAD)
        await link.close()

    asyncio.run(attempt())


def test_a_link_breaks_when_a_message_is_too_large_to_be_stored(broker):
    async def what(desk, link):
        await link.send(Frame(Kind.UPLOAD, 1, 7, 1, bytes(5000)).to_bytes())
        with pytest.raises(ConnectionError, match=r"has not stored a message: .*message size exceeds"):
            await asyncio.wait_for(link.receive(), PATIENCE)

    talk(broker, "large", what)


def test_a_link_breaks_when_the_broker_is_gone(tmp_path):
    async def attempt(running):
        link = await NatsLink.open(Address(running.url, "demo"), 1)
        running.kill()
        with pytest.raises(ConnectionError):
            await asyncio.wait_for(link.receive(), PATIENCE)
        await link.close()

    with Broker(BrokerSettings(tmp_path, port=free_port())) as running:
        asyncio.run(attempt(running))


def test_a_broker_that_lets_one_in_and_then_is_silent_is_not_said_to_have_ended_the_connection(broker, monkeypatch):
    async def silence(self, timeout=10):
        raise nats.errors.FlushTimeoutError

    monkeypatch.setattr(nats.aio.client.Client, "flush", silence)
    with pytest.raises(ConnectionError, match="flush timeout"):
        asyncio.run(NatsLink.open(Address(broker.url, "demo"), 1))


def test_where_there_is_no_broker_there_is_no_link():
    async def attempt():
        with pytest.raises(ConnectionError):
            await NatsLink.open(Address("nats://127.0.0.1:1", "demo"), 1)

    asyncio.run(attempt())


def test_streams_wait_for_the_disk_and_hold_no_more_than_a_message_can_be(broker):
    async def what(desk, link):
        connection = await nats.connect(broker.url)
        info = await connection.jetstream().stream_info("fedbandit-facts-up-1")
        await connection.close()
        return info.config

    config = talk(broker, "facts", what)
    assert config.storage == "file"
    assert config.max_msg_size == 1000 + 37 + 256  # the largest header, and room for those of the broker
    assert config.duplicate_window <= 0.1, "for which the broker remembers an id that a site makes up"
    assert "sync_interval: always" in (broker.settings.store / "broker.conf").read_text()


BAD = {
    "localhost/demo": "is no address of a broker",
    "nats:///demo": "is no address of a broker",
    "nats://localhost:/demo": "is no address of a broker",
    "nats://localhost:port/demo": "is no address of a broker",
    "http://localhost:80/demo": "is no address of a broker",
    "nats://localhost:4222": "does not name the federation",
    "nats://localhost:4222/a.b": "cannot name a federation",
    "tls://localhost:4222/demo": "asks for a credential",
}


@pytest.mark.parametrize("url", BAD)
def test_a_bad_address_is_refused_when_the_site_is_told_it(url):
    with pytest.raises(InvalidInput, match=BAD[url]):
        connector(url, 1)


@pytest.mark.parametrize("content", [b"", b"no credential", b"-----BEGIN CERTIFICATE-----\n\xff"])
def test_a_file_that_is_no_credential_is_refused(tmp_path, content):
    (tmp_path / "x.pem").write_bytes(content)
    with pytest.raises(InvalidInput, match=r"x\.pem'.*credential"):
        security("tls://localhost:4222", tmp_path / "x.pem")
