"""The table of libraries beside each other: stored as a CSV file, and shown in the README as made from it."""

from __future__ import annotations

import csv
import platform
import re
from collections.abc import Sequence
from dataclasses import dataclass, fields
from pathlib import Path

from rich.console import Console
from rich.table import Table

from fedbandit.experiments.table import Measured
from fedbandit.results.provenance import commit

ROOT = Path(__file__).parent.parent
FILE = Path(__file__).with_suffix("").with_name("peers.csv")
README = ROOT / "README.md"
BEGIN, END = "<!-- made by python -m benchmarks peers -->\n", "<!-- until here -->\n"
HEAD = ("", "a decision", "an update", "memory", "regret, a model a site", "regret, all raw data in one place")


@dataclass(frozen=True)
class Peer:
    """What was measured of a library: microseconds, mebibytes, and regrets, one a world."""

    library: str
    version: str
    model: str
    decision: float
    update: float
    memory: float
    alone: Sequence[float]
    pooled: Sequence[float]
    federated: Sequence[float] | None = None
    megabytes: float | None = None  # that federated sites send
    turn: float | None = None  # microseconds of a simulated one


def store(found: Sequence[Peer], file: Path = FILE, readme: Path = README) -> None:
    """Write the CSV file, and the README's table anew."""
    names = [each.name for each in fields(Peer)]
    made = {"python": platform.python_version(), "machine": f"{platform.system()} on {platform.machine()}, one core",
            "code": commit()}  # fmt: skip
    with file.open("w", newline="", encoding="utf-8") as stream:
        writer = csv.writer(stream)
        writer.writerow([*names, *made])
        writer.writerows([*(_text(getattr(each, name)) for name in names), *made.values()] for each in found)
    text = readme.read_text(encoding="utf-8")
    between = re.compile(f"{re.escape(BEGIN)}.*?{re.escape(END)}", re.DOTALL)
    readme.write_text(between.sub(lambda _: BEGIN + markdown(read(file)) + END, text), encoding="utf-8")


def _text(value: str | float | Sequence[float] | None) -> str:
    if value is None or isinstance(value, str):
        return value or ""
    return f"{value:.4g}" if isinstance(value, float) else " ".join(f"{each:.4g}" for each in value)


def read(file: Path = FILE) -> list[Peer]:
    """Return what is stored."""
    with file.open(newline="", encoding="utf-8") as stream:
        return [_peer(line) for line in csv.DictReader(stream)]


def _peer(line: dict[str, str]) -> Peer:
    def numbers(name: str) -> list[float]:
        return [float(each) for each in line[name].split()]

    decision, update, memory = (numbers(name)[0] for name in ("decision", "update", "memory"))
    megabytes, turn = (next(iter(numbers(name)), None) for name in ("megabytes", "turn"))
    return Peer(
        line["library"], line["version"], line["model"], decision, update, memory,
        numbers("alone"), numbers("pooled"), numbers("federated") or None, megabytes, turn,
    )  # fmt: skip


def _cells(found: Sequence[Peer]) -> list[tuple[str, ...]]:
    """Return a line a library, and one for federated sites."""
    lines = []
    for each in found:
        name = f"{each.library} {each.version.split('+')[0]}: {each.model}"
        times = (f"{_short(each.decision)} µs", f"{_short(each.update)} µs", f"{each.memory:.0f} MiB")
        lines.append((name, *times, *(str(Measured(tuple(some))) for some in (each.alone, each.pooled))))
        if each.federated is not None and each.turn is not None:
            name = f"the same, federated: {each.megabytes:.2g} MB of summaries, no raw data"
            turn = f"{_short(each.turn)} µs, both, in a simulation"
            lines.append((name, turn, "", "", f"**{Measured(tuple(each.federated))}**", ""))
    return lines


def _short(value: float) -> str:
    return f"{float(f'{value:.2g}'):,g}"


def markdown(found: Sequence[Peer]) -> str:
    """Return the table for the README."""
    lines = [HEAD, ("---", *["---:"] * (len(HEAD) - 1)), *_cells(found)]
    return "\n" + "".join(f"| {' | '.join(line)} |\n" for line in lines) + "\n"


def print_table(found: Sequence[Peer]) -> None:
    """Print the table."""
    table = Table(*HEAD)
    for line in _cells(found):
        table.add_row(*(cell.strip("*") for cell in line))
    Console().print(table)
