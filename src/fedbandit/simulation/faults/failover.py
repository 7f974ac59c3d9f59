"""Faulty runs in which a coordinator is paused, another takes over its journal, and the first one wakes up.

Both are then delivered what sites send, as a broker does, and both believe that they serve. The journal is one in a
database: what was not synced through a session that is ended is gone, and nothing can be written through it any more.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from fedbandit.durable.coordinator.server import DurableServer
from fedbandit.durable.coordinator.validation import FROM_SITES
from fedbandit.durable.journals.lease import JournalLost
from fedbandit.simulation.faults.hosts import FusedJournal
from fedbandit.simulation.faults.run import FaultyRun
from fedbandit.wire.frame import Frame

FAILOVERS = {"fail_over": 0.8, "wake": 1.6}
HEARD = 4  # frames that one hears before it says something, when it wakes up


class Session:
    """What a coordinator writes to its journal through, until another has it ended."""

    def __init__(self, disk: FusedJournal) -> None:
        """Take the journal, which nobody else writes to now."""
        self._disk = disk
        self.is_ended = False

    def append(self, record: bytes, *, keep: bool = False) -> int:
        """Add a record; that a session is ended shows when it is used."""
        return 0 if self.is_ended else self._disk.append(record, keep=keep)

    def __getattr__(self, name: str) -> Any:
        """Do anything else with the journal."""
        if self.is_ended:
            raise JournalLost("the session was ended: another coordinator has taken over")
        return getattr(self._disk, name)


@dataclass
class FailoverRun(FaultyRun):
    """A run with coordinators that take over from each other."""

    paused: list[DurableServer] = field(default_factory=list)
    woken: int = 0  # how often one has found out that it serves no more
    _session: Session | None = None

    def _start_server(self, disk: FusedJournal, restored: bool) -> DurableServer:  # noqa: ARG002
        if self._session is not None:
            self._session.is_ended = True
        self._session = Session(disk)
        return self.server_node(self.charter, self._session, epoch=1, now=self.now, random_below=self.random_below)

    def heal(self) -> None:
        """Wake up all that are paused, and mend everything."""
        while self.paused:
            self._wake()
        super().heal()

    def _fail_over(self) -> None:
        """Pause the coordinator, and let another take its place."""
        node = self.coordinator.node
        if node is not None:
            self.paused.append(node)
            self.coordinator.node = None
            self.coordinator.disk.crash(survivors=0)
            self.boot(self.coordinator)

    def _wake(self) -> None:
        """Let one that was paused hear what is under way, and say what it has to say, if it may."""
        if not self.paused:
            return
        node = self.paused.pop(self._pick(len(self.paused)))
        try:
            for data in self.wire[-HEARD:]:
                frame = Frame.from_bytes(data)
                if frame.kind in FROM_SITES and frame.client not in self.cut_off:
                    node.receive(data, self.now, frame.client)
            said = [data for _, data in node.commit()]
        except JournalLost:
            self.woken += 1
            return
        for data in said:
            self.history.note_sent(data)
        self.wire += said
