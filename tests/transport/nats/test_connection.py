"""What is made of a broker that keeps whoever comes waiting before it lets one in, and of one that goes away."""

from __future__ import annotations

import asyncio
import json
from contextlib import asynccontextmanager, suppress

import pytest
from nats.errors import ConnectionClosedError

from fedbandit.transport.link import LinkRefused
from fedbandit.transport.nats.connection import connect, end
from samples.waiting import PATIENCE, soon

INFO = b"INFO " + json.dumps({"version": "2.12.0", "max_payload": 1 << 26}).encode() + b"\r\n"


@asynccontextmanager
async def broker(then):
    """Give the URL of a broker that does something when it is asked whether it lets one in."""
    over, handled = asyncio.Event(), asyncio.Semaphore(0)
    serving = []

    async def serve(reader, writer):
        serving.append(writer)
        writer.write(INFO)
        while b"PING" not in await reader.readline():
            pass
        await then(reader, writer)
        await over.wait()
        writer.transport.abort()
        with suppress(OSError):
            await writer.wait_closed()
        handled.release()

    async with await asyncio.start_server(serve, "127.0.0.1", 0) as server:
        yield f"nats://127.0.0.1:{server.sockets[0].getsockname()[1]}"
        over.set()
        for _ in serving:
            await soon(handled.acquire())


@asynccontextmanager
async def let_in(then, **more):
    """Give a connection to a broker that lets one in and then does something, and what is told of its end in time."""

    async def let_in_first(reader, writer):
        writer.write(b"PONG\r\n")
        await then(reader, writer)

    ended = asyncio.get_running_loop().create_future()
    async with broker(let_in_first) as url:
        told = {"on_error": print, "on_end": ended.set_result} | more
        connection = await connect(url, name="site", tls=None, seconds=60, **told)
        try:
            yield connection, ended
        finally:
            await end(connection)


def saying(*words):
    """What a broker does that says these words, one after the other; it goes on when it was answered."""
    answers = []

    async def say(reader, writer):
        for each in words:
            writer.write(each)
            if each == b"PING\r\n":
                answers.append(await reader.readline())

    return say, answers


async def hang_up(reader, writer):
    await reader.readline()
    writer.close()


async def be_killed(reader, writer):
    await reader.readline()
    writer.transport.abort()


async def lose_power(reader, writer):
    """Say nothing more."""


async def say_all_but_pongs(reader, writer):
    """Answer ten pings with other words: a pong would come after them."""
    for _ in range(10):
        if await reader.readline() != b"PING\r\n":
            return
        writer.write(b"MSG news 1 2\r\n..\r\n")
    writer.write(b"-ERR 'Permissions Violation for Publish to \"said all\"'\r\n")


async def connected(url, seconds):
    connection = await connect(url, name="site", tls=None, seconds=seconds, on_error=print, on_end=print)
    is_connected = connection.is_connected
    await end(connection)
    return is_connected


def test_a_broker_that_asks_first_whether_somebody_is_there_has_not_let_one_in_yet():
    async def attempt():
        say, answers = saying(b"PING\r\n", b"PING\r\n", b"-ERR 'Authorization Violation'\r\n")
        async with broker(say) as url:
            with pytest.raises(LinkRefused, match="the broker does not let this credential in"):
                await connected(url, seconds=60)
            assert answers == [b"PONG\r\n"] * 2
        say, _ = saying(b"PING\r\n", b"PONG\r\n")
        async with broker(say) as url:
            assert await connected(url, seconds=60)

    asyncio.run(attempt())


def test_a_broker_that_says_nothing_is_said_to_keep_one_waiting():
    async def attempt():
        async with broker(lose_power) as url:
            with pytest.raises(ConnectionError, match="the broker lets nobody in yet"):
                await connected(url, seconds=0.01)

    asyncio.run(attempt())


@pytest.mark.parametrize("then", [hang_up, be_killed])
def test_the_end_of_a_connection_is_told_though_something_is_left_to_be_said(then):
    """The library tries to say it first, which fails, and then it tells nobody."""

    async def attempt():
        async with let_in(then) as (connection, ended):
            with suppress(ConnectionClosedError):
                while True:
                    await connection.publish("something", b"")
                    await asyncio.sleep(0)
            assert await soon(ended) == "it has ended the connection"

    asyncio.run(attempt())


def test_a_broker_that_answers_no_ping_is_taken_to_be_gone_whatever_is_on_its_way_to_it():
    async def attempt():
        async with let_in(lose_power, ping_seconds=0.01) as (connection, ended):
            await connection.publish("something", bytes(1 << 26))  # more than fits into any buffer
            assert await soon(ended) == "it has said nothing for 0.03 seconds"
            closed, _ = await asyncio.wait([connection._ping_interval_task], timeout=PATIENCE)  # which has noticed it
            assert closed

    asyncio.run(attempt())


def test_a_broker_that_says_something_is_there_though_no_ping_is_answered():
    """What a site has missed may be long on its way, and the answer to a ping is behind it."""

    async def attempt():
        told = asyncio.Queue()
        async with let_in(say_all_but_pongs, ping_seconds=0.01, on_error=told.put_nowait) as (_, ended):
            assert "said all" in await soon(told.get())
            assert not ended.done()

    asyncio.run(attempt())


@pytest.mark.parametrize(("first", "error"), [("", b"-ERR 'Permissions Violation'\r\n"), ("127.0.0.1:1,", b"")])
def test_an_error_that_ends_nothing_takes_nothing_back_of_what_is_left_to_be_said(first, error, monkeypatch):
    """Neither a subject under which one may not speak, nor a broker of the list that was tried before."""
    monkeypatch.setattr("nats.aio.client.shuffle", lambda pool: None)
    heard = asyncio.Queue()

    async def hear(reader, writer):
        writer.write(b"PONG\r\n" + error)
        while line := await reader.readline():
            heard.put_nowait(line)
        heard.put_nowait(b"")

    async def attempt():
        told = asyncio.Queue()
        async with broker(hear) as url:
            both = url.replace("//", f"//{first}")
            connection = await connect(
                both, name="site", tls=None, seconds=60, on_error=told.put_nowait, on_end=told.put_nowait
            )
            if error:
                assert await soon(told.get()) == "permissions violation"
            await connection.publish("something", b"")
            await end(connection)
            lines = [await soon(heard.get())]
            while lines[-1]:
                lines.append(await soon(heard.get()))
            assert b"PUB something  0\r\n" in lines

    asyncio.run(attempt())
