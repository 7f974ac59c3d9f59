"""`python -m benchmarks [WORD]`: measure every row, or those whose name or file has the word, and judge it.

A word that is the name of a file without rows runs that file, as in `python -m benchmarks peers`.
"""

from __future__ import annotations

import os
import pkgutil
import sys
from collections.abc import Callable
from importlib import import_module

from rich.console import Console
from rich.table import Table

import benchmarks
from benchmarks.row import Row


def rows(word: str) -> list[Row]:
    """Return the rows of all modules beside this one that match a word."""
    found: list[Row] = []
    for module in pkgutil.iter_modules(benchmarks.__path__):
        if not module.name.startswith("__"):
            listed: tuple[Row, ...] = getattr(import_module(f"benchmarks.{module.name}"), "ROWS", ())
            found += [row for row in listed if word in row.name or word in module.name]
    return found


def own_table(word: str) -> Callable[[], int] | None:
    """Return what measures and prints a table of its own, if the word names such a module."""
    if word not in {module.name for module in pkgutil.iter_modules(benchmarks.__path__)}:
        return None
    module = import_module(f"benchmarks.{word}")
    found: Callable[[], int] | None = None if hasattr(module, "ROWS") else getattr(module, "main", None)
    return found


def main(word: str = "") -> int:
    """Measure on one core, print the table, and return 1 if any row misses its floor."""
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[-1:])
    alone = own_table(word)
    if alone is not None:
        return alone()
    console = Console()
    table = Table("what", "measured", "at most", "", "beside it")
    missed = 0
    for row in rows(word):
        console.print(f"[dim]{row.name} ...[/]", end="\r")
        value = row.measure()
        is_kept = value <= row.at_most
        missed += not is_kept
        mark = "[green]kept[/]" if is_kept else "[red]missed[/]"
        table.add_row(row.name, f"{value:.3g} {row.unit}", f"{row.at_most:g} {row.unit}", mark, row.beside)
    console.print(table)
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:2]))
