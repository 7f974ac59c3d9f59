"""What is kept of one run of an experiment: its totals, and its curves at a few hundred turns."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from fedbandit.core.arrays import Floats
from fedbandit.experiments.experiment import Cell
from fedbandit.results.result import Result
from fedbandit.results.run import algorithm_named, environment_named, run

CHECKPOINTS = 250
TOTALS = ("regret", "reward", "messages", "scalars", "bytes", "uploads", "downloads", "rounds", "seconds")
CURVES = ("turn", "regret", "reward", "messages", "scalars", "bytes")


@dataclass(frozen=True)
class Record:
    """Totals by name, and the curves at the checkpoints."""

    clients: int
    totals: dict[str, float]
    curves: dict[str, Floats]

    @classmethod
    def of(cls, result: Result) -> Record:
        """Take what is worth keeping from a result."""
        last = result.turns - 1
        at = np.unique(np.linspace(0, last, min(result.turns, CHECKPOINTS)).round().astype(np.int64))
        curves = {name: np.asarray(getattr(result, name)[at], dtype=np.float64) for name in CURVES[1:]}
        summary = result.summary()
        totals = {name: float("nan") if summary[name] is None else float(summary[name]) for name in TOTALS}
        totals["later_regret"] = totals["regret"] - _first_turns(result)
        return cls(result.clients, totals, {"turn": at + 1.0, **curves})

    def save(self, path: Path) -> None:
        """Write the record so that a reader sees all of it or nothing."""
        part = path.with_suffix(f".{os.getpid()}.part")
        about = json.dumps({"clients": self.clients, "totals": self.totals})
        arrays: dict[str, Any] = {"about": np.array(about), **self.curves}
        with part.open("wb") as file:
            np.savez_compressed(file, **arrays)
        part.replace(path)

    @classmethod
    def load(cls, path: Path) -> Record | None:
        """Read a record, or return None where there is none that can be read: it will be made again."""
        try:
            with np.load(path, allow_pickle=False) as data:
                about: dict[str, Any] = json.loads(str(data["about"]))
                return cls(about["clients"], about["totals"], {name: data[name] for name in CURVES})
        except (OSError, EOFError, ValueError, KeyError):
            return None


def _first_turns(result: Result) -> float:
    """Return the regret of each client's first turn, when it may know nothing yet."""
    first = np.unique(result.client, return_index=True)[1]
    return float(np.diff(result.regret, prepend=0.0)[first].sum())


def run_cell(cell: Cell, folder: Path) -> tuple[Cell, Record]:
    """Run one cell of an experiment and keep its record in the folder."""
    result = run(
        algorithm_named(cell.algorithm, **cell.parameters),
        environment_named(cell.environment, **cell.world),
        turns=cell.turns,
        seed=cell.seed,
    )
    record = Record.of(result)
    record.save(folder / f"{cell.key()}.npz")
    return cell, record
