"""A journal in a PostgreSQL database, shared with others by name. One transaction a `sync`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager

from fedbandit.core.errors import InvalidInput
from fedbandit.core.version import VERSION
from fedbandit.durable.journals.journal import Entry, without_password
from fedbandit.durable.journals.lease import JournalTaken
from fedbandit.durable.journals.postgres_lease import LOCK, PostgresBeat, lock_of, lost
from fedbandit.durable.journals.postgres_rows import PostgresRows, connect, driver
from fedbandit.durable.journals.seals import NEWEST, damaged, seal
from fedbandit.durable.journals.unwritten import NewRow, Unwritten

_TABLES = """
CREATE TABLE IF NOT EXISTS fedbandit_records (
    name text, position bigint, kept boolean NOT NULL, data bytea NOT NULL, PRIMARY KEY (name, position));
CREATE TABLE IF NOT EXISTS fedbandit_snapshots (name text PRIMARY KEY, position bigint NOT NULL, data bytea NOT NULL);
"""
_ADDED_SINCE_0_1 = """
ALTER TABLE fedbandit_records ADD COLUMN IF NOT EXISTS seal bigint;
ALTER TABLE fedbandit_snapshots ADD COLUMN IF NOT EXISTS seal bigint;
CREATE TABLE IF NOT EXISTS fedbandit_marks (name text PRIMARY KEY, position bigint NOT NULL);
CREATE TABLE IF NOT EXISTS fedbandit_writers (
    name text, first bigint, version text NOT NULL, PRIMARY KEY (name, first));
