"""What is kept of one run of an experiment: its totals, and its curves at a few hundred turns."""

from __future__ import annotations

import json
import math
import os
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from fedbandit.core.arrays import Floats, Ints
from fedbandit.core.errors import InvalidInput
from fedbandit.experiments.experiment import Cell
from fedbandit.experiments.figures import Groups
from fedbandit.experiments.table import CURVES, QUANTITIES
from fedbandit.files.npz import read_npz
from fedbandit.results.provenance import made_here
from fedbandit.simulation.result import Result
from fedbandit.simulation.run import algorithm as algorithm_named
from fedbandit.simulation.run import environment as environment_named
from fedbandit.simulation.run import run

CHECKPOINTS = 250
TOTALS = tuple(name for name in QUANTITIES if name not in ("later_regret", "processor_seconds"))
BY_CLIENT = ("turns", "rewards", "exchanges")
MOST_CLIENTS = 10_000  # of a larger roster nothing is kept client by client


@dataclass(frozen=True)
class Record:
    """Totals by name, the curves at the checkpoints, and for each client its turns, rewards and exchanges.

    An exchange is a turn after which something was sent. `made` says by which code, and on which machine, the run was
    made; records of earlier versions do not.
    """

    clients: int
    totals: dict[str, float]
    curves: dict[str, Floats]
    by_client: dict[str, Floats] = field(default_factory=dict)
    made: dict[str, str] = field(default_factory=dict)

    @classmethod
    def of(cls, result: Result, processor_seconds: float = math.nan) -> Record:
        """Take what is worth keeping from a result of this process, and how long processors worked for it."""
        last = result.turns - 1
        at = np.unique(np.linspace(0, last, min(result.turns, CHECKPOINTS)).round().astype(np.int64))
        curves = {name: np.asarray(getattr(result, name)[at], dtype=np.float64) for name in CURVES}
        summary = result.summary()
        totals = {name: math.nan if summary[name] is None else float(summary[name]) for name in TOTALS}
        totals["later_regret"] = totals["regret"] - _first_turns(result)
        totals["processor_seconds"] = processor_seconds
        return cls(result.clients, totals, {"turn": at + 1.0, **curves}, _by_client(result), made_here())

    def save(self, path: Path) -> None:
        """Write the record so that a reader sees all of it or nothing."""
        part = path.with_suffix(f".{os.getpid()}.part")
        about = json.dumps({"clients": self.clients, "totals": self.totals, "made": self.made})
        arrays: dict[str, Any] = {"about": np.array(about), **self.curves, **self.by_client}
        with part.open("wb") as file:
            np.savez_compressed(file, **arrays)
        part.replace(path)

    @classmethod
    def load(cls, path: Path) -> Record | None:
        """Read a record, or return None where there is none that can be read: it will be made again."""
        try:
            data = read_npz(path)
            about: dict[str, Any] = json.loads(str(data["about"]))
            kept = {"processor_seconds": math.nan, **about["totals"]}  # records of earlier versions do not have them
            totals = {name: float(kept[name]) for name in QUANTITIES}
            curves = {name: data[name] for name in ("turn", *CURVES)}
            by_client = {name: data[name] for name in BY_CLIENT if name in data}
            return cls(int(about["clients"]), totals, curves, by_client, about.get("made", {}))
        except (InvalidInput, ValueError, KeyError, TypeError):
            return None


def _by_client(result: Result) -> dict[str, Floats]:
    if result.clients > MOST_CLIENTS:
        return {}
    columns = (None, result.turn_reward, np.diff(result.messages, prepend=0) > 0)
    return {
        name: np.bincount(result.client, column, result.clients).astype(np.float64)
        for name, column in zip(BY_CLIENT, columns, strict=True)
    }


def _first_turns(result: Result) -> float:
    """Return the regret of each client's first turn, when it may know nothing yet."""
    first = np.unique(result.client, return_index=True)[1]
    return float(result.turn_regret[first].sum())


def group_of(turns: Floats, figure: Groups) -> Ints:
    """Return the group of each client by its number of turns.

    >>> group_of(np.array([0.0, 9.0, 10.0, 500.0]), Groups(width=10, count=3))
    array([0, 0, 1, 2])
    """
    return np.minimum(turns.astype(np.int64) // figure.width, figure.count - 1)


def group_totals(record: Record, figure: Groups) -> dict[str, float]:
    """Return what each group of clients did, as in "rewards 10-19"; what nobody did is not known."""
    group = group_of(record.by_client["turns"], figure)
    sums = {name: np.bincount(group, record.by_client[name], figure.count) for name in BY_CLIENT}
    for name in BY_CLIENT[1:]:
        sums[name][sums["turns"] == 0] = np.nan
    return {f"{name} {label}": float(sums[name][k]) for name in BY_CLIENT for k, label in enumerate(figure.labels())}


def run_cell(cell: Cell) -> tuple[Cell, Record]:
    """Run one cell of an experiment; its processor seconds are those of all threads, compiling included."""
    began = time.process_time()
    result = run(
        algorithm_named(cell.algorithm, **cell.parameters),
        environment_named(cell.environment, **cell.world),
        turns=cell.turns,
        seed=cell.seed,
    )
    return cell, Record.of(result, time.process_time() - began)
