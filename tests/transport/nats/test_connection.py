"""What is made of a broker that keeps whoever comes waiting before it says whether it lets one in."""

from __future__ import annotations

import asyncio
import json
from contextlib import asynccontextmanager, suppress

import pytest
from nats.errors import ConnectionClosedError

from fedbandit.transport.link import LinkRefused
from fedbandit.transport.nats.connection import connect, end
from samples.waiting import soon

INFO = b"INFO " + json.dumps({"version": "2.12.0", "max_payload": 1}).encode() + b"\r\n"


@asynccontextmanager
async def broker(*words):
    """Give the URL of a broker that says these words, one after the other; it goes on when it was answered."""
    answers = []

    async def serve(reader, writer):
        writer.write(INFO)
        while b"PING" not in await reader.readline():
            pass
        for each in words:
            writer.write(each)
            if each == b"PING\r\n":
                answers.append(await reader.readline())
        await reader.read()
        writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    async with server:
        yield f"nats://127.0.0.1:{server.sockets[0].getsockname()[1]}", answers


async def connected(url, seconds):
    told = {"on_error": lambda _: None, "on_end": lambda: None}
    connection = await connect(url, name="site", tls=None, seconds=seconds, **told)
    is_connected = connection.is_connected
    await end(connection)
    return is_connected


def test_a_broker_that_asks_first_whether_somebody_is_there_has_not_let_one_in_yet():
    async def attempt():
        async with broker(b"PING\r\n", b"PING\r\n", b"-ERR 'Authorization Violation'\r\n") as (url, answers):
            with pytest.raises(LinkRefused, match="the broker does not let this credential in"):
                await connected(url, seconds=60)
            assert answers == [b"PONG\r\n"] * 2
        async with broker(b"PING\r\n", b"PONG\r\n") as (url, _):
            assert await connected(url, seconds=60)

    asyncio.run(attempt())


def test_a_broker_that_says_nothing_is_said_to_keep_one_waiting():
    async def attempt():
        async with broker() as (url, _):
            with pytest.raises(ConnectionError, match="the broker keeps whoever comes waiting"):
                await connected(url, seconds=0.01)

    asyncio.run(attempt())


@pytest.mark.parametrize("is_killed", [True, False])
def test_the_end_of_a_connection_is_told_though_something_is_left_to_be_said(is_killed):
    """The library tries to say it first, which fails, and then it tells nobody."""

    async def serve(reader, writer):
        writer.write(INFO)
        while b"PING" not in await reader.readline():
            pass
        writer.write(b"PONG\r\n")
        await reader.readline()
        if is_killed:
            writer.transport.abort()
        writer.close()

    async def attempt():
        is_over = asyncio.Event()
        async with await asyncio.start_server(serve, "127.0.0.1", 0) as server:
            url = f"nats://127.0.0.1:{server.sockets[0].getsockname()[1]}"
            told = {"on_error": lambda _: None, "on_end": is_over.set}
            connection = await connect(url, name="site", tls=None, seconds=60, **told)
            with suppress(ConnectionClosedError):
                while True:
                    await connection.publish("something", b"")
                    await asyncio.sleep(0)
            await soon(is_over.wait())
            await end(connection)

    asyncio.run(attempt())
