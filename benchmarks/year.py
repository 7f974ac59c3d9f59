"""A federation's year in ten minutes: what 200 joins and leaves, 50 changes and 20 failovers leave behind is level.

`python -m benchmarks year`; or a part of a year, `python -m benchmarks.year 0.1`. The broker and both coordinators are
processes; sites come and go in this one, and learn throughout. Each failover is a kill -9. Memory, descriptors and
files are looked at after each quarter; at the end sums are compared with ==: every reward of the year counts once.
"""

from __future__ import annotations

import json
import logging
import os
import signal
import sys
import tempfile
import time
from collections.abc import Callable
from contextlib import ExitStack, suppress
from functools import cache
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

import fedbandit as fb
from benchmarks.living import Living, until
from benchmarks.row import Row
from fedbandit.core.arrays import Floats
from fedbandit.durable.coordinator.server import DurableServer
from fedbandit.durable.journals.journal import open_journal
from fedbandit.service.coordinator.settings import read_plan
from fedbandit.service.roster.asking import NobodyThere, ask
from fedbandit.service.roster.joining import join
from fedbandit.transport.nats.subjects import Subjects

JOINS, CHANGES, FAILOVERS, QUARTERS = 200, 50, 20, 4
PRESENT = 5  # sites at a time
TURNS = 36  # of each of them between two joins: in all, several times as many as a journal keeps records
NAMES = 18  # fewer than the federation has numbers: most who join have been there before
SUBJECTS = Subjects("shops")
MIB = 2.0**20
TRIES = 20
Answer = TypeVar("Answer")


class Year:
    """The federation, and what its sites were rewarded for."""

    def __init__(self, folder: Path, stack: ExitStack) -> None:
        """Start the broker and two coordinators."""
        self.living = Living(folder, stack, sites=0)
        self.folder, self.stack = folder, stack
        self.credential = folder / "keys" / "coordinator.pem"
        self.sites: dict[str, fb.Site] = {}
        self.told: Floats = np.zeros(4)
        self.rng = np.random.default_rng(7)
        self.seen: list[dict[str, float]] = []
        logging.getLogger("fedbandit").addHandler(logging.NullHandler())  # sites lose their connection at each failover

    def run(self, share: float) -> None:
        """Let a part of a year pass."""
        joins = max(QUARTERS, round(JOINS * share))
        changes, failovers = max(1, round(CHANGES * share)), max(1, round(FAILOVERS * share))
        for number in range(joins):
            self._join(f"shop{number % NAMES}")
            self._learn()
            if len(self.sites) > PRESENT:
                self._leave(next(iter(self.sites)))
            if _is_due(number, joins, changes):
                self._change(number)
            if _is_due(number, joins, failovers):
                self._fail_over()
            if _is_due(number, joins, QUARTERS):
                self.seen.append(self._look())
        for name in list(self.sites):
            self._leave(name)
        self._check()

    def _ask(self, subject: str, **question: Any) -> dict[str, Any]:
        asked = json.dumps(question).encode()
        return _patiently(lambda: ask(self.living.broker.url, self.credential, subject, asked))

    def _join(self, name: str) -> None:
        how = {"days": 1.0, "valid": 1.0, "broker": self.living.broker.url}
        token = self._ask(SUBJECTS.roster, do="invite", name=name, **how)["token"]
        (self.folder / "sites" / f"shops.{name}.pem").unlink(missing_ok=True)  # of the last time
        joined = _patiently(lambda: join(token, self.folder / "sites"))
        store = self.folder / f"{name}.db"
        self.sites[name] = fb.Site.join(
            joined.address, credentials=joined.credential, store=store, every=1.0, patience=0.2
        )

    def _leave(self, name: str) -> None:
        """Let a site send what it has, leave, and end; what is too little to be sent stays in its store."""
        site = self.sites.pop(name)
        until(lambda: site.unsent == 0, f"acknowledgement of {name}")
        self._ask(SUBJECTS.roster, do="remove", name=name)
        site.close()

    def _learn(self) -> None:
        """Let all sites decide and learn: sixteenths, so that sums are exact."""
        for site in self.sites.values():
            for _ in range(TURNS):
                arms = self.rng.integers(-8, 9, (3, 4)) / 16
                decision = site.choose(arms)
                reward = float(self.rng.integers(17)) / 16
                assert site.learn(decision, reward)
                self.told += reward * arms[int(decision.arm)]

    def _change(self, number: int) -> None:
        """Change a threshold, which goes up and down; wait until all who are there have heard of it."""
        value = f"{1.0 + 0.25 * (number % 3) + 0.001 * number:.3f}"
        with suppress(fb.InvalidInput):  # the first of two tries was heard, and not answered
            self._ask(SUBJECTS.charter, do="change", values={"upload_threshold": value})
        revision = self._ask(SUBJECTS.charter, do="show")["revision"]
        until(lambda: all(site.revision == revision for site in self.sites.values()), "revision at all")

    def _fail_over(self) -> None:
        """Kill the coordinator that serves; the other takes over, and a new one stands by."""
        living = self.living
        serving = living.coordinators.pop(0)
        serving.kill()
        serving.wait()
        until(lambda: living.serves(living.coordinators[0]), "coordinator that took over")
        until(lambda: all(site.connected for site in self.sites.values()), "sites that are connected again")
        living.coordinators.append(living.start_coordinator())

    def _look(self) -> dict[str, float]:
        """Return what there is of what must not grow."""
        seen = {}
        broker = self.living.broker.process.pid
        for name, process in (
            ("coordinator", self.living.coordinators[0].pid),
            ("broker", broker),
            ("sites", os.getpid()),
        ):
            status = Path(f"/proc/{process}/status").read_text(encoding="ascii")
            seen[f"{name} MiB"] = int(status.partition("VmRSS:")[2].split()[0]) / 1024
            seen[f"{name} descriptors"] = len(list(Path(f"/proc/{process}/fd").iterdir()))
        seen["journals MiB"] = _size(self.folder / "journals")
        seen["streams MiB"] = _size(self.folder / "broker")
        seen["stores MiB"] = sum(path.stat().st_size for path in self.folder.glob("*.db")) / MIB
        logs = [path.stat().st_size / MIB for path in self.folder.glob("*.db-wal")]  # of sites that are open
        seen["longest write-ahead log MiB"] = max(logs, default=0.0)
        return seen

    def _check(self) -> None:
        """Compare what the coordinator and the stores have with what the sites were rewarded for."""
        for each in self.living.coordinators:
            each.send_signal(signal.SIGTERM)
            assert each.wait(60) == 0
        plan = read_plan(self.living.file).federations[0]
        journal = open_journal(str(self.folder / "journals"), "shops")
        server = DurableServer(plan.charter, journal, epoch=1, now=time.time(), limits=plan.limits)
        moment = server.node.state.moment.copy()
        journal.close()
        for store in sorted(self.folder.glob("*.db")):
            moment += self.living.unsent(store.stem)[1]
        assert (moment == self.told).all(), "every reward of the year counts once"


