"""One piece of work beside the next: in order, and nothing that goes wrong is lost."""

from __future__ import annotations

import asyncio

import pytest

from fedbandit.service.coordinator.background import Background


async def failing():
    raise ValueError("the disk is full")


def test_the_next_piece_waits_for_the_one_before():
    async def attempt():
        done, go_on, background = [], asyncio.Event(), Background(lambda: None)

        async def first():
            await go_on.wait()
            done.append("first")

        async def second():
            done.append("second")

        await background.begin(first())
        beginning = asyncio.ensure_future(background.begin(second()))
        await asyncio.sleep(0)
        assert not beginning.done()
        go_on.set()
        await beginning
        await background.finish()
        await background.finish()
        return done

    assert asyncio.run(attempt()) == ["first", "second"]


def test_what_goes_wrong_is_told_at_once_and_raised_to_whoever_waits():
    async def attempt():
        told, background = asyncio.Event(), Background(lambda: told.set())
        await background.begin(failing())
        await told.wait()
        with pytest.raises(ValueError, match="the disk is full"):
            await background.begin(failing())
        await background.finish()  # it was raised once

    asyncio.run(attempt())
