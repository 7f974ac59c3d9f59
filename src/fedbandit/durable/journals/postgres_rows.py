"""Reading a journal in a PostgreSQL database: what stands in its tables, checked."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from typing import Any

from fedbandit.core.errors import InvalidInput
from fedbandit.durable.journals.journal import Entry, without_password
from fedbandit.durable.journals.seals import ANYWHERE, SNAPSHOT, Row, Rule, believed, faults

_LAST = """
SELECT greatest(
    (SELECT max(position) FROM fedbandit_records WHERE name = %(name)s),
    (SELECT max(position) FROM fedbandit_snapshots WHERE name = %(name)s))
"""
_AT_A_TIME = 1000  # records


class PostgresRows:
    """What the tables hold of one journal, through a connection that is open."""

    def __init__(self, base: Any, name: str, place: str) -> None:
        """See whether the tables are those of fedbandit 0.1, which have no seals."""
        self._base, self._name, self._place = base, name, place
        found = base.execute("SELECT to_regclass('fedbandit_records'), to_regclass('fedbandit_marks')").fetchone()
        self.is_there = found[0] is not None
        self.is_sealed = found[1] is not None
        self._seal = "seal" if self.is_sealed else "NULL"

    def writers(self) -> dict[int, str]:
        """Return the versions of fedbandit that wrote records, by the position from which on they did."""
        if not self.is_sealed:
            return {}
        query = "SELECT first, version FROM fedbandit_writers WHERE name = %s ORDER BY first"
        return dict(self._base.execute(query, (self._name,)).fetchall())

    def last(self) -> int:
        """Return the position of the last record, or of the snapshot if none is left after it."""
        return int(self._base.execute(_LAST, {"name": self._name}).fetchone()[0] or 0)

    def snapshot_rows(self) -> list[Row]:
        """Return the snapshot as it stands in its table, if there is one."""
        query = f"SELECT position, data, {self._seal} FROM fedbandit_snapshots WHERE name = %s"
        return [_row(*each) for each in self._base.execute(query, (self._name,))]

    def snapshot(self) -> Entry | None:
        """Return the snapshot, if there is one."""
        return next(believed(self.snapshot_rows(), self._rule(ANYWHERE, SNAPSHOT), self._place), None)

    def record_rows(self, after: int) -> Iterator[Row]:
        """Yield the records after a position as they stand in their table."""
        query = (
            f"SELECT position, data, {self._seal} FROM fedbandit_records WHERE name = %s AND position > %s "
            f"ORDER BY position LIMIT {_AT_A_TIME}"
        )
        while rows := self._base.execute(query, (self._name, after)).fetchall():
            after = rows[-1][0]
            yield from (_row(*each) for each in rows)

    def records(self, after: int) -> Iterator[Entry]:
        """Yield the records after a position; none may be missing after the snapshot."""
        query = "SELECT position FROM fedbandit_snapshots WHERE name = %s"  # without reading it, since it may be large
        place = self._base.execute(query, (self._name,)).fetchone()
        rule = self._rule(max(after, place[0] if place else 0))
        return believed(self.record_rows(after), rule, self._place)

    def log(self) -> Iterator[Entry]:
        """Yield all records that are still there: with a log that is kept, all that there ever were."""
        return self.records(0)

    def kept(self) -> Iterator[Entry]:
        """Yield the kept records up to the snapshot."""
        rows = self._base.execute(
            f"SELECT position, data, {self._seal} FROM fedbandit_records WHERE name = %(name)s AND kept AND "
            "position <= (SELECT position FROM fedbandit_snapshots WHERE name = %(name)s) ORDER BY position",
            {"name": self._name},
        )
        return believed((_row(*each) for each in rows), self._rule(ANYWHERE), self._place)

    def faults(self) -> Iterator[str]:
        """Tell all that is wrong with what is in the tables."""
        snapshots = self.snapshot_rows()
        yield from faults(snapshots, self._rule(ANYWHERE, SNAPSHOT))
        yield from faults(self.record_rows(0), self._rule(max([row.position for row in snapshots], default=0)))
        yield from self.lost_end()

    def lost_end(self) -> Iterator[str]:
        """Tell if records are missing that the mark beside them proves."""
        if not self.is_sealed:
            return
        row = self._base.execute("SELECT position FROM fedbandit_marks WHERE name = %s", (self._name,)).fetchone()
        if row is not None and row[0] > self.last():
            yield f"it ends at record {self.last()}, but had {row[0]}: its end is lost"

    def _rule(self, whole_after: int, noun: str = "record") -> Rule:
        return Rule(whole_after, min(self.writers(), default=ANYWHERE), noun)


def _row(position: int, data: Any, seal: int | None) -> Row:
    return Row(position, bytes(data), seal)


def driver() -> Any:
    """Return the module psycopg, which only this back end needs."""
    try:
        return import_module("psycopg")
    except ImportError:
        raise InvalidInput(
            "a journal in PostgreSQL needs the driver psycopg: install fedbandit with its extra deploy"
        ) from None


def connect(url: str) -> Any:
    """Return a connection to a database."""
    psycopg = driver()
    try:
        return psycopg.connect(url, autocommit=True)
    except psycopg.OperationalError as error:
        raise InvalidInput(f"no PostgreSQL at {without_password(url)} ({error}): start it or correct the URL") from None


@contextmanager
def reading_postgres(url: str) -> Iterator[Any]:
    """Give a connection to a database as it is at one moment, through which nothing can be changed."""
    with connect(url) as base, base.transaction():
        base.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY")
        yield base


def journal_names(base: Any) -> list[str]:
    """Return the names of the journals in a database."""
    if not PostgresRows(base, "", "").is_there:
        return []
    rows = base.execute("SELECT name FROM fedbandit_records UNION SELECT name FROM fedbandit_snapshots ORDER BY name")
    return [name for (name,) in rows]
