"""Tables in CSV, by the standard library."""

from __future__ import annotations

import csv
import re
from pathlib import Path

import numpy as np

from fedbandit.core.errors import InvalidInput
from fedbandit.features.checks import shown
from fedbandit.features.columns import Column
from fedbandit.logs.table import Lists, Numbers, lists_of_texts

_NUMBER = re.compile(r"-?(0|[1-9]\d*)(\.\d+)?([eE][+-]?\d+)?")  # so that 007 stays a text


class CsvTable:
    """The cells of a file; an empty one is missing, and a column whose cells are all numbers has numbers.

    >>> table = CsvTable("log.csv", ["reward", "city"], [["1", "Bonn"], ["", "Ulm"]])
    >>> table.column("reward").numbers, table.column("city").values
    (array([ 1., nan]), ['Bonn', 'Ulm'])
    """

    def __init__(self, source: str, names: list[str], cells: list[list[str]]) -> None:
        """Take the header and the rows."""
        self.source = source
        self.names = names
        self.rows = len(cells)
        self.roles: dict[str, str] = {}
        self._cells = {name: [row[place] for row in cells] for place, name in enumerate(names)}

    @classmethod
    def read(cls, path: Path) -> CsvTable:
        """Read a file with a header; a row of another length is refused."""
        try:
            with path.open(encoding="utf-8-sig", newline="") as file:
                rows = [row for row in csv.reader(file, strict=True) if row]
        except OSError as error:
            raise InvalidInput(f"cannot read {path}: {error.strerror}: give the path of a log") from None
        except (csv.Error, UnicodeDecodeError) as error:
            raise InvalidInput(f"{path} is not a CSV file in UTF-8 ({error}): write it as one") from None
        if not rows:
            raise InvalidInput(f"{path} is empty: a log has a header and rows")
        names, cells = rows[0], rows[1:]
        for number, row in enumerate(cells, start=1):
            if len(row) != len(names):
                raise InvalidInput(f"{path}: row {number} has {len(row)} cells, the header {len(names)}: correct it")
        for name in names:
            if names.count(name) > 1:
                raise InvalidInput(f"{path}: the column {name!r} is there twice: give one of them another name")
        return cls(str(path), names, cells)

    def vectors(self) -> None:
        """Return None: cells hold values."""

    def explored(self) -> float | None:
        """Return nothing: no site writes CSV."""
        return None

    def column(self, name: str) -> Column:
        """Return a column: as numbers if all its cells are."""
        cells = self._cells[name]
        if all(not cell or _NUMBER.fullmatch(cell) for cell in cells):
            return Column(np.array([float(cell) if cell else np.nan for cell in cells]))
        return Column.of([cell or None for cell in cells])

    def numbers(self, name: str) -> Numbers:
        """Return a column as numbers."""
        values = np.empty(self.rows)
        for row, cell in enumerate(self._cells[name]):
            try:
                values[row] = float(cell) if cell else np.nan
            except ValueError:
                raise InvalidInput(
                    f"{self.source}: row {row + 1}: {name} is {shown(cell)}: give a number, or nothing"
                ) from None
        return Numbers(values, np.array([not cell for cell in self._cells[name]], dtype=np.bool_))

    def lists(self, name: str) -> Lists:
        """Return the lists that are written as JSON in a column."""
        return lists_of_texts(Column.of([cell or None for cell in self._cells[name]]), name, self.source)
