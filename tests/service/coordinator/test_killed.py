"""kill -9 of real processes, whichever and whenever: broker, coordinator, sites. Nothing is lost or counted twice.

Features and rewards are multiples of 1/16, so that every sum is exact and is compared with ==; where sums travel
rounded, they and what rounding left at the sites are within 1e-9 of what was observed.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from fedbandit.durable.coordinator.server import DurableServer
from fedbandit.durable.journals.journal import open_journal
from fedbandit.durable.journals.sqlite import SqliteJournal
from fedbandit.durable.site.client import DurableClient
from fedbandit.protocol.charter import Charter
from fedbandit.simulation.replay import replay
from fedbandit.transport.nats.broker import Broker, free_port
from fedbandit.transport.nats.broker_settings import BrokerSettings
from fedbandit.wire import decode
from fedbandit.wire.frame import Frame
from fedbandit.wire.state import encode_state
from samples.deployed import Coordinator
from samples.waiting import until
from simulation.tagged import differ, sums_of, tagged_setting, tagged_turns, times_counted

SITES, TURNS, KILLS = 2, 40, 4
ALGORITHMS = [
    ("lean-linucb", {"upload_threshold": 300.0, "download_threshold": 1.0}),  # rounded, as it is by default
    ("async-linucb", {"upload_threshold": 1.0, "smallest_upload": 1, "download_threshold": 1.0}),
    ("async-linucb", {"upload_threshold": 3000.0, "download_threshold": 30.0}),
    ("sync-linucb", {"sync_threshold": 0.5}),
    ("clustered-linucb", {"upload_threshold": 1.0, "smallest_upload": 1, "download_threshold": 1.0, "noise": 0.0}),
    ("lean-linucb", {"precision": "float64", "upload_threshold": 20.0, "download_threshold": 1.0}),
    ("lean-linucb", {"upload_threshold": 300.0, "download_threshold": 1.0, "delivery": "upload"}),
]


class Machines:
    """All processes of a federation, and what kills them."""

    def __init__(self, folder, seed):
        name, parameters = ALGORITHMS[seed % len(ALGORITHMS)]
        setting = tagged_setting(TURNS, SITES)
        self.charter = Charter.named(name, setting, **parameters)
        sizes = {"clients": SITES, "arms": setting.arms, "dimension": setting.dimension, "horizon": setting.horizon}
        self.table = {"algorithm": name, **sizes, "set": parameters}
        self.folder, self.seed, self.starts = folder, seed, 1
        self.journal = str(folder / "journals")
        self.settings = BrokerSettings(folder / "broker", port=free_port())
        self.coordinator = Coordinator(folder, self.settings.url, {"tagged": {**self.table, "keep_log": True}})
        self.sites = []

    @property
    def address(self):
        return f"{self.settings.url}/tagged"

    def start_broker(self):
        self.broker = Broker(self.settings)

    def start(self):
        self.start_broker()
        self.coordinator.start()
        self.sites += [self.start_site(number) for number in range(SITES)]

    def start_site(self, number):
        told = json.dumps({"table": self.table, "seed": self.seed, "turns": TURNS})
        command = [sys.executable, "-m", "samples.site_process", str(self.folder), str(number)]
        return subprocess.Popen([*command, self.address, told], cwd=Path(__file__).parents[2])

    def kill(self, victim):
        """Kill one and start it again."""
        if victim == "broker":
            self.broker.kill()
            self.broker = Broker(self.settings)
        elif victim == "coordinator":
            self.coordinator.kill()
            self.starts += 1
            self.coordinator.start()
        else:
            self.sites[victim].kill()
            self.sites[victim].wait()
            (self.folder / f"unsent-{victim}").unlink(missing_ok=True)
            self.sites[victim] = self.start_site(victim)

    def done(self):
        """How many turns the applications have behind them."""
        diaries = [self.folder / f"diary-{number}.jsonl" for number in range(SITES)]
        return sum(diary.read_text().count('"done"') for diary in diaries if diary.exists())

    def come_to_rest(self):
        """Wait until all that was learnt is acknowledged and every site has told that it has its latest version."""
        until(lambda: self.done() == TURNS, "the turns")
        until(self.is_at_rest, "rest")

    def is_at_rest(self):
        if self.coordinator.process.poll() is not None:  # it found no broker when it started: a service begins again
            self.coordinator.start()
        notes = [self.folder / f"unsent-{number}" for number in range(SITES)]
        if not all(note.exists() and note.read_text() == "0" for note in notes):
            return False
        try:
            (told,) = json.loads(self.coordinator.asked("status.json"))["federations"]
        except OSError:
            return False
        return all(each["last_contact"] and each["version"] == each["version_sent"] for each in told["sites"])

    def stop(self):
        for site in self.sites:
            site.terminate()
        codes = [site.wait(timeout=30) for site in self.sites] + [self.coordinator.stop()]
        self.broker.stop()
        return codes

    def end(self):
        self.coordinator.end()
        self.broker.kill()
        for process in self.sites:
            process.kill()
            process.wait()


def check(machines):
    """Compare what the journals hold with what the applications have written down."""
    journal = open_journal(machines.journal, "tagged", keep_log=True)
    server = DurableServer(machines.charter, journal, epoch=1, now=0.0)
    stores = [SqliteJournal(machines.folder / f"site-{number}.db") for number in range(SITES)]
    sites = [DurableClient(machines.charter, number, fresh=1 << 31, journal=each) for number, each in enumerate(stores)]
    turns = tagged_turns(machines.seed, TURNS, SITES)
    rows = [site.life.node.state.rows for site in sites]
    total_gram, total_moment = sums_of(server.node.state)
    total_gram = total_gram + sum(row.new_gram[0] for row in rows)
    total_moment = total_moment + sum(row.new_moment[0] for row in rows)
    gram, moment = np.zeros_like(total_gram), np.zeros_like(total_moment)
    for number in range(SITES):
        diary = (machines.folder / f"diary-{number}.jsonl").read_text().splitlines()
        for entry in {each["turn"]: each for each in map(json.loads, diary)}.values():
            arm = turns.features[entry["turn"], entry["arm"]]
            gram = gram + np.outer(arm, arm)
            moment = moment + turns.outcomes.payoff[entry["turn"], entry["arm"]] * arm
    assert (times_counted(total_gram) == 1).all()
    assert not differ(machines.charter, total_gram, gram, is_all_there=True)
    assert not differ(machines.charter, total_moment, moment, is_all_there=True)
    for number, site in enumerate(sites):
        latest = server.postbox.latest.get(number)
        assert site.life.version == ((latest[-1].epoch, int(latest[-1].sequence)) if latest else (0, 0))
        unsent = [decode(Frame.from_bytes(data).body) for data in site.life.outbox.frames.values()]
        assert all(each.is_signal() for each in unsent), "it may ask, as it was opened here"
        assert not site.life.outbox.refused
    assert encode_state(replay(machines.charter, journal.records()).state) == encode_state(server.node.state)
    for each in [journal, *stores]:
        each.close()


def survive(folder, seed):
    rng = np.random.default_rng([seed, 9])
    machines = Machines(folder, seed)
    try:
        machines.start()
        for at in sorted(rng.integers(1, TURNS, KILLS).tolist()):
            until(lambda at=at: machines.done() >= at, f"turn {at}")
            machines.kill(rng.permutation(np.array(["broker", "coordinator", *range(SITES)], dtype=object))[0])
        machines.come_to_rest()
        assert machines.stop() == [0] * (SITES + 1)
        check(machines)
    finally:
        machines.end()


@pytest.mark.parametrize("seed", range(1))
def test_whoever_is_killed_nothing_is_lost_and_nothing_counts_twice(tmp_path, seed):
    survive(tmp_path, seed)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(1, 28))
def test_nor_in_many_more_runs(tmp_path, seed):
    survive(tmp_path, seed)
