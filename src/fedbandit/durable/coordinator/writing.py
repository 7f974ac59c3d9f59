"""A coordinator's journal, for whose disk one thread waits while another takes in what comes next.

Records are sealed in groups: what rests on a group may be sent when it is safe. At most one group is on its way to the
disk, and whatever else is done with the journal waits for it.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from threading import RLock
from typing import NamedTuple

from fedbandit.durable.coordinator.postbox import Leaving
from fedbandit.durable.coordinator.record import ServerRecord
from fedbandit.durable.journals.journal import Entry, Journal


class Sealed(NamedTuple):
    """A group of records that is to be made safe, and what may be sent then."""

    position: int  # of the last
    frames: list[Leaving]


class Writing:
    """Writes the records of a coordinator.

    >>> from fedbandit.durable.journals.journal import MemoryJournal
    >>> from fedbandit.durable.coordinator.record import RecordKind
    >>> writing = Writing(MemoryJournal())
    >>> writing.append(ServerRecord(RecordKind.DEADLINE, 7.0))
    >>> sealed = writing.seal()
    >>> writing.append(ServerRecord(RecordKind.DEADLINE, 8.0))
    >>> writing.make_safe(sealed), [record.time for record in writing.rollback()]
    (None, [8.0])
    """

    def __init__(self, journal: Journal) -> None:
        """Take the journal, in which nothing waits to be written."""
        self._journal = journal
        self._lock = RLock()
        self._unsealed: list[ServerRecord] = []
        self._last = self._sealed = 0  # positions, of what was appended here
        self._stored = 0  # the position of the newest snapshot

    def append(self, record: ServerRecord, *, keep: bool = False) -> None:
        """Add a record."""
        self._last = self._journal.append(record.to_bytes(), keep=keep)
        self._unsealed.append(record)

    def seal(self) -> int:
        """Close the group of records; return the position of its last."""
        self._unsealed.clear()
        self._sealed = self._last
        return self._sealed

    def make_safe(self, sealed: int) -> None:
        """Wait until all up to a position that was sealed is safe; from any thread."""
        with self._lock:
            self._journal.sync(sealed)

    def sync(self) -> None:
        """Wait until all is safe."""
        self.make_safe(self.seal())

    def rollback(self) -> list[ServerRecord]:
        """Forget the records that are not sealed, and return them."""
        others = list(self._unsealed)
        with self._lock:
            self._journal.sync(self._sealed)
            self._journal.rollback()
        self._unsealed.clear()
        self._last = self._sealed
        return others

    def storing(self, snapshot: Entry) -> Iterator[None]:
        """Store a snapshot as of a record that was sealed, in steps for which nobody waits long.

        From any thread; between two steps anything may be done. A snapshot that is older than another that was stored
        meanwhile is needless: records after it may have gone.
        """
        is_more = True
        while is_more:
            with self._lock:
                is_more = self._stored <= snapshot.position and self._journal.lay_down(snapshot.data)
            yield
        with self._lock:
            if self._stored <= snapshot.position:
                self._journal.save(snapshot.data, up_to=snapshot.position)
                self._stored = snapshot.position

    def tidy(self) -> None:
        """Do what the journal has put off; from any thread, best when nobody waits for `make_safe`."""
        with self._lock:
            if self._journal.is_untidy:
                self._journal.tidy()

    @contextmanager
    def alone(self) -> Iterator[None]:
        """Do something with the journal while no other thread does."""
        with self._lock:
            yield
