"""Waiting for what other processes and threads do: until it is so, and not a moment longer."""

from __future__ import annotations

import asyncio
import time

PATIENCE = 120.0


def until(condition, what="it", patience=PATIENCE):
    """Return what the condition gives as soon as that is true; fail if it never is."""
    end = time.monotonic() + patience
    while True:
        found = condition()
        if found:
            return found
        assert time.monotonic() < end, f"waited {patience} s in vain for {what}"
        time.sleep(0.01)


async def soon(awaitable):
    """Return what is awaited; fail if it never comes."""
    return await asyncio.wait_for(awaitable, PATIENCE)


async def meanwhile(condition):
    """Let others go on until something is so; fail if it never is."""
    async with asyncio.timeout(PATIENCE):
        while not condition():
            await asyncio.sleep(0.01)
