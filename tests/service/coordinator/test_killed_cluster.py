"""kill -9 of real processes where each has another beside it: three brokers, two coordinators; and sites."""

from __future__ import annotations

from contextlib import suppress

import numpy as np
import pytest

from samples.cluster import BROKERS, Brokers, until_it_has_a_leader
from samples.deployed import Coordinator
from samples.waiting import until
from service.coordinator.test_failover import Pair, finish, health
from service.coordinator.test_killed import SITES, TURNS

KILLS = 4


class Cluster(Pair):
    """A federation in which no process is the only one of its kind."""

    def __init__(self, folder):
        self.brokers = Brokers(folder)
        until_it_has_a_leader(self.brokers.url)
        super().__init__(folder, str(folder / "journals"))

    def coordinator_in(self, folder, federations):
        return Coordinator(folder, self.brokers.url, federations, journal=self.journal, standby=True, replicas=BROKERS)

    @property
    def address(self):
        return f"{self.brokers.url}/tagged"

    def start_broker(self):
        self.broker = self.brokers.running[0]

    def kill(self, victim):
        """Kill one and start it again."""
        kind, _, which = victim.partition(" ")
        if kind == "broker":
            self.brokers.kill(int(which))
            self.brokers.start(int(which))
        elif kind == "coordinator":
            self.coordinators[int(which)].kill()
            self.coordinators[int(which)].start()
        else:
            super().kill(int(which))

    def come_to_rest(self):
        super().come_to_rest()
        until(lambda: all(map(answers, self.coordinators)), "a coordinator that was started just now")

    def is_at_rest(self):
        """Whichever of the coordinators serves now."""
        for each in self.coordinators:
            with suppress(OSError):  # it is just being started
                if health(each)["role"] == "active":
                    self.coordinator = each
                    return super().is_at_rest()
        return False

    def end(self):
        super().end()
        self.brokers.end()


def answers(coordinator):
    with suppress(OSError):
        return health(coordinator)["alive"]


def victims():
    numbered = {"broker": BROKERS, "coordinator": 2, "site": SITES}
    return [f"{kind} {number}" for kind, count in numbered.items() for number in range(count)]


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(30))
def test_whichever_is_killed_nothing_is_lost_and_nothing_counts_twice(tmp_path, seed):
    rng = np.random.default_rng([seed, 11])
    machines = Cluster(tmp_path)
    try:
        machines.start()
        for at in sorted(rng.integers(1, TURNS, KILLS).tolist()):
            until(lambda at=at: machines.done() >= at, f"turn {at}")
            machines.kill(victims()[rng.integers(len(victims()))])
        finish(machines)
    finally:
        machines.end()
