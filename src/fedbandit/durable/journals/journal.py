"""Journals: what a node must not forget. Records in order, and now and then a snapshot that replaces the older ones.

A record that is appended is safe from a power cut only after `sync`, and from the end of the process only after `flush`
or `sync`. A node gives nothing away (an acknowledgement, a download, an upload) that rests on a record that is not
synced: so it may always go on from its snapshot and the records after it, as if nothing else had ever been.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple, Protocol

from fedbandit.core.errors import InvalidInput


class Entry(NamedTuple):
    """A record, or a snapshot as it was after a record, with its position: records count from 1."""

    position: int
    data: bytes


class Journal(Protocol):
    """Where a node writes down what happens to it."""

    def append(self, record: bytes, *, keep: bool = False) -> int:
        """Add a record and return its position; one to `keep` outlives snapshots until it is released."""

    def flush(self) -> None:
        """Make sure that all records survive the end of this process."""

    def sync(self, up_to: int | None = None) -> None:
        """Make sure that all records, or those up to a position, survive a power cut.

        While another thread waits for this, records may be appended, and nothing else may be done.
        """

    def rollback(self) -> None:
        """Forget the records that were neither flushed nor synced."""

    def save(
        self, snapshot: bytes, released: Iterable[int] = (), replaced: Iterable[Entry] = (), up_to: int | None = None
    ) -> None:
        """Store, at once and synced, a snapshot as of the last record; older records go, but for those that are kept.

        With `up_to` it is as of the record at that position. `released` are positions of kept records that need no
        longer be; `replaced` are records that stand, from now on, in the place of others: to be followed by `compact`,
        which the next opening does if that is missed. While another thread waits for this, see `sync`.
        """

    def lay_down(self, snapshot: bytes) -> bool:
        """Write the next part of a large snapshot that is about to be saved, and tell if there was one.

        It counts from when `save` is given the same bytes, and takes little then. Small ones have no parts.
        """

    @property
    def is_untidy(self) -> bool:
        """Tell whether there is something that `tidy` would do."""

    def tidy(self) -> None:
        """Do what a later `sync` would have to do first, at a moment when nobody waits for one."""

    def compact(self) -> None:
        """Let nothing be left where it is stored of what was dropped or replaced."""

    def snapshot(self) -> Entry | None:
        """Return the snapshot, if there is one."""

    def records(self, after: int = 0) -> Iterator[Entry]:
        """Yield all records that are still there after a position, in order."""

    def kept(self) -> Iterator[Entry]:
        """Yield the kept records up to the snapshot, in order."""

    def verify(self) -> None:
        """Raise InvalidInput if what was written last cannot be believed; cheap enough for now and then."""

    def size(self) -> int:
        """Return roughly how many bytes it takes where it is stored."""

    def note(self, data: bytes) -> None:
        """Keep something beside the records, in place of what was kept so before; it may be lost with the process."""

    def noted(self) -> bytes | None:
        """Return what was last kept beside the records, if anything."""

    def beat(self) -> None:
        """Show a sign of life to whoever waits for this journal; raise JournalLost if it was taken away.

        May be called from any thread. Once it was called it is to be called again and again: see `journals.lease`.
        From then on `sync` raises JournalLost, too, if the journal was taken away, though there is nothing to write.
        """

    def close(self) -> None:
        """Sync, and let go of files and connections."""


class MemoryJournal:
    """A journal in memory, which can lose what was not synced: for simulations and tests.

    >>> journal = MemoryJournal()
    >>> journal.append(b"one"), journal.sync(), journal.append(b"two")
    (1, None, 2)
    >>> journal.crash(survivors=0)
    >>> [entry.data for entry in journal.records()]
    [b'one']
    """

    is_untidy = False

    def __init__(self, keep_log: bool = False) -> None:
        """Begin empty; with `keep_log` no record is ever dropped."""
        self._keep_log = keep_log
        self._records: dict[int, bytes] = {}
        self._kept: set[int] = set()
        self._snapshot: Entry | None = None
        self._note: bytes | None = None
        self._last = 0
        self._synced = 0

    def append(self, record: bytes, *, keep: bool = False) -> int:
        """Add a record and return its position."""
        self._last += 1
        self._records[self._last] = record
        if keep:
            self._kept.add(self._last)
        return self._last

    def flush(self) -> None:
        """Do nothing: this journal is there to lose what was not synced."""

    def sync(self, up_to: int | None = None) -> None:
        """Make all records, or those up to a position, safe from `crash`."""
        self._synced = self._last if up_to is None else max(up_to, self._synced)

    def rollback(self) -> None:
        """Forget the records that were not synced."""
        self.crash(survivors=0)

    def crash(self, survivors: int) -> None:
        """Lose the records that were not synced, but for the first few."""
        last = min(self._last, self._synced + survivors)
        for position in range(last + 1, self._last + 1):
            del self._records[position]
            self._kept.discard(position)
        self._last = self._synced = last

    def save(
        self, snapshot: bytes, released: Iterable[int] = (), replaced: Iterable[Entry] = (), up_to: int | None = None
    ) -> None:
        """Store a snapshot as of a record."""
        self.sync(up_to)
        last = self._last if up_to is None else up_to
        self._records.update(replaced)
        self._snapshot = Entry(last, snapshot)
        self._kept.difference_update(released)
        if not self._keep_log:
            self._records = {at: record for at, record in self._records.items() if at > last or at in self._kept}

    def lay_down(self, snapshot: bytes) -> bool:  # noqa: ARG002  it is the same for all
        """Write nothing: memory has it already."""
        return False

    def snapshot(self) -> Entry | None:
        """Return the snapshot, if there is one."""
        return self._snapshot

    def records(self, after: int = 0) -> Iterator[Entry]:
        """Yield all records that are still there after a position."""
        return (Entry(at, record) for at, record in sorted(self._records.items()) if at > after)

    def kept(self) -> Iterator[Entry]:
        """Yield the kept records up to the snapshot."""
        up_to = self._snapshot.position if self._snapshot else 0
        return (Entry(at, self._records[at]) for at in sorted(self._kept) if at <= up_to)

    def verify(self) -> None:
        """Do nothing: memory is believed."""

    def tidy(self) -> None:
        """Do nothing: nothing is put off."""

    def compact(self) -> None:
        """Do nothing: memory that is free is nobody's."""

    def note(self, data: bytes) -> None:
        """Keep something beside the records."""
        self._note = data

    def noted(self) -> bytes | None:
        """Return what was last kept beside the records, if anything."""
        return self._note

    def beat(self) -> None:
        """Do nothing: nobody can wait for it."""

    def size(self) -> int:
        """Return the bytes of all records and the snapshot."""
        snapshot = len(self._snapshot.data) if self._snapshot else 0
        return snapshot + sum(len(record) for record in self._records.values())

    @classmethod
    def holding(cls, snapshot: Entry | None, kept: Iterable[Entry], records: Iterable[Entry]) -> MemoryJournal:
        """Return a journal with a snapshot, the records kept from before it, and those after it."""
        journal = cls()
        before = {entry.position: entry.data for entry in kept}
        journal._records = before | {entry.position: entry.data for entry in records}
        journal._kept = set(before)
        journal._snapshot = snapshot
        journal._last = journal._synced = max([*journal._records, snapshot.position if snapshot else 0])
        return journal

    def fill_from(self, backup: MemoryJournal) -> None:
        """Become a copy of another journal."""
        self._records, self._kept = dict(backup._records), set(backup._kept)
        self._snapshot, self._last, self._synced = backup._snapshot, backup._last, backup._synced

    def close(self) -> None:
        """Sync."""
        self.sync()


def open_journal(url: str, name: str, *, keep_log: bool = False) -> Journal:
    """Open the journal of a name: at `postgresql://...`, in a folder of SQLite files, or in `memory:`.

    >>> open_journal("memory:", "demo").append(b"record")
    1
    """
    if not name or not name.replace("-", "").replace("_", "").isalnum():
        raise InvalidInput(f"{name!r} cannot name a journal: use letters, digits, - and _")
    if url == "memory:":
        return MemoryJournal(keep_log)
    if url.startswith(("postgresql://", "postgres://")):
        from fedbandit.durable.journals.postgres import PostgresJournal  # only this back end needs its driver

        return PostgresJournal(url, name, keep_log=keep_log)
    from fedbandit.durable.journals.sqlite import SqliteJournal

    return SqliteJournal.in_folder(url, name, keep_log=keep_log)


def without_password(url: str) -> str:
    """Return a URL as it may stand in a log.

    >>> without_password("postgresql://me:secret@host/base"), without_password("journals")
    ('postgresql://host/base', 'journals')
    """
    scheme, separator, rest = url.partition("://")
    return f"{scheme}{separator}{rest.rpartition('@')[2]}"
