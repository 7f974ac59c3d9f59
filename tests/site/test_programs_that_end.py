"""Programs with a site that end or fork in the middle of something: each in a process of its own."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import numpy as np
import pytest

import fedbandit as fb
from samples.standard_error import COMPILING

ARMS = np.eye(2)
FEDERATION = {"dimension": 2, "clients": 2, "upload_threshold": np.inf}
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
    assert done.stderr.replace(COMPILING, "") == ""
    return done.stdout


def learnt(store):
    """How many rewards a store has taken in."""
    with site(store=store) as again:
        return int(again.node.life.node.state.rows.fresh[0])


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


@pytest.mark.parametrize("attempt", [0, *(pytest.param(attempt, marks=pytest.mark.slow) for attempt in range(1, 5))])
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


def test_a_site_that_decides_alone_starts_without_what_talks_logs_and_reads_features(tmp_path):
    script = "site.learn(site.choose(arms), 1.0); print(*sys.modules)"
    loaded = set(program(script, tmp_path / "site.db").split())
    assert "fedbandit.site.site" in loaded
    slow = {"asyncio", "ssl", "msgspec", "fedbandit.features.features", "fedbandit.logs.log"}
    assert loaded & slow == set()
