"""From values to the numbers that the kernel takes: see `fedbandit.kernels.features.encoding`."""

from __future__ import annotations

from abc import ABC, abstractmethod
from array import array
from collections.abc import Callable, Mapping, Sequence
from operator import itemgetter
from typing import Any

import numpy as np

from fedbandit.core.arrays import Floats
from fedbandit.core.errors import InvalidInput
from fedbandit.features.checks import shown
from fedbandit.features.columns import Column
from fedbandit.features.kinds import Category, Feature, Hashed, Text, coding_order
from fedbandit.features.values import hashed_block, text_of, texts_of, tokens

MOST_KEPT = 1 << 21  # numbers of hashed texts, 16 MB: with more of them the table is begun anew


class Blocks:
    """The blocks of the texts that were met so far, one after the other."""

    def __init__(self) -> None:
        """Begin with none."""
        self.table = np.zeros(1024)
        self.used = 0

    def append(self, block: Floats) -> int:
        """Keep a block and return where it begins."""
        begin, self.used = self.used, self.used + len(block)
        if self.used > len(self.table):
            larger = np.zeros(2 * self.used)
            larger[:begin] = self.table[:begin]
            self.table = larger
        self.table[begin : self.used] = block
        return begin


class Codes(dict[Any, float], ABC):
    """The codes of the values of one feature, by their texts; other values are read as texts when they are asked for.

    Only texts, lists of them and None are kept: a number must not be found where True was, which equals 1.
    """

    read: Callable[[Any], Any] = staticmethod(text_of)

    def __init__(self, known: Mapping[str, float]) -> None:
        """Take what is known from the start."""
        super().__init__(known)
        self[None] = np.nan

    def __missing__(self, value: Any) -> float:
        """Return the code of what is not kept; TypeError for a value that has no text."""
        text = self.read(value)
        return self.new(text) if text is value or text not in self else self[text]

    @abstractmethod
    def new(self, text: Any) -> float:
        """Return the code of a text that is not known."""


class Levels(Codes):
    """The codes of the levels of a category: their places; all other texts share one."""

    def __init__(self, feature: Category) -> None:
        """Number the levels."""
        super().__init__({level: float(place) for place, level in enumerate(feature.levels)})
        self._unknown = float(len(feature.levels))

    def new(self, text: Any) -> float:  # noqa: ARG002
        """Return the code of unknown levels."""
        return self._unknown


class Words(Codes):
    """The codes of texts that are hashed: where their blocks begin."""

    def __init__(self, name: str, feature: Hashed, blocks: Blocks) -> None:
        """Begin with no text."""
        super().__init__({})
        self._prefix = f"{name}=".encode()
        self._size, self._blocks = feature.size, blocks
        self._is_text = isinstance(feature, Text)
        self.read = text_of if self._is_text else texts_of

    def new(self, text: Any) -> float:
        """Hash a text, or a list of them, and keep the block."""
        found = [text] if isinstance(text, str) else text
        try:
            parts = [part for each in found for part in (tokens(each) if self._is_text else [each.encode()])]
        except UnicodeEncodeError:
            raise TypeError from None
        block = hashed_block([self._prefix + part for part in parts], self._size)
        code = self[text] = float(self._blocks.append(block))
        return code


class Coder:
    """Codes the values of one part, the context or the arms.

    >>> from fedbandit.features.kinds import read_feature
    >>> coder = Coder({"hour": read_feature("context.hour", {"kind": "bins", "edges": [12]})}, Blocks())
    >>> coder.rows([{"hour": 9}, {"hour": None}], "arms[{}]")
    array([[ 9.],
           [nan]])
    """

    def __init__(self, features: Mapping[str, Feature], blocks: Blocks) -> None:
        """Take the features of the part."""
        self.order = coding_order(features)
        self._numbers = [name for name in self.order if features[name].takes_numbers]
        self._texts = [(name, _codes(name, features[name], blocks)) for name in self.order[len(self._numbers) :]]
        self._numbers_of = _getter(self._numbers)

    def rows(self, rows: Sequence[Any], place: str) -> Floats:
        """Return the codes of rows, each a mapping of names to values; `place` is that of a row, for errors."""
        flat: list[float] = []
        numbers_of, texts = self._numbers_of, self._texts
        try:
            for row in rows:
                flat.extend(numbers_of(row))
                for name, codes in texts:
                    flat.append(codes[row[name]])
            coded: Floats = np.asarray(array("d", flat))
        except (KeyError, TypeError, IndexError, OverflowError):
            coded = np.array([self._carefully(row, place.format(number)) for number, row in enumerate(rows)])
        return coded.reshape(len(rows), len(self.order))

    def column(self, name: str, column: Column, where: Callable[[int], str]) -> Floats:
        """Return the codes of a column; `where` tells the place of one of its rows.

        Files may have numbers as texts, so the text of a number counts as one here.
        """
        is_number = name in self._numbers
        if is_number and column.numbers is not None:
            return column.numbers
        different = column.as_values()
        coded = np.full(len(different.values) + 1, np.nan)  # the last for what is missing
        words = dict(self._texts).get(name)
        for place, value in enumerate(different.values):
            try:
                coded[place] = float(value) if words is None else words[words.read(value)]
            except (TypeError, ValueError):
                first = int(np.argmax(different.places == place))
                raise _refused(where(first), name, value, is_number) from None
        return coded[different.places]

    def _carefully(self, row: Any, place: str) -> list[float]:
        """Return the codes of one row, in which something is missing or wrong."""
        if not isinstance(row, Mapping):
            raise InvalidInput(f"{place} must be a table of values, not {shown(row)}: give a dict of names and values")
        coded = []
        for name in self._numbers:
            try:
                coded.append(_number(row.get(name)))
            except (TypeError, ValueError, OverflowError):
                raise _refused(place, name, row[name], is_number=True) from None
        for name, words in self._texts:
            try:
                coded.append(words[words.read(row.get(name))])
            except TypeError:
                raise _refused(place, name, row[name], is_number=False) from None
        return coded


def _codes(name: str, feature: Feature, blocks: Blocks) -> Levels | Words:
    if isinstance(feature, Category):
        return Levels(feature)
    assert isinstance(feature, Hashed)
    return Words(name, feature, blocks)


def _getter(names: list[str]) -> Callable[[Any], Sequence[Any]]:
    if len(names) > 1:
        return itemgetter(*names)
    return (lambda row: (row[names[0]],)) if names else (lambda row: ())  # noqa: ARG005


def _number(value: Any) -> float:
    """Return a value as a number, NaN where it is missing."""
    if isinstance(value, str | bytes):
        raise TypeError
    return np.nan if value is None else float(value)


def _refused(place: str, name: str, value: Any, is_number: bool) -> InvalidInput:
    if is_number:
        return InvalidInput(f"{place}: {name} is {shown(value)}: give a number, or nothing where it is missing")
    if isinstance(value, float):
        return InvalidInput(
            f"{place}: {name} is {shown(value)}, whose text differs between languages: give a text or a whole number, "
            "or declare it a number"
        )
    return InvalidInput(f"{place}: {name} is {shown(value)}: give a text, a whole number, true or false")
