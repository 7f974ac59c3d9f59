"""A journal in an SQLite file. One transaction a `sync`, so that a group of records costs one write to the disk."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator
from pathlib import Path

from fedbandit.core.errors import InvalidInput
from fedbandit.durable.journals.forks import connect
from fedbandit.durable.journals.journal import Entry

_TABLES = """
CREATE TABLE IF NOT EXISTS records (position INTEGER PRIMARY KEY, kept INTEGER NOT NULL, data BLOB NOT NULL);
CREATE INDEX IF NOT EXISTS kept_records ON records (position) WHERE kept;
CREATE TABLE IF NOT EXISTS snapshots (one INTEGER PRIMARY KEY CHECK (one = 1), position INTEGER, data BLOB NOT NULL);
CREATE TABLE IF NOT EXISTS synced (one INTEGER PRIMARY KEY CHECK (one = 1), position INTEGER);
"""

_DROPPED_EACH = 4  # outdated records that go with each new one


class SqliteJournal:
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

    def __init__(self, path: Path | str, *, keep_log: bool = False) -> None:
        """Open the file, or make it."""
        self.path = Path(path)
        self._keep_log = keep_log
        self._waiting: list[tuple[int, bool, bytes]] = []
        self._is_synced = True
        self._has_outdated = not keep_log  # records from before the snapshot, which are dropped little by little
        try:
            self._file = connect(self.path)
            self._file.execute("PRAGMA locking_mode=EXCLUSIVE")
            self._file.execute("PRAGMA journal_mode=WAL")
            self._wait_for_disk(False)
            self._file.executescript(_TABLES)
            rows = self._file.execute(
                "SELECT max(p) FROM (SELECT max(position) p FROM records UNION SELECT max(position) p FROM snapshots)"
            )
        except sqlite3.DatabaseError as error:
            raise self._unusable(error) from None
        self._last: int = rows.fetchone()[0] or 0

    @classmethod
    def in_folder(cls, folder: Path | str, name: str, *, keep_log: bool = False) -> SqliteJournal:
        """Open the journal of a name in a folder."""
        Path(folder).mkdir(parents=True, exist_ok=True)
        return cls(Path(folder) / f"{name}.db", keep_log=keep_log)

    def append(self, record: bytes, *, keep: bool = False) -> int:
        """Add a record and return its position; it is written with the next `flush` or `sync`."""
        self._last += 1
        self._waiting.append((self._last, keep, record))
        return self._last

    def flush(self) -> None:
        """Write all records, so that they survive the end of this process."""
        if self._waiting:
            self._write("INSERT INTO records VALUES (?, ?, ?)", self._waiting)
            self._waiting.clear()
            self._is_synced = False

    def sync(self) -> None:
        """Write all records and wait for the disk."""
        if self._waiting or not self._is_synced:
            self._wait_for_disk(True)
            if self._waiting:
                self.flush()
            else:  # a commit that waits for the disk takes all earlier ones with it
                self._write("INSERT OR REPLACE INTO synced VALUES (1, ?)", [(self._last,)])
            self._wait_for_disk(False)
            self._is_synced = True

    def rollback(self) -> None:
        """Forget the records that were not written."""
        self._last -= len(self._waiting)
        self._waiting.clear()

    def save(self, snapshot: bytes, released: Iterable[int] = ()) -> None:
        """Store a snapshot as of the last record, in one transaction with all that follows from it."""
        self._wait_for_disk(True)
        file = self._file
        try:
            file.execute("BEGIN IMMEDIATE")
            file.executemany("INSERT INTO records VALUES (?, ?, ?)", self._waiting)
            file.execute("INSERT OR REPLACE INTO snapshots VALUES (1, ?, ?)", (self._last, snapshot))
            file.executemany("UPDATE records SET kept = 0 WHERE position = ?", [(each,) for each in released])
            file.execute("COMMIT")
        except sqlite3.DatabaseError as error:
            raise self._unusable(error) from error
        self._waiting.clear()
        self._wait_for_disk(False)
        self._is_synced = True
        self._has_outdated = not self._keep_log

    def snapshot(self) -> Entry | None:
        """Return the snapshot, if there is one."""
        row = self._file.execute("SELECT position, data FROM snapshots").fetchone()
        return None if row is None else Entry(*row)

    def records(self, after: int = 0) -> Iterator[Entry]:
        """Yield all written records that are still there after a position."""
        rows = self._file.execute(
            "SELECT position, data FROM records WHERE position > ? AND "
            "(? OR kept OR position > ifnull((SELECT position FROM snapshots), 0)) ORDER BY position",
            (after, self._keep_log),
        )
        return (Entry(*row) for row in rows)

    def kept(self) -> Iterator[Entry]:
        """Yield the kept records up to the snapshot."""
        rows = self._file.execute(
            "SELECT position, data FROM records WHERE kept AND "
            "position <= (SELECT position FROM snapshots) ORDER BY position"
        )
        return (Entry(*row) for row in rows)

    def size(self) -> int:
        """Return the bytes of the file and of what has yet to be moved into it."""
        files = [self.path, self.path.with_name(f"{self.path.name}-wal")]
        return sum(each.stat().st_size for each in files if each.exists())

    def close(self) -> None:
        """Sync, and close the file."""
        self.sync()
        self._file.close()

    def _drop_some(self, many: int) -> None:
        """Delete a few records that the snapshot has made needless: all at once would keep everybody waiting."""
        if self._has_outdated:
            dropped = self._file.execute(
                "DELETE FROM records WHERE position IN (SELECT position FROM records WHERE NOT kept AND position <= "
                "(SELECT position FROM snapshots) ORDER BY position LIMIT ?)",
                (many,),
            )
            self._has_outdated = dropped.rowcount == many

    def _wait_for_disk(self, wait: bool) -> None:
        self._file.execute(f"PRAGMA synchronous={'FULL' if wait else 'NORMAL'}")

    def _write(self, statement: str, rows: list[tuple[int, bool, bytes]] | list[tuple[int]]) -> None:
        try:
            self._file.execute("BEGIN IMMEDIATE")
            self._file.executemany(statement, rows)
            self._drop_some(_DROPPED_EACH * len(rows))
            self._file.execute("COMMIT")
        except sqlite3.DatabaseError as error:
            raise self._unusable(error) from error

    def _unusable(self, error: Exception) -> InvalidInput:
        why = "another process has it open: end that one" if "locked" in str(error) else "mend the file or the disk"
        return InvalidInput(f"the journal {self.path} cannot be used ({error}): {why}")
