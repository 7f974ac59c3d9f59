"""Tables of text to arrays: all at once first, line by line only to say which line is wrong."""

from __future__ import annotations

import csv
import io
import re
import warnings
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Literal, TypeVar

import numpy as np
from numpy.typing import NDArray

from fedbandit.datasets.arrays import Floats, Ints, Strings
from fedbandit.datasets.files.errors import DamagedFile, damaged
from fedbandit.datasets.files.release import Release

Encoding = Literal["utf-8", "iso-8859-1"]
Number = TypeVar("Number", np.int64, np.float64)

# Blocks bound the memory that parsing needs beside the result; one does for all sets but MovieLens 20M, 25M.
BLOCK_BYTES = 1 << 27
WHOLE = re.compile(rb"\s*[+-]?[0-9]+\s*")
DECIMAL = re.compile(rb"\s*[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?\s*")


@dataclass(frozen=True)
class Table:
    """One text file: its lines after the header, and what an error needs to name the place.

    >>> table = Table("toy", "toy.csv", b"1,2\\n3,4\\n", b",")
    >>> table.integers(2).tolist()
    [[1, 2], [3, 4]]
    >>> Table("toy", "toy.csv", b"1,2\\n3\\n", b",").integers(2)
    Traceback (most recent call last):
    ...
    fedbandit.datasets.files.errors.DamagedFile: toy.csv line 2: expected 2 columns, found 1: download the set \
again with `fedbandit data fetch toy`
    """

    dataset: str
    file: str
    body: bytes = field(repr=False)
    separator: bytes = b"\t"
    header: tuple[str, ...] = ()

    @classmethod
    def open(cls, release: Release, file: str, separator: bytes = b"\t", header: tuple[str, ...] = ()) -> Table:
        """Read a file of a release; `header` has the names that its first line must begin with, if any."""
        text = release.read(file)
        if not header:
            return cls(release.dataset, file, _trimmed(release.dataset, file, text), separator)
        first, _, body = text.partition(b"\n")
        names = tuple(first.strip(b"\xef\xbb\xbf\r").decode("iso-8859-1").split(separator.decode()))
        if names[: len(header)] != header:
            wanted, found = " ".join(header), " ".join(names)[:60]
            raise damaged(release.dataset, file, f"expected the columns {wanted}, found {found!r}", line=1)
        return cls(release.dataset, file, _trimmed(release.dataset, file, body), separator, names)

    @property
    def first_line(self) -> int:
        """The number, in the file, of the first line of the body."""
        return 2 if self.header else 1

    def integers(self, columns: int) -> Ints:
        """Return the body as a (lines, columns) array of whole numbers."""
        blocks = [self._block(block, line, columns, np.int64, WHOLE) for block, line in self._blocks()]
        return blocks[0] if len(blocks) == 1 else np.concatenate(blocks)

    def decimals(self, columns: int) -> Floats:
        """Return the body as a (lines, columns) array of finite numbers."""
        blocks = [self._block(block, line, columns, np.float64, DECIMAL) for block, line in self._blocks()]
        return blocks[0] if len(blocks) == 1 else np.concatenate(blocks)

    def texts(self, columns: int, encoding: Encoding) -> list[list[str]]:
        """Return the body's fields as they stand, one list a line."""
        separator = self.separator.decode()
        # Not splitlines: names hold characters that it takes for line ends.
        rows = [line.removesuffix("\r").split(separator) for line in self._decoded(encoding).split("\n")]
        for number, row in enumerate(rows, self.first_line):
            if len(row) != columns:
                raise self.damaged(f"expected {_columns(columns)}, found {len(row)}", number)
        return rows

    def quoted(self, columns: int, encoding: Encoding) -> list[list[str]]:
        """Return the fields of a csv file in which fields may be quoted."""
        reader = csv.reader(io.StringIO(self._decoded(encoding), newline=""), strict=True)
        rows = []
        try:
            for row in reader:
                if len(row) != columns:
                    line = reader.line_num + self.first_line - 1
                    raise self.damaged(f"expected {_columns(columns)}, found {len(row)}", line)
                rows.append(row)
        except csv.Error as error:
            raise self.damaged(f"{error}", reader.line_num + self.first_line - 1) from error
        return rows

    def named(self, columns: int, encoding: Encoding) -> tuple[Ints, Strings]:
        """Return (ids, names), by increasing id, from columns 1 and 2."""
        rows = self.texts(columns, encoding)
        ids = self.column_of_integers(rows, 0)
        order = np.argsort(ids, kind="stable")
        return ids[order], np.array([row[1] for row in rows])[order]

    def column_of_integers(self, rows: list[list[str]], column: int) -> Ints:
        """Return one column of the fields that `texts` or `quoted` returned, as whole numbers."""
        for line, row in enumerate(rows, self.first_line):
            if not (row[column].isascii() and row[column].isdecimal()):
                raise self.damaged(f"column {column + 1} is {row[column][:30]!r}, not a whole number", line)
        return np.array([int(row[column]) for row in rows], dtype=np.int64)

    def labels(self, classes: Ints | Floats, column: int, first: int, last: int) -> Ints:
        """Return the classes `first` to `last` as 0, 1, 2, ...; `column` (from 1) is where they stand."""
        strange = np.flatnonzero((classes < first) | (classes > last) | (classes != np.floor(classes)))
        if strange.size:
            problem = f"column {column} is {classes[strange[0]]:g}, not a class from {first} to {last}"
            raise self.damaged(problem, int(strange[0]) + self.first_line)
        return classes.astype(np.int64) - first

    def damaged(self, problem: str, line: int) -> DamagedFile:
        """Return the error for one line of this file."""
        return damaged(self.dataset, self.file, problem, line)

    def _decoded(self, encoding: Encoding) -> str:
        try:
            return self.body.decode(encoding)
        except UnicodeDecodeError as error:
            line = self.first_line + self.body.count(b"\n", 0, error.start)
            raise self.damaged(f"a byte is not {encoding.upper()}", line) from error

    def _blocks(self) -> Iterator[tuple[bytes, int]]:
        start, line = 0, self.first_line
        while start < len(self.body):
            end = len(self.body)
            if end - start > BLOCK_BYTES:
                end = self.body.rfind(b"\n", start, start + BLOCK_BYTES) + 1 or len(self.body)
            block = self.body[start:end]
            yield block, line
            start, line = end, line + block.count(b"\n")

    def _block(
        self, block: bytes, line: int, columns: int, kind: type[Number], pattern: re.Pattern[bytes]
    ) -> NDArray[Number]:
        with warnings.catch_warnings():
            # NumPy stops at the first thing that is no number, with a warning now and an error one day; the
            # count below tells.
            warnings.simplefilter("ignore", DeprecationWarning)
            try:
                values = np.fromstring(block.replace(self.separator, b" "), dtype=kind, sep=" ")
            except ValueError:
                values = np.empty(0, dtype=kind)
        lines = block.count(b"\n") + (not block.endswith(b"\n"))
        whole = values.size == lines * columns and self._is_even(block, columns)
        if not whole or not np.isfinite(values).all():
            self._blame(block, line, columns, pattern)
        return values.reshape(lines, columns)

    def _is_even(self, block: bytes, columns: int) -> bool:
        """Whether every line has the same number of separators: a long line could make up for a short one."""
        characters = np.frombuffer(block, dtype=np.uint8)
        newline, separator = ord("\n"), self.separator[0]
        marks = characters[(characters == separator) | (characters == newline)]
        per_line = len(self.separator) * (columns - 1) + 1
        if marks.size % per_line == per_line - 1:
            marks = np.append(marks, newline)
        if marks.size % per_line:
            return False
        ends = marks.reshape(-1, per_line) == newline
        return bool(ends[:, -1].all() and not ends[:, :-1].any())

    def _blame(self, block: bytes, line: int, columns: int, pattern: re.Pattern[bytes]) -> None:
        kind = "whole number" if pattern is WHOLE else "number"
        for number, content in enumerate(block.removesuffix(b"\n").split(b"\n"), line):
            fields = content.split(self.separator)
            if len(fields) != columns:
                raise self.damaged(f"expected {_columns(columns)}, found {len(fields)}", number)
            for column, text in enumerate(fields, 1):
                if not pattern.fullmatch(text):
                    shown = text.strip().decode("ascii", "backslashreplace")[:30]
                    raise self.damaged(f"column {column} is {shown!r}, not a {kind}", number)
        raise self.damaged("a number is out of range", line)


