"""Reading a journal in an SQLite file: what stands in its tables, checked."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

from fedbandit.core.errors import InvalidInput
from fedbandit.durable.journals.forks import is_open_here
from fedbandit.durable.journals.journal import Entry
from fedbandit.durable.journals.lease import JournalTaken
from fedbandit.durable.journals.mark import mark_path, read_mark
from fedbandit.durable.journals.seals import ANYWHERE, SNAPSHOT, Row, Rule, believed, damaged, faults
from fedbandit.durable.journals.sqlite_pieces import joined

_OF_0_1 = {"records", "snapshots", "synced"}
_OF_TODAY = _OF_0_1 | {"about", "writers"}


class SqliteRows:
    """What stands in the tables of one file, through a connection that is open."""

    def __init__(self, file: sqlite3.Connection, path: Path) -> None:
        """See what tables there are."""
        self.path = path
        self._file = file
        rows = file.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall()
        tables = {name for (name,) in rows} & _OF_TODAY
        columns = [row[1] for row in file.execute("PRAGMA table_info(records)")]
        (pages,) = file.execute("PRAGMA page_count").fetchone()
        self.is_empty = not rows and pages <= 1
        self.is_sealed = tables == _OF_TODAY
        if rows and not tables:
            raise strange(path)
        if not self.is_empty and (tables not in (_OF_0_1, _OF_TODAY) or self.is_sealed != ("seal" in columns)):
            raise damaged(str(path), "its tables are not those of a journal")
        self._seal = "seal" if self.is_sealed else "NULL"

    def number(self) -> bytes | None:
        """Return the number that this journal alone has; those of fedbandit 0.1 have none."""
        if not self.is_sealed:
            return None
        row = self._file.execute("SELECT number FROM about").fetchone()
        if row is None or type(row[0]) is not bytes or len(row[0]) != 16:
            raise damaged(str(self.path), "it has lost its number")
        return bytes(row[0])

    def writers(self) -> dict[int, str]:
        """Return the versions of fedbandit that wrote records, by the position from which on they did."""
        if not self.is_sealed:
            return {}
        return dict(self._file.execute("SELECT first, version FROM writers ORDER BY first").fetchall())

    def last(self) -> int:
        """Return the position of the last record, or of the snapshot if none is left after it."""
        (last,) = self._file.execute(
            "SELECT max(p) FROM (SELECT max(position) p FROM records UNION SELECT max(position) p FROM snapshots)"
        ).fetchone()
        return int(last or 0)

    def snapshot_rows(self) -> list[Row]:
        """Return the snapshot as it stands in its table, if there is one, put together from its pieces."""
        rows = self._file.execute(f"SELECT position, data, {self._seal} FROM snapshots").fetchall()
        return [Row(at, joined(self._file, data) if type(data) is int else data, seal) for at, data, seal in rows]

    def snapshot(self) -> Entry | None:
        """Return the snapshot, if there is one."""
        return next(believed(self.snapshot_rows(), self._rule(ANYWHERE, SNAPSHOT), str(self.path)), None)

    def record_rows(self, after: int, *, is_log_kept: bool) -> Iterator[Row]:
        """Yield the records after a position as they stand in their table."""
        rows = self._file.execute(
            f"SELECT position, data, {self._seal} FROM records WHERE position > ? AND "
            "(? OR kept OR position > ifnull((SELECT position FROM snapshots), 0)) ORDER BY position",
            (after, is_log_kept),
        )
        return (Row(*row) for row in rows)

    def records(self, after: int, *, is_log_kept: bool = False) -> Iterator[Entry]:
        """Yield the records after a position; none may be missing after the snapshot."""
        rule = self._rule(max(after, self._place_of_snapshot()))  # without reading it, since it may be large
        return believed(self.record_rows(after, is_log_kept=is_log_kept), rule, str(self.path))

    def _place_of_snapshot(self) -> int:
        query = "SELECT position FROM snapshots WHERE typeof(position) = 'integer'"
        return max((int(place) for (place,) in self._file.execute(query)), default=0)

    def log(self) -> Iterator[Entry]:
        """Yield all records that are still there: with a log that is kept, all that there ever were."""
        return self.records(0, is_log_kept=True)

    def noted(self) -> bytes | None:
        """Return what is kept beside the records, if anything."""
        if not self._file.execute("SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = 'notes'").fetchone():
            return None
        row = self._file.execute("SELECT data FROM notes").fetchone()
        return bytes(row[0]) if row is not None and type(row[0]) is bytes else None

    def kept(self) -> Iterator[Entry]:
        """Yield the kept records up to the snapshot."""
        rows = self._file.execute(
            f"SELECT position, data, {self._seal} FROM records NOT INDEXED WHERE kept AND "
            "position <= (SELECT position FROM snapshots) ORDER BY position"
        )
        return believed((Row(*row) for row in rows), self._rule(ANYWHERE), str(self.path))

    def faults(self) -> Iterator[str]:
        """Tell all that is wrong with what is in the file, and with its end."""
        snapshots = self.snapshot_rows()
        yield from faults(snapshots, self._rule(ANYWHERE, SNAPSHOT))
        position = max([row.position for row in snapshots if isinstance(row.position, int)], default=0)
        yield from faults(self.record_rows(0, is_log_kept=False), self._rule(position))
        yield from self.lost_end()
        for (fault,) in self._file.execute("PRAGMA integrity_check(10)"):
            if fault != "ok":
                yield f"its tables are damaged ({' '.join(fault.split())})"

    def lost_end(self) -> Iterator[str]:
        """Tell if records are missing that the mark beside the file proves."""
        marked, last = read_mark(mark_path(self.path)), self.last()
        if marked is not None and marked.journal == self.number() and last < marked.must_reach:
            yield (
                f"it ends at record {last}, but had {marked.must_reach}: it is an old backup, or its end is lost "
                f"(for a backup say so with restored=True, or delete {mark_path(self.path)})"
            )

    def _rule(self, whole_after: int, noun: str = "record") -> Rule:
        return Rule(whole_after, min(self.writers(), default=ANYWHERE), noun)


@contextmanager
def sqlite_errors(path: Path) -> Iterator[None]:
    """Turn what SQLite raises into one sentence that names the file."""
    try:
        yield
    except (sqlite3.DatabaseError, UnicodeDecodeError) as error:  # names of tables may be what is damaged
        raise unusable(path, error) from error


def unusable(path: Path, error: Exception) -> InvalidInput:
    """Return the refusal of a file with which SQLite cannot do what it should."""
    if "locked" in str(error):
        here, elsewhere = "this process has it open: close it there", "another process has it open: end that one"
        return JournalTaken(f"the journal {path} cannot be used ({error}): {here if is_open_here(path) else elsewhere}")
    if "not a database" in str(error):
        return strange(path, error)
    return InvalidInput(
        f"the journal {path} cannot be used ({error}): make room on the disk, make the file writable, or restore a "
        "backup"
    )


class Strange(InvalidInput):
    """The file was never a journal, or nothing of one can be seen in it."""


def strange(path: Path, error: Exception | None = None) -> Strange:
    """Return the refusal of a file that is none of ours; one that is called as ours are may have been one."""
    if path.suffix == ".db" and not path.stat().st_size:
        return Strange(f"the journal {path} is empty: nothing was written to it yet, or it is lost: restore a backup")
    if path.suffix == ".db" and error is not None:
        return Strange(
            f"the journal {path} cannot be used ({error}): its beginning is damaged, so restore a backup, or it is no "
            "journal or store of fedbandit, so give another"
        )
    return Strange(f"{path} is no journal or store of fedbandit: give the .db file of a site or of a coordinator")


@contextmanager
def reading_only(path: Path) -> Iterator[SqliteRows]:
    """Give what stands in a file that nobody has open, and change nothing in it, nor in its write-ahead log."""
    beside = [path.with_name(f"{path.name}{ending}") for ending in ("-shm", "-wal")]
    made = [each for each in beside if not each.exists()]
    with sqlite_errors(path):
        file = sqlite3.connect(f"{path.resolve().as_uri()}?mode=ro", uri=True, isolation_level=None, timeout=0.5)
        with closing(file):
            try:
                yield SqliteRows(file, path)
            except sqlite3.OperationalError as error:
                if "locked" in str(error):  # then they are those of the process that has the file open
                    made.clear()
                raise
            finally:  # while the file is locked: after that, they could be those of another process
                for each in made:
                    if each.exists() and (each.suffix.endswith("-shm") or not each.stat().st_size):
                        each.unlink()
