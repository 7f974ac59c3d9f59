"""Tables of numbers on a screen of any width: a number is shown whole, or its column is left out and named below."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from rich.cells import cell_len
from rich.markup import escape
from rich.table import Table

from fedbandit.cli.screen import out

NAME = 12  # characters of a line to which a name is folded before what is worth most is left out


class Column(NamedTuple):
    """A column: its head, and a text for each row. Names come first, and are folded where numbers are not."""

    head: str
    cells: Sequence[str]
    is_name: bool = False

    def least(self, name: int | None) -> int:
        """Return how many characters a line of it needs; a name's are at most `name`, if that is given."""
        words = self.head.split() if not self.is_name else [self.head]
        widest = max(map(cell_len, [*words, *self.cells]))
        return widest if name is None or not self.is_name else min(widest, name)


def show_numbers(columns: Sequence[Column], spare: Sequence[str], last: Sequence[str], where: str, title: str) -> None:
    """Print a table that fits: first without spare columns, then with names folded, and then without the last ones.

    `where` says which file has those that are left out. What does not fit even so is printed past the edge.
    """
    kept, name = _fitting(columns, spare, last)
    table = Table(title=escape(title) or None, title_justify="left")
    for column in kept:
        table.add_column(
            escape(column.head),
            justify="left" if column.is_name else "right",
            min_width=column.least(name),
            overflow="fold",
        )
    for cells in zip(*(column.cells for column in kept), strict=True):
        table.add_row(*map(escape, cells))
    out.print(table, width=max(out.width, _width(kept, name)), crop=False)
    if missing := [column.head for column in columns if column not in kept]:
        said = f"Left out, as the screen is narrow: {', '.join(missing)}; they are in {where}"
        out.print(escape(said), soft_wrap=True, highlight=False)


def _fitting(columns: Sequence[Column], spare: Sequence[str], last: Sequence[str]) -> tuple[list[Column], int | None]:
    """Return the columns that fit beside each other, and the longest line of a name."""
    ways: list[tuple[Sequence[str], int | None]] = [(spare[:count], None) for count in range(len(spare) + 1)]
    ways += [([*spare, *last[:count]], NAME) for count in range(len(last) + 1)]
    for without, name in ways:
        kept = [column for column in columns if column.head not in without]
        if _width(kept, name) <= out.width:
            break
    return kept, name


def _width(columns: Sequence[Column], name: int | None) -> int:
    """Return how wide a table is: each column has a blank on both sides and a line, and there is a line at the end."""
    return sum(column.least(name) + 3 for column in columns) + 1