def _patiently(work: Callable[[], Answer]) -> Answer:
    """Do something as an operator does: again, while the machine is too busy to answer."""
    for _ in range(TRIES):
        with suppress(NobodyThere):
            return work()
    return work()


def _is_due(number: int, joins: int, times: int) -> bool:
    """Tell whether one of so many things that are spread over all joins comes after one of them."""
    return (number + 1) * times // joins > number * times // joins


def _size(folder: Path) -> float:
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file()) / MIB


@cache
def _passed(share: float = 1.0) -> tuple[list[dict[str, float]], float]:
    """Let a part of a year pass; return what was seen after each quarter, and the minutes it took."""
    with tempfile.TemporaryDirectory() as name, ExitStack() as stack:
        before = os.sched_getaffinity(0)
        os.sched_setaffinity(0, range(os.cpu_count() or 1))  # benchmarks run on one core; these processes need not
        stack.callback(os.sched_setaffinity, 0, before)
        began = time.perf_counter()
        year = Year(Path(name), stack)
        year.run(share)
        return year.seen, (time.perf_counter() - began) / 60


def _grown(name: str) -> float:
    """Return how much more there is after the last quarter than after the first."""
    seen, _ = _passed()
    return seen[-1][name] - seen[0][name]


def _row(name: str, at_most: float, unit: str) -> Row:
    return Row(f"after a year, more than after its first quarter: {name}", at_most, unit, lambda: _grown(name))


ROWS = (
    Row(
        "a year: 200 joins and leaves, 50 changes, 20 failovers",
        12,
        "min",
        lambda: _passed()[1],
        "sums compared with ==",
    ),
    _row("coordinator MiB", 15, "MiB"),
    _row("broker MiB", 25, "MiB"),
    _row("sites MiB", 25, "MiB"),
    _row("coordinator descriptors", 5, ""),
    _row("broker descriptors", 10, ""),
    _row("sites descriptors", 10, ""),
    _row("journals MiB", 16, "MiB"),
    _row("streams MiB", 4, "MiB"),
    _row("stores MiB", 4, "MiB"),
    Row(
        "in a year, the longest write-ahead log of a store",
        5,
        "MiB",
        lambda: max(seen["longest write-ahead log MiB"] for seen in _passed()[0]),
        "SQLite begins anew at 4",
    ),
)


if __name__ == "__main__":
    quarters, minutes = _passed(float(sys.argv[1]) if len(sys.argv) > 1 else 1.0)
    for what in quarters[0]:
        print(f"{what:26}", *(f"{quarter[what]:8.1f}" for quarter in quarters))
    print(f"{minutes:.1f} minutes; every reward counts once")
