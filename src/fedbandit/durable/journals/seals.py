"""The checksum of a record, which covers its position too, and what a row of records must be like to be believed."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple
from zlib import crc32

from fedbandit.core.errors import InvalidInput
from fedbandit.durable.journals.journal import Entry

ANYWHERE = 1 << 62  # a position that no record has
NEWEST = 64  # records at which a journal looks now and then
SNAPSHOT = "the snapshot after record"
REMEDY = "restore a backup, and see with `fedbandit check` what is left of this one"


class Row(NamedTuple):
    """A record or a snapshot as it stands in a table; what fedbandit 0.1 wrote has no seal."""

    position: Any
    data: Any
    seal: Any


class Rule(NamedTuple):
    """What some records must be like."""

    whole_after: int  # after this position none may be missing
    sealed_from: int  # from this position on each has a seal
    noun: str = "record"


def seal(position: int, data: bytes) -> int:
    """Return the checksum of a record at its position.

    >>> seal(1, b"record") == seal(2, b"record"), seal(1, b"record") == seal(1, b"Record")
    (False, False)
    """
    return crc32(data, position)


def faults(rows: Iterable[Row], rule: Rule) -> Iterator[str]:
    """Tell what is wrong with some records, in order.

    >>> list(faults([Row(1, b"one", seal(1, b"one")), Row(3, b"two", 7)], Rule(0, 1)))
    ['record 2 is missing', 'record 3 is damaged: its checksum does not fit']
    """
    return (fault for _, found in _looked_at(rows, rule) for fault in found)


def believed(rows: Iterable[Row], rule: Rule, place: str) -> Iterator[Entry]:
    """Yield records, each after it was checked; refuse the first that is damaged, and one before which others miss."""
    for row, found in _looked_at(rows, rule):
        if found:
            raise damaged(place, found[0])
        yield Entry(row.position, row.data)


def _looked_at(rows: Iterable[Row], rule: Rule) -> Iterator[tuple[Row, list[str]]]:
    """Yield each row with what is wrong with it."""
    last = rule.whole_after
    for row in rows:
        name = f"{rule.noun} {row.position!r}"
        if type(row.position) is not int or type(row.data) is not bytes:
            yield row, [f"{name} is damaged: it does not hold bytes"]
            continue
        found = []
        if row.position == last + 2:
            found.append(f"{rule.noun} {last + 1} is missing")
        elif row.position > last + 2:
            found.append(f"{rule.noun}s {last + 1} to {row.position - 1} are missing")
        if row.seal is None and row.position >= rule.sealed_from:
            found.append(f"{name} is damaged: it has no checksum")
        elif row.seal is not None and row.seal != seal(row.position, row.data):
            found.append(f"{name} is damaged: its checksum does not fit")
        last = max(last, row.position)
        yield row, found


def damaged(place: str, fault: str) -> InvalidInput:
    """Return the refusal of a journal that cannot be believed."""
    return InvalidInput(f"the journal {place} cannot be used: {fault}; {REMEDY}")
