"""What a journal in an SQLite file holds beside its records, and how nothing is left of records that are replaced.

Records are replaced in the transaction that says in the file that it is to be compacted: a process that ends between
the two leaves that to the next one that opens the file.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Sequence
from itertools import chain
from pathlib import Path
from typing import Any

from fedbandit.durable.journals.file_lease import FileBeat
from fedbandit.durable.journals.journal import Entry
from fedbandit.durable.journals.seals import seal
from fedbandit.durable.journals.sqlite_rows import SqliteRows, sqlite_errors
from fedbandit.durable.journals.sqlite_tables import NOTES

_OUTDATED = """SELECT count(*), max(position) FROM (SELECT position FROM records WHERE NOT kept AND position > ?
AND position <= (SELECT position FROM snapshots) ORDER BY position LIMIT ?)"""
_DROP = "DELETE FROM records WHERE NOT kept AND position > ? AND position <= ?"
_TO_BE_COMPACTED = 1  # SQLite keeps a number for whoever owns a file
_TIDY_BYTES = 1024 * 1024  # in the write-ahead log, after which it is moved into the file
_LATEST_PAGES = 16 * 1024  # there, after which a commit moves it in any case, though somebody waits for that
_ROWS_AT_ONCE = (64, 8, 1)  # few enough values for every build of SQLite, and few different statements


def insert(file: sqlite3.Connection, statement: str, rows: Sequence[tuple[Any, ...]]) -> None:
    """Insert rows by a statement for one, many at once.

    After each statement a thread waits for the interpreter, which another may keep for milliseconds.
    """
    head, _, values = statement.rpartition("VALUES ")
    at = 0
    for size in _ROWS_AT_ONCE:
        many = f"{head}VALUES {', '.join([values] * size)}"
        while at + size <= len(rows):
            file.execute(many, list(chain.from_iterable(rows[at : at + size])))
            at += size


def drop_outdated(file: sqlite3.Connection, after: int, many: int) -> tuple[bool, int]:
    """Delete so many records after a position that the snapshot has made needless.

    Tell whether more may be left, and up to where none is.
    """
    found, last = file.execute(_OUTDATED, (after, many)).fetchone()
    file.execute(_DROP, (after, last or 0))
    return found == many, last or after


def replace_records(file: sqlite3.Connection, replaced: Iterable[Entry]) -> None:
    """Write records in the place of others, within a transaction."""
    rows = [(each.data, seal(*each), each.position) for each in replaced]
    if rows:
        file.executemany("UPDATE records SET data = ?, seal = ? WHERE position = ?", rows)
        file.execute(f"PRAGMA user_version = {_TO_BE_COMPACTED}")


class BesideRecords:
    """The part of a journal in a file that has nothing to do with the order of its records."""

    path: Path
    _file: sqlite3.Connection
    _rows: SqliteRows
    _beat: FileBeat | None
    _unmoved = 0  # bytes that were written since `tidy`
    _is_tidied = False  # somebody calls it

    def beat(self) -> None:
        """Show a sign of life; whoever takes a file over ends the process that has it, so it is never lost."""
        if self._beat is None:
            self._beat = FileBeat(self.path)
        self._beat.show()

    @property
    def is_untidy(self) -> bool:
        """Tell whether much has yet to be moved from the write-ahead log into the file."""
        return self._unmoved >= _TIDY_BYTES

    def tidy(self) -> None:
        """Move the write-ahead log into the file; from the first call on, a commit does so only if this is missed."""
        with sqlite_errors(self.path):
            if not self._is_tidied:
                self._file.execute(f"PRAGMA wal_autocheckpoint = {_LATEST_PAGES}")
                self._is_tidied = True
            self._file.execute("PRAGMA wal_checkpoint(PASSIVE)").fetchall()
        self._unmoved = 0

    def compact(self) -> None:
        """Write the file anew, without what was dropped or replaced, and empty its write-ahead log."""
        with sqlite_errors(self.path):
            self._file.execute("VACUUM")
            self._file.execute("PRAGMA user_version = 0")
            self._file.execute("PRAGMA wal_checkpoint(TRUNCATE)")

    def _finish_compacting(self) -> None:
        """Compact the file if records were replaced of which something may be left in it."""
        (number,) = self._file.execute("PRAGMA user_version").fetchone()
        if number == _TO_BE_COMPACTED:
            self.compact()

    def note(self, data: bytes) -> None:
        """Keep something beside the records; the disk is not waited for."""
        with sqlite_errors(self.path):
            self._file.execute(NOTES)
            self._file.execute("INSERT OR REPLACE INTO notes VALUES (1, ?)", (data,))

    def noted(self) -> bytes | None:
        """Return what was last kept beside the records, if anything."""
        with sqlite_errors(self.path):
            return self._rows.noted()

    def size(self) -> int:
        """Return the bytes of the file and of what has yet to be moved into it."""
        files = [self.path, self.path.with_name(f"{self.path.name}-wal")]
        return sum(each.stat().st_size for each in files if each.exists())
