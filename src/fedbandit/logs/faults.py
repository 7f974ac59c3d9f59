"""What is wrong with a log, by rows: the first of them in words, and how many more there are."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from fedbandit.core.arrays import Bools, Ints
from fedbandit.core.errors import InvalidInput

MOST_TOLD = 20


class Faults:
    """Collects faults until all checks were made.

    >>> faults = Faults()
    >>> faults.add(np.array([False, True, True]), lambda row: f"propensity is {row}: it must be in (0, 1]")
    >>> faults.refuse("log.csv")
    Traceback (most recent call last):
    ...
    fedbandit.core.errors.InvalidInput: log.csv: row 2: propensity is 1: it must be in (0, 1]; row 3: propensity is 2: \
it must be in (0, 1]
    """

    def __init__(self) -> None:
        """Begin with none."""
        self._told: list[tuple[int, str]] = []
        self._count = 0

    def add(self, wrong: Bools, words: Callable[[int], str], rows: Ints | None = None) -> None:
        """Note the places that are wrong; `words` says of a place why, `rows` has their rows in the file, from 1."""
        places = np.flatnonzero(wrong)
        self._count += len(places)
        for place in places[:MOST_TOLD].tolist():
            row = place + 1 if rows is None else int(rows[place])
            self._told.append((row, f"row {row}: {words(place)}"))

    def refuse(self, source: str) -> None:
        """Refuse the log if anything is wrong."""
        if self._count:
            told = [words for _, words in sorted(self._told)[:MOST_TOLD]]
            more = self._count - len(told)
            raise InvalidInput(f"{source}: {'; '.join(told)}" + (f"; and {more:,} more" if more else ""))
