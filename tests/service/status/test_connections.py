"""Clients that hang on: whoever comes next is served all the same."""

from __future__ import annotations

import asyncio
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from urllib.parse import urlsplit

import pytest

from fedbandit.service.status.web import Pages, serving
from samples.told import busy

PATIENCE = 60.0  # only a test that fails waits so long
SLOW = {
    "says nothing": b"",
    "never ends its headers": b"GET /health HTTP/1.1\r\nHost: here\r\nX-Slow: ",
    "never sends what it announces": b"POST /health HTTP/1.1\r\nHost: here\r\nContent-Length: 1000000\r\n\r\n.",
    "asks for one page after another and reads none": b"GET /status.json HTTP/1.1\r\nHost: here\r\n\r\n" * 50,
}


@asynccontextmanager
async def connection(address, words=b""):
    place = urlsplit(address)
    reader, writer = await asyncio.open_connection(place.hostname, place.port)
    writer.write(words)
    try:
        yield reader
    finally:
        writer.transport.abort()


async def answer(address, path):
    async with connection(address, f"GET {path} HTTP/1.1\r\nHost: here\r\n\r\n".encode()) as reader:
        return await asyncio.wait_for(reader.read(), PATIENCE)


async def has_ended(reader):
    with suppress(ConnectionResetError):
        await asyncio.wait_for(reader.read(), PATIENCE)
    return True


@pytest.mark.parametrize("words", SLOW.values(), ids=SLOW)
def test_health_and_metrics_are_answered_while_many_times_more_clients_hang_than_there_may_be(words):
    async def go():
        async with serving(Pages([busy()]), "127.0.0.1", 0, most=8) as address, AsyncExitStack() as stack:
            hanging = [await stack.enter_async_context(connection(address, words)) for _ in range(100)]
            for path in ("/health", "/metrics", "/status.json"):
                assert (await answer(address, path)).startswith(b"HTTP/1.1 200 OK\r\n")
            assert all([await has_ended(each) for each in hanging[:80]])

    asyncio.run(go())


@pytest.mark.parametrize("words", SLOW.values(), ids=SLOW)
def test_a_client_that_hangs_is_sent_away_after_a_while(words):
    async def go():
        async with (
            serving(Pages([busy()]), "127.0.0.1", 0, seconds=0.01) as address,
            connection(address, words) as reader,
        ):
            assert await has_ended(reader)

    asyncio.run(go())


@pytest.mark.parametrize("path", ["/health", "/nothing", "/status.json?span=7"])
def test_a_connection_carries_one_request(path):
    async def go():
        async with serving(Pages([busy()]), "127.0.0.1", 0) as address:
            return await answer(address, path)

    assert b"Connection: close" in asyncio.run(go())


def test_the_pages_end_at_once_though_clients_hang():
    async def go():
        async with AsyncExitStack() as stack:
            async with serving(Pages([busy()]), "127.0.0.1", 0) as address:
                hanging = [await stack.enter_async_context(connection(address, words)) for words in SLOW.values()]
                await answer(address, "/health")
            assert all([await has_ended(each) for each in hanging])

    asyncio.run(go())
