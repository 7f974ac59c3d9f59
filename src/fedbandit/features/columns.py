"""Columns of a table of past values: numbers, or few different values and where each stands."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, Protocol

import numpy as np

from fedbandit.core.arrays import Floats, Ints


class Column(NamedTuple):
    """One column: either `numbers`, NaN where one is missing, or `values` and the place of each row's among them.

    >>> Column.of(["red", None, "red"])
    Column(numbers=None, values=['red'], places=array([ 0, -1,  0]))
    """

    numbers: Floats | None
    values: list[Any] = []  # noqa: RUF012 - never changed
    places: Ints = np.empty(0, dtype=np.int64)  # -1: missing

    @classmethod
    def of(cls, values: Sequence[Any]) -> Column:
        """Return values of any kind as a column: as numbers if all of them are."""
        if all(each is None or type(each) in (int, float) for each in values):
            return cls(np.array([np.nan if each is None else each for each in values], dtype=np.float64))
        known: dict[Any, int] = {}
        found: list[Any] = []
        places = np.empty(len(values), dtype=np.int64)
        for row, each in enumerate(values):
            key = (type(each), each if not isinstance(each, list | dict | np.ndarray) else repr(each))
            if each is None or (isinstance(each, float) and each != each):  # NaN
                places[row] = -1
                continue
            if key not in known:
                known[key] = len(found)
                found.append(each)
            places[row] = known[key]
        return cls(None, found, places)

    def __len__(self) -> int:
        """Return the number of rows."""
        return len(self.places if self.numbers is None else self.numbers)

    def take(self, rows: Ints) -> Column:
        """Return some of the rows."""
        if self.numbers is not None:
            return Column(self.numbers[rows])
        return Column(None, self.values, self.places[rows])

    def as_values(self) -> Column:
        """Return the column as different values and places, also where it has numbers."""
        if self.numbers is None:
            return self
        is_there = ~np.isnan(self.numbers)
        different, inverse = np.unique(self.numbers[is_there], return_inverse=True)
        places = np.full(len(self.numbers), -1, dtype=np.int64)
        places[is_there] = inverse
        return Column(None, different.tolist(), places)


class Offers(Protocol):
    """Turns of the past, as `Features.encode_log` takes them."""

    @property
    def context(self) -> Mapping[str, Column]:
        """The columns of the contexts, a row a turn."""

    @property
    def arms(self) -> Mapping[str, Column]:
        """The columns of arms."""

    @property
    def offered(self) -> Ints:
        """The rows of `arms` that were on offer at each turn (T, K); -1: a copy of the turn's first arm."""

    @property
    def row(self) -> Ints:
        """The row of the file that each turn stands in, for errors."""
