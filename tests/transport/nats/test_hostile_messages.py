"""Messages that no site of ours sends: headers that make no sense, endless ids, listeners without number."""

from __future__ import annotations

import asyncio
import os
import signal

import pytest

from fedbandit.transport.nats import connection as connection_module
from fedbandit.transport.nats import hub as hub_module
from fedbandit.transport.nats.broker import Broker, free_port
from fedbandit.transport.nats.broker_accounts import MOST_SUBSCRIPTIONS
from fedbandit.transport.nats.broker_settings import BrokerSettings
from fedbandit.transport.nats.door import Door
from fedbandit.transport.nats.hub import Hub
from fedbandit.transport.nats.streams import LARGEST_WORD
from fedbandit.wire.report import LONGEST_NAME, MOST_ARMS, Report
from samples.secure_broker import SUBJECTS, SecureBroker

HEADERS = [
    b"NATS/1.0 \xff\xff\xff\r\n\r\n", b"NATS/1.0 404 \xff\r\n\r\n", b"NATS/1.0", b"X",
    b"NATS/1.0\r\n\xff: \xff\r\n\r\n",
    b"NATS/1.0 503\r\n\r\n", b"NATS/1.0\r\nno colon\r\n\r\n", b"NATS/1.0 100 Idle Heartbeat\r\n\xff\r\n\r\n",
]  # fmt: skip


@pytest.fixture(scope="module")
def secure(tmp_path_factory):
    made = SecureBroker(tmp_path_factory.mktemp("secure"), 2, (0, 1))
    yield made
    made.broker.stop()


async def soon(awaitable):
    return await asyncio.wait_for(awaitable, 20)


async def publish(connection, subject, header, body):
    """Publish with a header as it is, which the library would write in another way."""
    line = f"HPUB {subject} {len(header)} {len(header) + len(body)}\r\n".encode()
    connection._pending.append(line + header + body + b"\r\n")
    await connection.flush()


async def hear_all(hub, arrived, connection):
    """Send a message with each header and one without; return when the last has come."""
    for header in HEADERS:
        await publish(connection, SUBJECTS.up(0), header, b"hostile")
    await connection.publish(SUBJECTS.up(0), b"the last")
    came = await soon(arrived.get())
    while came.data != b"the last":
        await hub.settle([came])
        came = await soon(arrived.get())
    await hub.settle([came])


def test_headers_that_make_no_sense_do_not_make_the_coordinator_deaf(secure):
    async def what(hub, arrived):
        hostile = await secure.raw(0)
        await hear_all(hub, arrived, hostile)
        await hostile.close()

    secure.run(what)


def test_nor_do_they_at_a_broker_where_all_share_one_account(tmp_path):
    async def attempt(broker):
        hub, arrived = Hub(broker.url), asyncio.Queue()
        await hub.connect()
        await hub.open(Door(SUBJECTS, 1, 1000, arrived.put_nowait))
        hostile = await connection_module.client_library().connect(broker.url)
        await hear_all(hub, arrived, hostile)
        await hostile.close()
        await hub.close()

    with Broker(BrokerSettings(tmp_path, port=free_port())) as broker:
        asyncio.run(attempt(broker))


def test_a_connection_that_is_read_no_more_is_made_again(secure):
    async def what(hub, arrived):
        lost = hub._broker

        async def stumble(data):
            raise KeyError("a mistake of the library")

        lost._ps.parse = stumble
        hostile = await secure.raw(0)
        await hostile.publish(SUBJECTS.up(0), b"heard")
        came = await soon(arrived.get())
        await hub.settle([came])
        assert came.data == b"heard"
        assert hub._broker is not lost
        await hostile.close()

    secure.run(what)


def test_a_site_cannot_have_what_is_for_it_copied_without_end(secure):
    async def attempt():
        ended = asyncio.Event()

        async def end():
            ended.set()

        hostile = await secure.raw(0, closed_cb=end)
        for _ in range(MOST_SUBSCRIPTIONS):
            await hostile.subscribe(SUBJECTS.down(0))
        await hostile.flush()
        assert not ended.is_set()
        await hostile.subscribe(SUBJECTS.down(0))
        await asyncio.wait_for(ended.wait(), 20)

    asyncio.run(attempt())


def test_the_broker_does_not_remember_what_ids_a_site_gives_to_questions_and_reports(secure):
    async def what(hub, arrived):
        for stream in SUBJECTS.last_words:
            config = (await hub._broker.jetstream().stream_info(stream)).config
            assert config.duplicate_window <= 0.1
            assert config.max_msg_size < 4096
        arms = {f"{number:0{LONGEST_NAME}}": 1 for number in range(MOST_ARMS)} | {"": 1}
        longest = Report(MOST_ARMS + 1, 0, 0.0, arms).to_frame(0, 1).to_bytes()
        assert len(longest) < LARGEST_WORD, "the longest report has room"
        hostile = await secure.raw(0)
        await hostile.publish(SUBJECTS.report(0), b"", headers={"Nats-Msg-Id": "x" * 4096})
        await hostile.publish(SUBJECTS.report(0), longest)
        came = await soon(arrived.get())
        await hub.settle([came])
        assert came.data == longest
        await hostile.close()

    secure.run(what, most_bytes=1_000_000)


@pytest.mark.parametrize("waiting", [0, 4_000_000], ids=["nothing to say", "much to say"])
def test_a_coordinator_ends_though_the_broker_reads_nothing(secure, monkeypatch, waiting):
    for module, name in ((connection_module, "END_SECONDS"), (hub_module, "END_SECONDS"), (hub_module, "SAY_SECONDS")):
        monkeypatch.setattr(module, name, 0.2)

    async def attempt():
        hub = Hub(secure.broker.url, secure.keys.path("coordinator"))
        await hub.connect()
        os.kill(secure.broker.process.pid, signal.SIGSTOP)
        try:
            async with asyncio.timeout(15):  # asyncio alone would wait for 30 seconds, and the library for ever
                for _ in range(3):
                    await hub.send(SUBJECTS, [(0, bytes(waiting))])
                await hub.close()
        finally:
            os.kill(secure.broker.process.pid, signal.SIGCONT)

    asyncio.run(attempt())
