"""How a site ends: closed by any thread at any time, in another process, at the end of the program."""

from __future__ import annotations

import asyncio
import threading

import numpy as np
import pytest

import fedbandit as fb
from fedbandit.site import conversation
from fedbandit.site.condition import SiteState
from samples.local_coordinator import LocalCoordinator

ARMS = np.eye(2)
FEDERATION = {"dimension": 2, "clients": 2, "upload_threshold": np.inf}
CLOSED = r"the site is closed: open it again with fb.Site\(\.\.\.\)"


def site(**more):
    return fb.Site("async-linucb", **{**FEDERATION, **more})


def learnt(store):
    """How many rewards a store has taken in."""
    with site(store=store) as again:
        return int(again.node.life.node.state.rows.fresh[0])


def test_a_closed_site_says_so_and_changes_nothing():
    one = site()
    decision = one.choose(ARMS)
    one.close()
    for use in (
        lambda: one.choose(ARMS),
        lambda: one.learn(decision, 1.0),
        lambda: one.connect("nats://127.0.0.1:4222/demo"),
        lambda: asyncio.run(one.run("nats://127.0.0.1:4222/demo")),
    ):
        with pytest.raises(fb.InvalidInput, match=CLOSED):
            use()
    assert one.pending == 1
    assert one.state is SiteState.OFFLINE
    assert one.policy().choose(ARMS) in (0, 1)


def test_a_site_may_be_closed_again_and_again(tmp_path):
    with site(store=tmp_path / "site.db") as one:
        one.close()
        threads = [threading.Thread(target=one.close) for _ in range(3)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    with site(store=tmp_path / "site.db"):
        pass


@pytest.mark.parametrize("hangs", ["connect", "send", "close"])
def test_a_site_whose_network_hangs_is_closed_all_the_same(tmp_path, hangs, monkeypatch):
    monkeypatch.setattr(conversation, "FAREWELL_SECONDS", 0.1)
    one = site(store=tmp_path / "site.db")
    reached = threading.Event()

    class Hanging:
        async def connect(self):
            await self.may("connect")
            return self

        async def send(self, frame):
            await self.may("send")

        async def receive(self):
            await asyncio.Event().wait()

        async def close(self):
            await self.may("close")

        async def may(self, what):
            reached.set()
            if what == hangs:
                await asyncio.Event().wait()

    one.connect(Hanging().connect)
    assert reached.wait(30)
    one.learn(one.choose(ARMS), 1.0)
    one.close()
    assert learnt(tmp_path / "site.db") == 1


def test_a_site_may_be_closed_from_within_its_own_thread(tmp_path):
    one = site(store=tmp_path / "site.db", upload_threshold=1.0, smallest_upload=1)
    one.learn(one.choose(ARMS), 1.0)
    coordinator = LocalCoordinator(one.charter)
    hear, closed = one.hear, threading.Event()

    def closing(frame):
        heard = hear(frame)
        one.close()
        closed.set()
        return heard

    one.hear = closing
    one.connect(coordinator.connector(0))
    assert closed.wait(30)
    one.close()  # now from another thread: it waits until all is done
    assert coordinator.server.node.state.uploads == 1
    with site(store=tmp_path / "site.db", upload_threshold=1.0, smallest_upload=1) as again:
        assert again.version == 0


def test_in_an_asyncio_program_the_store_is_closed_when_the_task_ends(tmp_path):
    async def main():
        one = site(store=tmp_path / "site.db", upload_threshold=1.0, smallest_upload=1)
        coordinator = LocalCoordinator(one.charter)
        talk = asyncio.ensure_future(one.run(coordinator.connector(0)))
        while 0 not in coordinator.links:
            await asyncio.sleep(0)
        one.learn(one.choose(ARMS), 1.0)
        one.close()
        await talk
        return coordinator.server.node.state.uploads

    assert asyncio.run(main()) == 1, "what could be sent was"
    with site(store=tmp_path / "site.db", upload_threshold=1.0, smallest_upload=1):
        pass


def test_a_site_whose_loop_was_stopped_is_closed_at_once(tmp_path):
    one = site(store=tmp_path / "site.db")

    async def connect():
        await asyncio.Event().wait()

    loop = asyncio.new_event_loop()
    talk = loop.create_task(one.run(connect))
    loop.run_until_complete(asyncio.sleep(0))
    one.close()
    with site(store=tmp_path / "site.db"):
        pass
    talk.cancel()
    loop.run_until_complete(asyncio.gather(talk, return_exceptions=True))
    loop.close()


def test_a_site_talks_to_one_coordinator_at_a_time():
    one = site()
    coordinator = LocalCoordinator(one.charter)
    one.connect(coordinator.connector(0))
    with pytest.raises(fb.InvalidInput, match="the site is connected already: close it before"):
        one.connect(coordinator.connector(0))
    one.close()


def test_a_store_that_is_refused_is_not_left_locked(tmp_path):
    with site(store=tmp_path / "site.db"):
        pass
    for wrong in ({"number": 1}, {"ridge": 7.0}):
        with pytest.raises(fb.InvalidInput, match="the store belongs to") as caught:
            site(store=tmp_path / "site.db", **wrong)
        assert caught.traceback, "whoever keeps the error keeps the frames in which the store was opened"
        with site(store=tmp_path / "site.db"):
            pass
