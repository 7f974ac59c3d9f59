"""A table of past decisions, whatever it was read from, and what is common to all of them."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, NamedTuple, Protocol

import numpy as np

from fedbandit.core.arrays import Bools, Floats, Ints
from fedbandit.core.errors import InvalidInput
from fedbandit.features.checks import shown
from fedbandit.features.columns import Column


class Numbers(NamedTuple):
    """A column of numbers, and where nothing stands, which is not the same as NaN."""

    values: Floats
    is_empty: Bools


class Lists(NamedTuple):
    """A column of lists: how many items each row has, and all items one after the other."""

    counts: Ints
    items: Column | None  # where they are single values
    fields: Mapping[str, Column]  # where they are tables


class Table(Protocol):
    """Rows of named columns."""

    source: str
    names: list[str]
    rows: int
    roles: dict[str, str]  # the columns that play a role though they have not its name

    def vectors(self) -> list[Any] | None:
        """Return the vectors of the arms of each row, where it has vectors in place of values."""

    def explored(self) -> float | None:
        """Return the least share of uniform choices, where a site wrote the log; None where another did."""

    def column(self, name: str) -> Column:
        """Return a column of values."""

    def numbers(self, name: str) -> Numbers:
        """Return a column as numbers, or refuse it by the first row that is none."""

    def lists(self, name: str) -> Lists:
        """Return a column as lists, or refuse it by the first row that is none."""


class Columns(Mapping[str, Column]):
    """Columns of which each is read when it is first asked for.

    >>> columns = Columns(lambda name: Column.of(["Bonn", "Ulm"]), ["city"]).take(np.array([1, 1]))
    >>> columns["city"].places.tolist(), "town" in columns
    ([1, 1], False)
    """

    def __init__(self, read: Callable[[str], Column], names: Iterable[str], rows: Ints | None = None) -> None:
        """Take what reads a column, the names, and which rows, all by default."""
        self._read = read
        self._names = list(names)
        self._rows = rows
        self._known: dict[str, Column] = {}

    def __getitem__(self, name: str) -> Column:
        """Return a column."""
        if name not in self._known:
            if name not in self._names:
                raise KeyError(name)
            column = self._read(name)
            self._known[name] = column if self._rows is None else column.take(self._rows)
        return self._known[name]

    def __iter__(self) -> Iterator[str]:
        """Return the names."""
        return iter(self._names)

    def __len__(self) -> int:
        """Return how many columns there are."""
        return len(self._names)

    def take(self, rows: Ints) -> Columns:
        """Return some of the rows."""
        return Columns(self.__getitem__, self._names, rows)


def lists_of_texts(column: Column, name: str, source: str) -> Lists:
    """Return the lists that a column of JSON texts has.

    >>> lists_of_texts(Column.of(['["A", "B"]', '["A"]']), "arms", "log.csv").counts.tolist()
    [2, 1]
    """
    different = column.as_values()
    parsed: list[list[Any]] = []
    for place, text in enumerate(different.values):
        found = _parsed(text)
        if found is None:
            row = int(np.argmax(different.places == place)) + 1
            raise InvalidInput(
                f'{source}: row {row}: {name} is {shown(text)}: give a list in JSON, as in ["A-17", "B-2"]'
            )
        parsed.append(found)
    parsed.append([])  # where nothing stands
    return lists_of([parsed[place] for place in different.places.tolist()], name, source)


def _parsed(text: Any) -> list[Any] | None:
    try:
        found = json.loads(text)
    except (TypeError, ValueError):
        return None
    return found if isinstance(found, list) else None


def lists_of(rows: list[list[Any]], name: str, source: str) -> Lists:
    """Return lists of Python values as a column of them."""
    counts = np.array([len(row) for row in rows], dtype=np.int64)
    items = [item for row in rows for item in row]
    are_tables = [isinstance(item, dict) for item in items]
    if not any(are_tables):
        return Lists(counts, Column.of(items), {})
    if not all(are_tables):
        row = int(np.searchsorted(np.cumsum(counts), are_tables.index(False), side="right")) + 1
        raise InvalidInput(f"{source}: row {row}: {name} has tables and single values: give one kind of them")
    fields = dict.fromkeys(key for item in items for key in item)
    return Lists(counts, None, {field: Column.of([item.get(field) for item in items]) for field in fields})
