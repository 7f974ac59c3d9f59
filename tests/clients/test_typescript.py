"""The client for JavaScript and TypeScript, with a real Node, and programs of two languages that share one site."""

from __future__ import annotations

import asyncio
import json
import os
import random
import signal
import socket
import subprocess
import sys
from collections import Counter
from pathlib import Path

import aiohttp
import numpy as np
import pytest

import fedbandit as fb
from clients.programs import node
from samples.agents import one, post

ARMS = [[1.0, 0.0, 0.5], [0.0, 1.0, 0.25], [0.5, 0.5, 0.0], [0.25, 0.0, 1.0]]  # sums of their products are exact
pytestmark = pytest.mark.slow

EVERYTHING = """
const site = new fb.Site(process.argv[1] + "/", { token: "correct horse battery" });
const decision = await site.choose({ arms: [[1, 0], [0, 1]], ids: ["red", "blue"] });
const [first, wrong] = await site.chooseAll([{ arms: [[1, 0], [0, 1]] }, { arms: [[1]] }]);
const learnt = [await site.learn(decision.id, 0.5), await site.learn(decision.id, 0.5)];
const many = await site.learnAll([{ id: first.id, reward: 1 }, { id: "1-1", reward: 1 }]);
const again = await site.choose({ arms: [[1, 0], [0, 1]] });
const ended = [await site.giveUp(again.id), await site.giveUp(again.id)];
const refused = await site.learn("nothing", 1).catch((error) => [error.name, error.status, error.mayPass]);
const away = await new fb.Site("http://127.0.0.1:9").state().catch((error) => [error.status, error.mayPass]);
const stranger = await new fb.Site(process.argv[1]).state().catch((error) => error.status);
const state = await site.state(), policy = await site.policy();
console.log(JSON.stringify({ arm: decision.arm, propensity: decision.propensity, first: first.arm, wrong: wrong.message,
  learnt, many: [many[0], many[1].message], ended, refused, away, stranger, pending: state.pending,
  policy: String.fromCharCode(...policy.slice(0, 2)) }));
"""


def test_the_client_does_what_the_service_offers(client, tmp_path):
    (tmp_path / "token").write_text("correct horse battery")
    with service(tmp_path, 'token_file = "token"\n', dimension=2) as (_, url):
        told = json.loads(node(client, EVERYTHING, url))
    assert told == {
        "arm": "red", "propensity": 1, "first": 0, "learnt": [True, False], "ended": [True, False],
        "wrong": "arms has shape (1, 1), but (K, 2) is needed: reshape it",
        "many": [True, "no decision '1-1' was made at this site: give the id that choose returned"],
        "refused": ["SiteError", 400, False], "away": [0, True], "stranger": 401, "pending": 0, "policy": "FS",
    }  # fmt: skip


class service:  # noqa: N801  used as a function
    """A process that serves a site, which can be killed and started again at the same address."""

    def __init__(self, folder, more="", dimension=3):
        with socket.create_server(("127.0.0.1", 0)) as taken:
            port = taken.getsockname()[1]
        self.url = f"http://127.0.0.1:{port}"
        self.file = folder / "site.toml"
        self.file.write_text(
            f'store = "site.db"\nlisten = "127.0.0.1:{port}"\n{more}'
            f'offline = {{ algorithm = "async-linucb", dimension = {dimension} }}\n'
        )

    def __enter__(self):
        self.start()
        return self, self.url

    def start(self):
        command = [sys.executable, "-m", "fedbandit", "site", str(self.file)]
        self.process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True, env=os.environ)
        assert "answers at" in self.process.stderr.readline()

    def kill(self):
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()
        self.process.stderr.close()

    def __exit__(self, *_):
        self.kill()


async def python_worker(url, seed, decisions):
    """The same as worker.mjs, in Python."""
    chance, waiting, told = random.Random(seed), [], Counter()

    async def insist(path, body):
        while True:
            try:
                status, answer = await one(session, *post(path, body))
            except (aiohttp.ClientError, TimeoutError):
                status = 503
            if status == 200:
                return answer
            assert status == 503
            await asyncio.sleep(0.02)

    async def tell(entry):
        identity, arm, reward = entry
        await insist("learn", {"id": identity, "reward": reward})
        if chance.random() < 0.2:
            assert not (await insist("learn", {"id": identity, "reward": reward}))["new"]
        told[arm, reward] += 1

    async with aiohttp.ClientSession(url, timeout=aiohttp.ClientTimeout(2)) as session:
        for _ in range(decisions):
            decided = await insist("choose", {"arms": ARMS})
            waiting.append((decided["id"], decided["arm"], chance.randrange(17) / 16))
            while len(waiting) > 20:
                await tell(waiting.pop(chance.randrange(len(waiting))))
        while waiting:
            await tell(waiting.pop())
    return told


async def node_worker(client, url, seed, decisions):
    command = ["node", str(Path(__file__).with_name("worker.mjs")), str(client), url, str(seed), str(decisions)]
    process = await asyncio.create_subprocess_exec(*command, json.dumps(ARMS), stdout=subprocess.PIPE)
    printed, _ = await process.communicate()
    assert process.returncode == 0
    counted = json.loads(printed)
    return Counter({(int(key.partition(":")[0]), float(key.partition(":")[2])): n for key, n in counted.items()})


def test_programs_of_two_languages_share_a_site_that_is_killed_five_times(client, tmp_path):
    """10,000 decisions over 8 connections; every reward that was told counts once, to the last digit."""

    async def run():
        workers = [python_worker(server.url, seed, 1250) for seed in range(4)]
        workers += [node_worker(client, server.url, seed, 1250) for seed in range(4, 8)]
        working = asyncio.gather(*workers)
        for _ in range(5):
            before = pending = await decided_so_far(server.url)
            while pending < before + 1200 and not working.done():
                await asyncio.sleep(0.05)
                pending = await decided_so_far(server.url)
            await asyncio.to_thread(server.kill)
            await asyncio.to_thread(server.start)
        return sum(await working, Counter())

    server = service(tmp_path)
    with server:
        told = asyncio.run(run())
    assert sum(told.values()) == 10_000
    arms = np.array(ARMS)
    gram = sum(count * np.outer(arms[arm], arms[arm]) for (arm, _), count in told.items())
    moment = sum(count * reward * arms[arm] for (arm, reward), count in told.items())
    with fb.Site("async-linucb", dimension=3, store=tmp_path / "site.db") as site:
        rows = site.node.life.node.state.rows
        assert (rows.gram[0] == gram).all()
        assert (rows.moment[0] == moment).all()


async def decided_so_far(url):
    """How many decisions the service has made since it was started."""
    async with aiohttp.ClientSession(url) as session:
        _, text = await one(session, "GET", "/metrics")
    line = next(each for each in text.decode().splitlines() if each.startswith("fedbandit_agent_choose_seconds_count"))
    return float(line.split()[1])
