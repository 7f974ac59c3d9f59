"""What a broker says of an upload is known at once to whoever waits for room."""

from __future__ import annotations

import asyncio

import pytest

from fedbandit.transport.nats.unstored import Unstored


@pytest.mark.parametrize("word", ["stored", "refuse"])
def test_who_waits_for_a_change_is_woken_by_the_brokers_word(word):
    async def attempt():
        unstored = Unstored()
        unstored.add(b"upload")
        waiting = asyncio.ensure_future(unstored.change(seconds=3600.0))
        await asyncio.sleep(0)
        getattr(unstored, word)()
        for _ in range(10):  # of all that can be done without waiting
            await asyncio.sleep(0)
        assert waiting.done()

    asyncio.run(attempt())
