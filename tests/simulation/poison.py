"""A frame that ends the coordinator, for a reason that nobody knows, and comes first whenever it is started again."""

from __future__ import annotations

import copy
from dataclasses import dataclass
from typing import Any

from fedbandit.durable.coordinator.crash_guard import OPENINGS, TRIES
from fedbandit.durable.coordinator.postbox import posted
from fedbandit.durable.coordinator.server import DurableServer
from fedbandit.durable.coordinator.site_accounts import CoordinatorMemory
from fedbandit.simulation.faults.hosts import PowerCut
from fedbandit.simulation.faults.run import FAULTS
from fedbandit.simulation.faults.troubled import ATTACKS, TroubledRun
from fedbandit.wire.frame import Frame, Kind
from fedbandit.wire.state import encode_state
from simulation.federations import troubled_run

POISON = b"poison"


class BrittleServer(DurableServer):
    """A coordinator with a bug that no check knows of: what it stands for is a loop without end, or a crash below."""

    def _judge(self, frame, now):
        if frame.body == POISON:
            raise PowerCut
        return super()._judge(frame, now)


class ForgetsWhatWasPutAside(BrittleServer):
    """Snapshots do not have the frames that were put aside."""

    def save(self):
        accounts = copy.copy(self.accounts)
        accounts.aside = []
        memory = CoordinatorMemory(
            self.charter.text, self.node.memory, accounts, posted(self.postbox.latest_downloads())
        )
        self.journal.save(encode_state(memory))


class NeverCareful(BrittleServer):
    def _may_be_tried(self, data, client, now):
        return True


@dataclass
class PoisonedRun(TroubledRun):
    """The hostile site's poison is delivered first at every start."""

    deaths: int = 0

    def boot(self, host: Any, *, restored: bool = False) -> None:
        super().boot(host, restored=restored)
        node = self.coordinator.node
        if host is not self.coordinator or node is None:
            return
        data = Frame(Kind.UPLOAD, self.hostile.number, 1, 1, POISON).to_bytes()
        if self.attempt(host, lambda: node.receive(data, self.now, self.hostile.number)) is None:
            self.deaths += 1
            if self.deaths > OPENINGS + TRIES + 2:
                raise AssertionError(f"seed {self.seed}: the coordinator ends at every start")


def poisoned_run(seed: int, federation: int | None = None, **nodes: type) -> TroubledRun:
    """Run one schedule in which a frame ends the coordinator."""
    how = {"server_node": BrittleServer, "faults": FAULTS | ATTACKS, "other_charter": None, "kind": PoisonedRun} | nodes
    return troubled_run(seed, federation, **how)
