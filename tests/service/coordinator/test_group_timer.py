"""Groups that begin a moment after a large one, and at once after a small one."""

from __future__ import annotations

import asyncio

from fedbandit.service.coordinator.group_timer import GATHER_SECONDS, MANY, GroupTimer
from samples.hosts import NotingHub, arrival, ask, host_of
from samples.waiting import PATIENCE


def test_after_a_small_group_nothing_is_waited_for_though_a_large_one_was_before():
    timer = GroupTimer()
    timer.began(now=1.0, arrivals=MANY)
    assert 0.0 < timer.left(now=1.0) <= 1.001 * GATHER_SECONDS
    timer.began(now=1.0, arrivals=MANY - 1)
    assert timer.left(now=1.0) == 0.0


def test_what_a_group_itself_has_taken_is_not_waited_for_again():
    timer = GroupTimer()
    timer.began(now=1.0, arrivals=MANY)
    assert timer.left(now=1.0 + GATHER_SECONDS) == 0.0


def test_what_comes_while_a_group_is_gathered_is_in_it(monkeypatch):
    """The wait is held up until a second upload has come: it must be taken together with the first."""
    hub = NotingHub()
    host = host_of(hub)
    first, second = (arrival(host, site, "ask", ask(site)) for site in (1, 2))
    waited = []

    async def attempt():
        await host.open()
        monkeypatch.setattr(host._group_timer, "left", lambda now: 7.0 if not waited else 0.0)

        async def sleep(seconds, plain=asyncio.sleep):
            if seconds == 7.0:
                waited.append(seconds)
                hub.door.arrive(second)
            await plain(0)

        monkeypatch.setattr(asyncio, "sleep", sleep)
        hub.door.arrive(first)
        return await asyncio.wait_for(host._group(), PATIENCE)

    assert asyncio.run(attempt()) == [first, second]
    assert waited == [7.0]
