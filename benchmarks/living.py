"""A federation that lives: 20 sites in processes of their own learn while it changes, and how long each change takes.

A site joins, one leaves, a threshold changes, a feature is added and removed, a site is revoked, and the coordinator is
killed while another stands by. At the end all sums are compared with ==: every reward counts once.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from contextlib import ExitStack
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.row import Row
from fedbandit.core.arrays import Floats
from fedbandit.durable.coordinator.server import DurableServer
from fedbandit.durable.journals.journal import open_journal
from fedbandit.durable.journals.sqlite import SqliteJournal
from fedbandit.durable.site.client import DurableClient
from fedbandit.service.coordinator.settings import read_plan
from fedbandit.service.keys.files import Keys
from fedbandit.site.joining import kept_in
from fedbandit.transport.nats.address import owner
from fedbandit.transport.nats.broker import Broker, free_port
from fedbandit.transport.nats.broker_settings import BrokerSettings, Security
from fedbandit.wire import decode
from fedbandit.wire.frame import Frame, Kind

SITES, ROOM = 20, 24
PROGRAM = [sys.executable, "-c", "from fedbandit.cli import main; main()"]
FILE = """
broker = "{broker}"
credentials = "keys/coordinator.pem"
authority = "keys"
journal = "journals"
http = "127.0.0.1:{port}"
standby = true
[federations.shops]
algorithm = "async-linucb"
clients = {room}
dimension = 4
set = {{ upload_threshold = 1.5, download_threshold = 1.5, smallest_upload = 1 }}
limits = {{ context = 4.0, reward = 1.0, observations_per_second = 1000 }}
"""


class Living:
    """All processes of the federation."""

    def __init__(self, folder: Path, stack: ExitStack, sites: int = SITES) -> None:
        """Start the broker, two coordinators, and the first sites."""
        self.folder, self.stack = folder, stack
        self._ports: dict[int, int] = {}  # by process
        self.sites: dict[str, subprocess.Popen[bytes]] = {}
        keys = Keys(folder / "keys")
        for name in ("broker", "coordinator"):
            keys.new(name)
        secured = Security(keys.path("broker"), keys.authority, {"shops": ROOM}, keys.doorkeeper())
        settings = BrokerSettings(folder / "broker", port=free_port(), security=secured)
        self.broker = stack.enter_context(Broker(settings))
        self.coordinators = [self.start_coordinator() for _ in range(2)]
        for number in range(sites):
            self.join(f"shop-{number}")
        until(lambda: all(self.seen(name)["turns"] > 3 for name in self.sites), "the first turns")

    def start_coordinator(self) -> subprocess.Popen[bytes]:
        """Start a coordinator, which stands by if another serves."""
        port = free_port()
        self.file = self.folder / f"serve-{port}.toml"
        self.file.write_text(FILE.format(broker=self.broker.url, port=port, room=ROOM), encoding="utf-8")
        log = (self.folder / f"serve-{port}.log").open("wb")
        process = subprocess.Popen([*PROGRAM, "serve", str(self.file)], stdout=log, stderr=log)
        log.close()
        self.stack.callback(process.wait)
        self.stack.callback(process.kill)
        self._ports[process.pid] = port
        until(lambda: self.serves(process) or b"standby" in self._log(port), "a coordinator")
        return process

    def serves(self, coordinator: subprocess.Popen[bytes]) -> bool:
        """Tell whether a coordinator serves."""
        return b"serving at" in self._log(self._ports[coordinator.pid])

    def _log(self, port: int) -> bytes:
        return (self.folder / f"serve-{port}.log").read_bytes()

    def command(self, *words: str) -> str:
        """Run a command of an operator, or of a site."""
        done = subprocess.run([*PROGRAM, *words], cwd=self.folder, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        return done.stdout

    def operate(self, *words: str) -> str:
        """Run a command that asks the coordinator."""
        return self.command(*words, "--file", str(self.file))

    def join(self, name: str) -> None:
        """Invite a site, let it join, and start it."""
        token = self.operate("invite", "shops", name).split()[-1]
        self.command("join", token, "--folder", "sites")
        credential = next((self.folder / "sites").glob(f"*{name}.pem"))
        to = f"{self.broker.url}/shops"
        words = [sys.executable, "-m", "benchmarks.living_site", str(self.folder), name, to, str(credential)]
        self.sites[name] = subprocess.Popen(words)
        self.stack.callback(self.sites[name].wait)
        self.stack.callback(self.sites[name].kill)

    def seen(self, name: str) -> dict[str, Any]:
        """Return what a site says of itself."""
        path = self.folder / f"{name}.json"
        return dict(json.loads(path.read_text())) if path.exists() else {"turns": 0, "state": "", "unsent": -1}

    def takes(self, do: Callable[[], object], is_done: Callable[[], bool], what: str) -> float:
        """Do something; return the seconds until it has taken effect."""
        began = time.perf_counter()
        do()
        until(is_done, what)
        return time.perf_counter() - began

    def everywhere(self, name: str, value: object) -> bool:
        """Tell whether all sites that take part have a value."""
        return all(self.seen(each).get(name) == value for each in self.sites)

    def is_served(self, name: str) -> bool:
        """Tell whether the coordinator that stood by serves, and a site is connected to it."""
        return self.serves(self.coordinators[1]) and self.seen(name)["state"] == "connected"

    def unsent(self, name: str) -> tuple[Floats, Floats]:
        """Return the sums that the store of a site has and the coordinator lacks."""
        charter, owned = kept_in(self.folder / f"{name}.db"), owner(self.folder / "sites" / f"shops.{name}.pem")
        assert charter is not None
        assert owned is not None
        store = SqliteJournal(self.folder / f"{name}.db")
        site = DurableClient(charter, int(owned[1]), fresh=int(time.time()) << 30, journal=store)
        rows = site.life.node.state.rows
        gram, moment = rows.new_gram[0].copy(), rows.new_moment[0].copy()
        for data in site.life.outbox.frames.values():
            frame = Frame.from_bytes(data)
            message: Any = decode(frame.body) if frame.kind is Kind.UPLOAD else None
            if message is not None and not message.is_signal():
                gram, moment = gram + message.gram[0], moment + message.moment[0]
        store.close()
        return gram, moment

    def rest(self) -> None:
        """Let all sites send what they have, and end."""
        (self.folder / "rest").touch()
        until(lambda: all(self.seen(each)["unsent"] == 0 for each in self.sites), "rest")
        for each in self.sites.values():
            each.send_signal(signal.SIGTERM)
        for each in self.sites.values():
            assert each.wait(60) == 0


def until(condition: Callable[[], bool], what: str) -> None:
    """Wait for something to come true."""
    ends = time.monotonic() + 300
    while not condition():
        if time.monotonic() > ends:
            raise TimeoutError(f"no {what} after five minutes")
        time.sleep(0.02)


@cache
def _lived() -> dict[str, float]:
    """Let a federation live through everything; return the seconds of each change."""
    with tempfile.TemporaryDirectory() as name, ExitStack() as stack:
        before = os.sched_getaffinity(0)
        os.sched_setaffinity(0, range(os.cpu_count() or 1))  # benchmarks run on one core; these processes need not
        stack.callback(os.sched_setaffinity, 0, before)
        living = Living(Path(name), stack)
        gone = [f"shop-{number}" for number in (3, 7)]
        seconds = {
            "join": living.takes(
                lambda: living.join("newcomer"), lambda: living.seen("newcomer")["state"] == "connected", "join"
            ),
            "change": living.takes(
                lambda: living.operate("change", "shops", "upload_threshold=1.25"),
                lambda: living.everywhere("threshold", 1.25), "threshold",
            ),
            "add": living.takes(
                lambda: living.operate("change", "shops", "dimension=5"),
                lambda: living.everywhere("dimension", 5), "feature",
            ),
            "drop": living.takes(
                lambda: living.operate("change", "shops", "drop=4"), lambda: living.everywhere("dimension", 4), "drop",
            ),
            "revoke": living.takes(
                lambda: living.operate("revoke", "shops", gone[1]),
                lambda: living.seen(gone[1])["state"] == "refused", "revocation",
            ),
        }  # fmt: skip
        living.operate("remove", "shops", gone[0])
        left = {name: living.sites.pop(name) for name in gone}
        for each in left.values():
            each.send_signal(signal.SIGTERM)
            assert each.wait(60) == 0
        seconds["failover"] = living.takes(
            living.coordinators[0].kill, lambda: living.is_served("shop-0"), "coordinator that took over"
        )
        living.rest()
        living.coordinators[1].send_signal(signal.SIGTERM)
        assert living.coordinators[1].wait(60) == 0
        _check(living, [*living.sites, *left])
        return seconds


def _check(living: Living, names: list[str]) -> None:
    """Compare the sums of the coordinator and what is unsent with what the sites were rewarded for."""
    plan = read_plan(living.file).federations[0]
    journal = open_journal(str(living.folder / "journals"), "shops", keep_log=False)
    server = DurableServer(plan.charter, journal, epoch=1, now=time.time(), limits=plan.limits)
    gram, moment = server.node.state.gram.copy(), server.node.state.moment.copy()
    wanted = np.zeros_like(gram), np.zeros_like(moment)
    for name in names:
        told = np.load(living.folder / f"{name}.npz")
        wanted = wanted[0] + told["gram"], wanted[1] + told["moment"]
        unsent = living.unsent(name)
        gram, moment = gram + unsent[0], moment + unsent[1]
    journal.close()
    assert (gram == wanted[0]).all(), "every reward counts once"
    assert (moment == wanted[1]).all(), "every reward counts once"


def _row(key: str, what: str) -> Row:
    return Row(f"among 20 sites: {what}", 5, "s", lambda: _lived()[key], "rewards flow, sums are compared with ==")


ROWS = (
    _row("join", "a site is invited, joins and is connected"),
    _row("change", "a threshold changes at all"),
    _row("add", "a feature is added at all"),
    _row("drop", "and removed"),
    _row("revoke", "a revoked site is out"),
    _row("failover", "a coordinator is killed and another serves"),
)