def optional_integers(release: Release, file: str, header: tuple[str, ...]) -> Ints:
    """Return the columns that `header` names, without lines where the release lacks the file.

    >>> from tempfile import TemporaryDirectory
    >>> from pathlib import Path
    >>> with TemporaryDirectory() as folder:
    ...     optional_integers(Release.open("toy", Path(folder)), "toy.dat", ("a", "b")).shape
    (0, 2)
    """
    if not release.has(file):
        return np.empty((0, len(header)), dtype=np.int64)
    return Table.open(release, file, header=header).integers(len(header))


def optional_names(release: Release, file: str, header: tuple[str, ...], encoding: Encoding) -> tuple[Ints, Strings]:
    """Return (ids, names) of a file of names, none where the release lacks it.

    >>> from tempfile import TemporaryDirectory
    >>> from pathlib import Path
    >>> with TemporaryDirectory() as folder:
    ...     toy = Release.open("toy", Path(folder))
    ...     ids, names = optional_names(toy, "tags.dat", ("id", "value"), "utf-8")
    >>> len(names)
    0
    """
    if not release.has(file):
        return np.empty(0, dtype=np.int64), np.empty(0, dtype=np.str_)
    return Table.open(release, file, header=header).named(len(header), encoding)


def _columns(count: int) -> str:
    return f"{count} column" if count == 1 else f"{count} columns"


def _trimmed(dataset: str, file: str, body: bytes) -> bytes:
    trimmed = body.rstrip(b"\r\n")
    if not trimmed:
        raise damaged(dataset, file, "there are no lines in it")
    return trimmed