"""
_NOTES = "CREATE TABLE IF NOT EXISTS fedbandit_notes (name text PRIMARY KEY, data bytea NOT NULL)"

PATIENCE = 2  # seconds to wait for a journal that is held


class PostgresJournal:
    """A journal in a database, held by one process at a time (an advisory lock sees to it)."""

    def __init__(self, url: str, name: str, *, keep_log: bool = False) -> None:
        """Connect, and take the journal of a name."""
        self.name = name
        self._url = url
        self._keep_log = keep_log
        self._beat: PostgresBeat | None = None
        self._base = connect(url)
        self._base.execute("SET synchronous_commit = on")
        self._base.execute(f"SET lock_timeout = '{PATIENCE}s'")
        try:  # the session of a process that has just died may still be there for a moment
            self._base.execute(f"SELECT pg_advisory_lock({LOCK})", lock_of(name))
        except driver().errors.LockNotAvailable:
            self._base.close()
            raise JournalTaken(
                f"the journal {name!r} cannot be used: another process has it open: end that one"
            ) from None
        self._place = f"{name!r} at {without_password(url)}"
        self._base.execute(_TABLES)
        if not PostgresRows(self._base, name, self._place).is_sealed:
            self._base.execute(_ADDED_SINCE_0_1)
        self._rows = PostgresRows(self._base, name, self._place)
        self._is_writer = False  # until something is written
        try:
            self._look_at_it_first()
        except BaseException:
            self._base.close()
            raise
        self._unwritten = Unwritten(self._rows.last())

    def append(self, record: bytes, *, keep: bool = False) -> int:
        """Add a record and return its position; it is written with the next `sync`."""
        return self._unwritten.append(record, keep=keep)

    def flush(self) -> None:
        """Write all records; a database knows no half measures."""
        self.sync()

    def sync(self, up_to: int | None = None) -> None:
        """Write all records, or those up to a position, and wait until the database has them on its disk."""
        last = self._unwritten.last if up_to is None else up_to
        if last > self._unwritten.written:
            rows = self._unwritten.up_to(last)
            with self._usable(), self._base.transaction():
                self._insert(rows)
            self._unwritten.drop(rows)
        elif self._beat is not None:  # else one who was paused would answer from what it knew then
            with self._usable():
                self._base.execute("SELECT 1")

    def rollback(self) -> None:
        """Forget the records that were not written."""
        self._unwritten.rollback()

    def save(
        self, snapshot: bytes, released: Iterable[int] = (), replaced: Iterable[Entry] = (), up_to: int | None = None
    ) -> None:
        """Store a snapshot as of a record, in one transaction with all that follows from it."""
        last = self._unwritten.last if up_to is None else up_to
        rows = self._unwritten.up_to(last)
        with self._usable(), self._base.transaction():
            self._insert(rows)
            self._base.execute(
                "INSERT INTO fedbandit_snapshots (name, position, data, seal) VALUES (%s, %s, %s, %s) "
                "ON CONFLICT (name) DO UPDATE "
                "SET position = excluded.position, data = excluded.data, seal = excluded.seal",
                (self.name, last, snapshot, seal(last, snapshot)),
            )
            for at, data in replaced:
                self._base.execute(
                    "UPDATE fedbandit_records SET data = %s, seal = %s WHERE name = %s AND position = %s",
                    (data, seal(at, data), self.name, at),
                )
            self._base.execute(
                "UPDATE fedbandit_records SET kept = false WHERE name = %s AND position = ANY(%s)",
                (self.name, list(released)),
            )
            if not self._keep_log:
                self._base.execute(
                    "DELETE FROM fedbandit_records WHERE name = %s AND NOT kept AND position <= %s",
                    (self.name, last),
                )
        self._unwritten.drop(rows)

    def lay_down(self, snapshot: bytes) -> bool:  # noqa: ARG002  it is the same for all
        """Write nothing: the database takes a snapshot whole."""
        return False

    is_untidy = False

    def tidy(self) -> None:
        """Do nothing: the database sees to itself."""

    def snapshot(self) -> Entry | None:
        """Return the snapshot, if there is one."""
        return self._rows.snapshot()

    def records(self, after: int = 0) -> Iterator[Entry]:
        """Yield all written records that are still there after a position."""
        return self._rows.records(after)

    def kept(self) -> Iterator[Entry]:
        """Yield the kept records up to the snapshot."""
        return self._rows.kept()

    def verify(self) -> None:
        """Raise if the database has gone, or the newest records cannot be believed."""
        with self._usable():
            last = self._unwritten.written
            for _ in self._rows.records(max(0, last - NEWEST)):
                pass
            if self._rows.last() != last:
                raise damaged(self._place, f"record {last} is missing")

    def size(self) -> int:
        """Return the bytes of the tables, which all journals of the database share."""
        with self._usable():
            rows = self._base.execute(
                "SELECT pg_total_relation_size('fedbandit_records') + pg_total_relation_size('fedbandit_snapshots')"
            )
        size: int = rows.fetchone()[0]
        return size

    def compact(self) -> None:
        """Have the database write its tables anew; it waits until nobody else reads them."""
        with self._usable():
            self._base.execute("VACUUM FULL fedbandit_records, fedbandit_snapshots")

    def note(self, data: bytes) -> None:
        """Keep something beside the records."""
        with self._usable():
            self._base.execute(_NOTES)
            self._base.execute(
                "INSERT INTO fedbandit_notes VALUES (%s, %s) ON CONFLICT (name) DO UPDATE SET data = excluded.data",
                (self.name, data),
            )

    def noted(self) -> bytes | None:
        """Return what was last kept beside the records, if anything."""
        with self._usable():
            self._base.execute(_NOTES)
            row = self._base.execute("SELECT data FROM fedbandit_notes WHERE name = %s", (self.name,)).fetchone()
        return None if row is None else bytes(row[0])

    def beat(self) -> None:
        """Show a sign of life; raise JournalLost if another process has taken the journal over."""
        if self._beat is None:
            self._beat = PostgresBeat(self._url, self.name, self._base.info.backend_pid)
        self._beat.show()

    def close(self) -> None:
        """Write what is left, and end the connection, which releases the journal."""
        try:
            if self._unwritten:
                self.sync()
        finally:
            self._base.close()
            if self._beat is not None:
                self._beat.close()

    @contextmanager
    def _usable(self) -> Iterator[None]:
        try:
            yield
        except driver().Error as error:
            if self._base.closed:
                raise lost(self.name, str(error).strip()) from error
            why = "see that the database answers and can be written to, and open the journal again"
            raise InvalidInput(f"the journal {self.name!r} cannot be used ({str(error).strip()}): {why}") from error

    def _look_at_it_first(self) -> None:
        """Refuse a journal that is damaged while nothing has been written."""
        for fault in self._rows.lost_end():
            raise damaged(self._place, fault)
        self._rows.snapshot()
        for entries in (self._rows.kept(), self._rows.records(0)):
            for _ in entries:
                pass

    def _insert(self, rows: list[NewRow]) -> None:
        if not self._is_writer and list(self._rows.writers().values())[-1:] != [VERSION]:
            self._base.execute(
                "INSERT INTO fedbandit_writers VALUES (%s, %s, %s) "
                "ON CONFLICT (name, first) DO UPDATE SET version = excluded.version",
                (self.name, self._unwritten.written + 1, VERSION),
            )
        self._is_writer = True
        with (
            self._base.cursor() as cursor,
            cursor.copy("COPY fedbandit_records (name, position, kept, data, seal) FROM STDIN") as copy,
        ):
            for row in rows:
                copy.write_row((self.name, *row))
        self._base.execute(
            "INSERT INTO fedbandit_marks VALUES (%s, %s) ON CONFLICT (name) DO UPDATE SET position = excluded.position",
            (self.name, self._unwritten.written + len(rows)),
        )
