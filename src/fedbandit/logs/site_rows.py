"""The decision log of a site: a folder of JSON lines, as its rows, each decision once and with late rewards."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from fedbandit.core.errors import InvalidInput
from fedbandit.features.checks import shown

NEEDED = ("id", "time", "site", "context", "arms", "ids", "choice", "reward", "expired")


def files_of(folder: Path) -> list[Path]:
    """Return the files of a log of decisions, the oldest first."""
    return sorted(folder.glob("*.jsonl"), key=lambda path: (path.name[:10], len(path.name), path.name))


def rows_of(folder: Path) -> list[dict[str, Any]]:
    """Return the rows of a log of decisions, in the order in which they were written.

    After a sudden end a row may be there twice: one stays. A reward that came late takes the place of the default of a
    decision that had expired, or of nothing; a reward that came once more changes nothing.
    """
    if not folder.is_dir():
        raise InvalidInput(f"{folder} is no folder: give the folder of a site's log of decisions")
    if not files_of(folder):
        raise InvalidInput(f"{folder} has no files *.jsonl: give the folder of a site's log of decisions")
    rows: dict[str, dict[str, Any]] = {}
    late: dict[str, float] = {}
    for path in files_of(folder):
        for number, line in _lines(path):
            row = _parsed(line, path, number)
            if "late" in row:
                late.setdefault(row["id"], row["late"])
            else:
                rows.setdefault(row["id"], row)
    for name, reward in late.items():
        if name in rows and rows[name]["expired"]:
            rows[name]["reward"] = reward
    return list(rows.values())


def _lines(path: Path) -> Iterator[tuple[int, bytes]]:
    """Yield the lines of a file that are whole, from 1; the last one may still be being written."""
    try:
        with path.open("rb") as file:
            for number, line in enumerate(file, start=1):
                if line.endswith(b"\n"):
                    yield number, line
    except OSError as error:
        raise InvalidInput(f"cannot read {path}: {error.strerror}: give the folder of a log of decisions") from None


def _parsed(line: bytes, path: Path, number: int) -> dict[str, Any]:
    try:
        row = json.loads(line)
    except ValueError:
        row = None
    is_row = isinstance(row, dict) and isinstance(row.get("id"), str)
    if is_row and (isinstance(row.get("late"), int | float) or all(name in row for name in NEEDED)):
        found: dict[str, Any] = row
        return found
    raise InvalidInput(
        f"{path}: line {number} is {shown(line.decode(errors='replace').strip())}, which is no row of a site's log: "
        "take it out"
    )
