"""`python -m benchmarks [WORD]`: measure every row, or those whose name or file has the word, and judge it."""

from __future__ import annotations

import os
import pkgutil
import sys
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


def main() -> int:
    """Measure on one core, print the table, and return 1 if any row misses its floor."""
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[-1:])
    console = Console()
    table = Table("what", "measured", "at most", "", "beside it")
    missed = 0
    for row in rows(sys.argv[1] if len(sys.argv) > 1 else ""):
        console.print(f"[dim]{row.name} ...[/]", end="\r")
        value = row.measure()
        is_kept = value <= row.at_most
        missed += not is_kept
        mark = "[green]kept[/]" if is_kept else "[red]missed[/]"
        table.add_row(row.name, f"{value:.3g} {row.unit}", f"{row.at_most:g} {row.unit}", mark, row.beside)
    console.print(table)
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
