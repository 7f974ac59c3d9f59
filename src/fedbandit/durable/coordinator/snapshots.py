"""Snapshots of a coordinator: taken in a moment, and stored in steps, between which it goes on.

A snapshot of a thousand sites has megabytes. Whoever waits for an acknowledgement would wait for all of it to be
written, if it were written at once.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import NamedTuple

from fedbandit.durable.coordinator.journalled import JournalledServer
from fedbandit.durable.coordinator.postbox import posted
from fedbandit.durable.coordinator.site_accounts import CoordinatorMemory
from fedbandit.durable.journals.journal import Entry
from fedbandit.protocol.envelope import Envelope
from fedbandit.wire.state import encode_state
from fedbandit.wire.state_writing import written


class Snapshot(NamedTuple):
    """What a coordinator knew after a record; downloads change no more, so they are written when it is stored."""

    position: int
    memory: CoordinatorMemory  # without them
    latest: list[Envelope]


class SnapshotServer(JournalledServer):
    """A coordinator of whose journal a snapshot, now and then, takes the place of all records before it."""

    def maintain(self) -> bool:
        """Take a snapshot if one is due; a good moment is after the frames of a commit have left."""
        if self.snapshot_age < 1.0:
            return False
        self.save()
        return True

    def save(self) -> None:
        """Take a snapshot and store it."""
        for _ in self.storing(self.take_snapshot()):
            pass

    def take_snapshot(self) -> Snapshot:
        """Return a snapshot as of the last record, which is sealed by this."""
        state = written(self.node.memory), written(self.accounts)
        memory = CoordinatorMemory(self.agreed.text, *state, [], self.clock, written(self.retuned))
        self._since_snapshot = 0
        return Snapshot(self._writing.seal(), memory, self.postbox.latest_downloads())

    def storing(self, snapshot: Snapshot) -> Iterator[None]:
        """Store a snapshot that was taken, in steps; from any thread, and more may be taken in meanwhile."""
        memory = replace(snapshot.memory, latest=posted(snapshot.latest))
        yield
        data = encode_state(memory)
        yield
        yield from self._writing.storing(Entry(snapshot.position, data))

    def tidy(self) -> None:
        """Do what the journal has put off; from any thread, and more may be taken in meanwhile."""
        self._writing.tidy()
