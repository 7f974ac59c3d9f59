"""A journal in an SQLite file. One transaction a `sync`, so that a group of records costs one write to the disk."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterable, Iterator
from pathlib import Path

from fedbandit.core.errors import InvalidInput
from fedbandit.core.version import VERSION
from fedbandit.durable.journals.file_lease import FileBeat, beat_path
from fedbandit.durable.journals.forks import connect
from fedbandit.durable.journals.journal import Entry
from fedbandit.durable.journals.mark import Mark, mark_path
from fedbandit.durable.journals.seals import NEWEST, damaged, seal
from fedbandit.durable.journals.sqlite_beside import BesideRecords, drop_outdated, insert, replace_records
from fedbandit.durable.journals.sqlite_pieces import Pieces
from fedbandit.durable.journals.sqlite_rows import SqliteRows, reading_only, sqlite_errors, unusable
from fedbandit.durable.journals.sqlite_tables import ADDED_SINCE, TABLES_OF_0_1
from fedbandit.durable.journals.unwritten import NewRow, Unwritten

_INSERT = "INSERT INTO records (position, kept, data, seal) VALUES (?, ?, ?, ?)"
_RELEASE, _DELETE = "UPDATE records SET kept = 0 WHERE position = ?", "DELETE FROM records WHERE position = ?"
_DROPPED_EACH = 4  # outdated records that go with each new one


class SqliteJournal(BesideRecords):
    """A journal in a file that only this process has open.

    The file is in write-ahead mode. `flush` commits without waiting for the disk, which is safe from the end of the
    process; `sync` waits for the disk (`synchronous=FULL`).

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     journal = SqliteJournal(Path(folder) / "demo.db")
    ...     position = journal.append(b"record")
    ...     journal.close()
    ...     [entry.data for entry in SqliteJournal(Path(folder) / "demo.db").records()]
    [b'record']
    """

    def __init__(self, path: Path | str, *, keep_log: bool = False, restored: bool = False) -> None:
        """Open the file, or make it; one that is damaged is refused before anything in it is changed.

        `restored` says that the file is, or may be, an old backup, so that its end may lie before what its mark says.
        """
        self.path = Path(path)
        self._keep_log = keep_log
        self._is_synced = True
        self._has_outdated = not keep_log  # records from before the snapshot, which are dropped little by little
        self._dropped_up_to = 0  # of those that are not kept, none is left up to here
        if self.path.exists() and self.path.stat().st_size:
            self._look_at_it_first(restored)
        self._mark: Mark | None = None  # until something is written
        self._beat: FileBeat | None = None
        self._synced = 0  # what an earlier process only flushed may not be on the disk
        with sqlite_errors(self.path):
            self._file = connect(self.path)
            try:
                self._take_it()
            except BaseException:
                self._file.close()
                raise

    @classmethod
    def in_folder(cls, folder: Path | str, name: str, *, keep_log: bool = False) -> SqliteJournal:
        """Open the journal of a name in a folder."""
        Path(folder).mkdir(parents=True, exist_ok=True)
        return cls(Path(folder) / f"{name}.db", keep_log=keep_log)

    def append(self, record: bytes, *, keep: bool = False) -> int:
        """Add a record and return its position; it is written with the next `flush` or `sync`."""
        return self._unwritten.append(record, keep=keep)

    def flush(self) -> None:
        """Write all records, so that they survive the end of this process."""
        if self._unwritten:
            self._write_up_to(self._unwritten.last)

    def sync(self, up_to: int | None = None) -> None:
        """Write all records, or those up to a position, and wait for the disk."""
        last = self._unwritten.last if up_to is None else up_to
        is_written = last <= self._unwritten.written
        if not (is_written and self._is_synced):
            self._wait_for_disk(True)
            if is_written:  # a commit that waits for the disk takes all earlier ones with it
                self._write("INSERT OR REPLACE INTO synced VALUES (1, ?)", [(self._unwritten.written,)])
            else:
                self._write_up_to(last)
            self._wait_for_disk(False)
            self._is_synced, self._synced = True, self._unwritten.written
            self._marked().set(self._synced, self._unwritten.written)

    def rollback(self) -> None:
        """Forget the records that were not written."""
        self._unwritten.rollback()

    def save(
        self, snapshot: bytes, released: Iterable[int] = (), replaced: Iterable[Entry] = (), up_to: int | None = None
    ) -> None:
        """Store a snapshot as of a record, in one transaction with all that follows from it."""
        self._wait_for_disk(True)
        file, last = self._file, self._unwritten.last if up_to is None else up_to
        rows = self._unwritten.up_to(last)
        with sqlite_errors(self.path):
            self._marked()
            file.execute("BEGIN IMMEDIATE")
            insert(file, _INSERT, rows)
            series = self._pieces.series(snapshot)
            row = (last, snapshot if series is None else series, seal(last, snapshot))
            file.execute("INSERT OR REPLACE INTO snapshots (one, position, data, seal) VALUES (1, ?, ?, ?)", row)
            self._pieces.drop_others(series)
            replace_records(file, replaced)
            file.executemany(_RELEASE if self._keep_log else _DELETE, [(each,) for each in released])
            file.execute("COMMIT")
        self._unwritten.drop(rows)
        self._unmoved += len(snapshot) if series is None else 0
        self._wait_for_disk(False)
        self._is_synced, self._synced, self._has_outdated = True, self._unwritten.written, not self._keep_log
        self._marked().set(self._synced, self._synced)

    def lay_down(self, snapshot: bytes) -> bool:
        """Write the next piece of a large snapshot, without waiting for the disk; tell if there was one."""
        with sqlite_errors(self.path):
            self._marked()
            written = self._pieces.lay_down(snapshot)
        self._unmoved += written
        return written > 0

    def snapshot(self) -> Entry | None:
        """Return the snapshot, if there is one."""
        with sqlite_errors(self.path):
            return self._rows.snapshot()

    def records(self, after: int = 0) -> Iterator[Entry]:
        """Yield all written records that are still there after a position."""
        with sqlite_errors(self.path):
            yield from self._rows.records(after, is_log_kept=self._keep_log)

    def kept(self) -> Iterator[Entry]:
        """Yield the kept records up to the snapshot."""
        with sqlite_errors(self.path):
            yield from self._rows.kept()

    def verify(self) -> None:
        """Raise if the file has gone, or its newest records cannot be believed."""
        if not self.path.exists():
            raise damaged(str(self.path), "its file has gone")
        last = self._unwritten.written
        for _ in self.records(max(0, last - NEWEST)):
            pass
        if self._rows.last() != last:
            raise damaged(str(self.path), f"record {last} is missing")

    def close(self) -> None:
        """Sync, and close the file."""
        self.sync()
        for each in (self._beat, self._file, self._mark):
            if each is not None:
                each.close()

    def _take_it(self) -> None:
        """Lock the file for this process, and make the tables if there are none."""
        self._file.execute("PRAGMA locking_mode=EXCLUSIVE")
        self._file.execute("PRAGMA journal_mode=WAL")
        self._file.execute("PRAGMA secure_delete=FAST")  # or else some builds write every page once more to drop it
        self._wait_for_disk(False)
        self._rows, self._pieces = SqliteRows(self._file, self.path), Pieces(self._file)
        beat_path(self.path).unlink(missing_ok=True)  # of a process that had it before
        self._finish_compacting()
        if self._rows.is_empty:
            self._file.executescript(TABLES_OF_0_1)
            self._begin_to_write()
        self._unwritten = Unwritten(self._rows.last())

    def _look_at_it_first(self, restored: bool) -> None:
        """Refuse a file that is damaged, or that has lost its end, while nothing has been written."""
        with reading_only(self.path) as rows:
            if not rows.is_empty:
                fault = None if restored else next(rows.lost_end(), None)
                if fault is not None:
                    raise damaged(str(self.path), fault)
                rows.snapshot()
                for entries in (rows.kept(), rows.records(0, is_log_kept=False)):
                    for _ in entries:
                        pass

    def _marked(self) -> Mark:
        return self._mark or self._begin_to_write()

    def _begin_to_write(self) -> Mark:
        """Before the first record of this process: see to the tables, and say which version writes from now on."""
        file = self._file
        if not self._rows.is_sealed:
            file.executescript(f"BEGIN IMMEDIATE; {ADDED_SINCE}")
            file.execute("INSERT INTO about VALUES (1, ?)", (os.urandom(16),))
            file.execute("INSERT INTO writers VALUES (?, ?)", (self._rows.last() + 1, VERSION))
            file.execute("COMMIT")
            file.execute("PRAGMA wal_checkpoint(TRUNCATE)")  # a log that is lost must not take the number with it
            self._rows = SqliteRows(file, self.path)
        elif list(self._rows.writers().values())[-1:] != [VERSION]:
            file.execute("INSERT OR REPLACE INTO writers VALUES (?, ?)", (self._rows.last() + 1, VERSION))
        place = mark_path(self.path)
        try:
            self._mark = Mark(place, self._rows.number() or b"")
        except OSError as error:
            raise InvalidInput(f"the mark {place} cannot be written ({error}): see to its folder") from error
        return self._mark

    def _write_up_to(self, last: int) -> None:
        rows = self._unwritten.up_to(last)
        self._write(_INSERT, rows)
        self._unmoved += sum(len(row[2]) for row in rows)
        self._unwritten.drop(rows)
        self._is_synced = False
        self._marked().set(self._synced, last)

    def _wait_for_disk(self, wait: bool) -> None:
        self._file.execute(f"PRAGMA synchronous={'FULL' if wait else 'NORMAL'}")

    def _write(self, statement: str, rows: list[NewRow] | list[tuple[int]]) -> None:
        try:
            self._marked()
            if len(rows) == 1 and not self._has_outdated:
                self._file.execute(statement, rows[0])  # a transaction by itself, in a third of the statements
                return
            self._file.execute("BEGIN IMMEDIATE")
            insert(self._file, statement, rows)
            if self._has_outdated:  # a few of them: all at once would keep everybody waiting
                dropped = drop_outdated(self._file, self._dropped_up_to, _DROPPED_EACH * len(rows))
                self._has_outdated, self._dropped_up_to = dropped
            self._file.execute("COMMIT")
        except sqlite3.DatabaseError as error:
            raise unusable(self.path, error) from error
