"""How a site ends: closed by any thread at any time, in another process, at the end of the program."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
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
OPEN = """
import json, os, signal, sys, threading
import numpy as np
import fedbandit as fb
def open_site():
    return fb.Site("async-linucb", dimension=2, clients=2, upload_threshold=np.inf, store=sys.argv[1])
site = open_site()
arms = np.eye(2)
"""


def site(**more):
    return fb.Site("async-linucb", **{**FEDERATION, **more})


def program(script, *arguments, patience=60):
    """Run a program with an opened site in a process of its own; return what it has printed."""
    command = [sys.executable, "-c", OPEN + script, *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=patience)
    assert done.returncode == 0, f"{done.returncode}: {done.stderr}"
    assert done.stderr == ""
    return done.stdout


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


CLOSED_BY_ANOTHER_THREAD = """
told, refusals = [], []
def work():
    try:
        while True:
            decision = site.choose(arms)
            if site.learn(decision, 1.0):
                told.append(decision.id)
    except fb.InvalidInput as error:
        refusals.append(str(error))
threads = [threading.Thread(target=work) for _ in range(6)]
for thread in threads:
    thread.start()
while len(told) < 300:
    pass
site.close()
for thread in threads:
    thread.join()
site = open_site()
print(json.dumps([len(refusals), sorted(set(refusals)), sum(site.learn(each, 1.0) for each in told)]))
"""


@pytest.mark.parametrize("attempt", range(2))
def test_a_site_that_is_closed_while_threads_learn_keeps_what_it_has_told_them(tmp_path, attempt):
    refused, reasons, forgotten = json.loads(program(CLOSED_BY_ANOTHER_THREAD, tmp_path / "site.db"))
    assert refused == 6
    assert reasons == ["the site is closed: open it again with fb.Site(...)"]
    assert forgotten == 0


FORKED = """
told = []
def play(turns):
    for _ in range(turns):
        site.learn(site.choose(arms), 1.0)
play(20)
decision = site.choose(arms)
child = os.fork()
if child == 0:
    uses = (
        lambda: site.choose(arms), lambda: site.learn(decision, 1.0), lambda: site.pending, lambda: site.policy(),
        lambda: site.connect("nats://127.0.0.1:4222/demo"), lambda: site.hear(b""), lambda: site.news(),
    )
    for use in uses:
        try:
            use()
        except fb.InvalidInput as error:
            told.append(str(error).replace(str(os.getpid()), "CHILD").replace(str(os.getppid()), "PARENT"))
    site.close()
    print(json.dumps([len(uses), len(told), sorted(set(told))]), flush=True)
    sys.exit(0)  # not os._exit: all that a program does when it ends
assert os.waitpid(child, 0)[1] == 0
play(20)
os.kill(os.getpid(), signal.SIGKILL)
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there are no forks on this system")
def test_a_forked_process_cannot_use_a_site_and_does_it_no_harm(tmp_path):
    store = tmp_path / "site.db"
    command = [sys.executable, "-W", "ignore", "-c", OPEN + FORKED, str(store)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60)
    assert done.returncode == -9, done.stderr
    uses, raised, sentences = json.loads(done.stdout)
    assert raised == uses
    assert sentences == [
        "the site belongs to process PARENT, and this is process CHILD: open a site in each process, with a number and "
        "a store of its own, or let one process own the site"
    ]
    assert learnt(store) == 40, "what the parent learnt before and after the fork outlives its end"


LEFT_OPEN = """
import asyncio
class Silent:
    async def send(self, frame): pass
    async def receive(self): await asyncio.Event().wait()
    async def close(self): pass
connected = threading.Event()
async def connect():
    connected.set()
    return Silent()
site.connect(connect)
connected.wait()
site.learn(site.choose(arms), 1.0)
others = [fb.Site("async-linucb", dimension=2) for _ in range(3)]
print("done")
"""


def test_a_program_may_end_with_sites_left_open(tmp_path):
    assert program(LEFT_OPEN, tmp_path / "site.db") == "done\n"
    assert learnt(tmp_path / "site.db") == 1
    assert sorted(each.name for each in tmp_path.iterdir()) == ["site.db", "site.db-mark"], (
        "the store was closed, not torn away"
    )


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
    one = site(store=tmp_path / "site.db", upload_threshold=1.0)
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
    with site(store=tmp_path / "site.db", upload_threshold=1.0) as again:
        assert again.version == 0


def test_in_an_asyncio_program_the_store_is_closed_when_the_task_ends(tmp_path):
    async def main():
        one = site(store=tmp_path / "site.db", upload_threshold=1.0)
        coordinator = LocalCoordinator(one.charter)
        talk = asyncio.ensure_future(one.run(coordinator.connector(0)))
        while 0 not in coordinator.links:
            await asyncio.sleep(0)
        one.learn(one.choose(ARMS), 1.0)
        one.close()
        await talk
        return coordinator.server.node.state.uploads

    assert asyncio.run(main()) == 1, "what could be sent was"
    with site(store=tmp_path / "site.db", upload_threshold=1.0):
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
