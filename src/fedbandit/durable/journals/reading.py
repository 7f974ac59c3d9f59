"""Journals that are looked at and not touched: in a file, in a folder of files, in a database."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Protocol

from fedbandit.core.errors import InvalidInput
from fedbandit.durable.journals.journal import Entry, without_password
from fedbandit.durable.journals.postgres_rows import PostgresRows, journal_names, reading_postgres
from fedbandit.durable.journals.sqlite_rows import reading_only, strange


class Rows(Protocol):
    """What stands in one journal."""

    def writers(self) -> dict[int, str]:
        """Return the versions of fedbandit that wrote records, by the position from which on they did."""

    def last(self) -> int:
        """Return the position of the last record, or of the snapshot if none is left after it."""

    def snapshot(self) -> Entry | None:
        """Return the snapshot, if there is one."""

    def kept(self) -> Iterator[Entry]:
        """Yield the kept records up to the snapshot."""

    def records(self, after: int) -> Iterator[Entry]:
        """Yield the records after a position."""

    def log(self) -> Iterator[Entry]:
        """Yield all records that are still there: with a log that is kept, all that there ever were."""

    def faults(self) -> Iterator[str]:
        """Tell all that is wrong."""


def journals_at(place: str, name: str | None = None) -> list[tuple[str, str]]:
    """Return the journals at a place as (place, name): a file, all files of a folder, or all names of a database."""
    if place.startswith(("postgresql://", "postgres://")):
        with reading_postgres(place) as base:
            names = journal_names(base)
        found = [(place, each) for each in names if name in (None, each)]
    else:
        path = Path(place)
        files = [path] if path.is_file() else sorted(path.glob("*.db"))
        found = [(str(file), file.stem) for file in files if name in (None, file.stem)]
    if not found:
        named = "no journal" if name is None else f"no journal of {name!r}"
        raise InvalidInput(
            f"there is {named} at {without_password(place)}: give a file, a folder of .db files, or postgresql://..."
        )
    return found


@contextmanager
def reading(place: str, name: str) -> Iterator[Rows]:
    """Give what stands in a journal; nothing is changed. One in a file must not be open elsewhere."""
    if place.startswith(("postgresql://", "postgres://")):
        with reading_postgres(place) as base:
            yield PostgresRows(base, name, f"{name!r} at {without_password(place)}")
    else:
        path = Path(place)
        if path.is_file() and not path.stat().st_size:  # SQLite takes it for a database without tables
            raise strange(path)
        with reading_only(path) as rows:
            yield rows
