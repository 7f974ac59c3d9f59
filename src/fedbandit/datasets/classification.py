"""Rows with a class: the shape that the five classification sets share."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from fedbandit.datasets.arrays import Floats, Ints


@dataclass(frozen=True, eq=False)
class Classification:
    """A table with numeric columns, categorical columns and a class.

    `numbers` is (rows, numeric columns). `categories` is (rows, categorical columns) of positions in
    `levels`, the strings that occur in a column; "?" (not known) is a level like any other. `labels` are
    positions in `class_names`. The first `training_rows` rows are the release's training file, where it has
    two files.

    >>> data = Classification("toy", np.array([[1.0], [2.0]]), ("size",), np.array([[0], [1]]), ("colour",),
    ...     (("blue", "red"),), np.array([0, 1]), ("no", "yes"), training_rows=2)
    >>> data.features().tolist()
    [[1.0, 1.0, 0.0], [2.0, 0.0, 1.0]]
    """

    name: str
    numbers: Floats
    number_names: tuple[str, ...]
    categories: Ints
    category_names: tuple[str, ...]
    levels: tuple[tuple[str, ...], ...]
    labels: Ints
    class_names: tuple[str, ...]
    training_rows: int
    missing: tuple[str, ...] = ()

    @classmethod
    def of_numbers(
        cls,
        name: str,
        numbers: Floats,
        number_names: tuple[str, ...],
        labels: Ints,
        class_names: tuple[str, ...],
        training_rows: int | None = None,
    ) -> Classification:
        """Return a table without categorical columns; all rows are for training unless their number is given."""
        none = np.empty((len(labels), 0), dtype=np.int64)
        training = len(labels) if training_rows is None else training_rows
        return cls(name, numbers, number_names, none, (), (), labels, class_names, training)

    def counts(self) -> dict[str, int]:
        """Return the number of rows, of training rows and of rows of each class."""
        per_class = np.bincount(self.labels, minlength=len(self.class_names))
        classes = {f"rows of class {name}": int(n) for name, n in zip(self.class_names, per_class, strict=True)}
        return {"rows": self.labels.size, "training rows": self.training_rows, **classes}

    def features(self) -> Floats:
        """Return the numeric columns, then one column of 0 and 1 for each level of each categorical one."""
        blocks = [self.numbers]
        for column, levels in enumerate(self.levels):
            blocks.append((self.categories[:, column, None] == np.arange(len(levels))).astype(float))
        return np.hstack(blocks) if len(blocks) > 1 else self.numbers

    def feature_names(self) -> tuple[str, ...]:
        """Return the names of the columns of `features()`."""
        pairs = zip(self.category_names, self.levels, strict=True)
        return (*self.number_names, *(f"{name}={level}" for name, levels in pairs for level in levels))


def coded(column: Sequence[str], levels: Sequence[str] | None = None) -> tuple[tuple[str, ...], Ints]:
    """Return (levels, by the alphabet unless given; the position of each entry, -1 where it is no level).

    >>> coded(["b", "a", "b"])
    (('a', 'b'), array([1, 0, 1]))
    """
    known = tuple(sorted(set(column)) if levels is None else levels)
    place = {level: index for index, level in enumerate(known)}
    return known, np.array([place.get(entry, -1) for entry in column], dtype=np.int64)
