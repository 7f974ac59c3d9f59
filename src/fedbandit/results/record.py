"""What is kept of one run of an experiment: its totals, and its curves at a few hundred turns."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from fedbandit.core.arrays import Floats
from fedbandit.core.errors import InvalidInput
from fedbandit.core.npz import read_npz
from fedbandit.experiments.experiment import Cell
from fedbandit.experiments.table import CURVES, QUANTITIES
from fedbandit.results.result import Result
from fedbandit.results.run import algorithm_named, environment_named, run

CHECKPOINTS = 250
TOTALS = tuple(name for name in QUANTITIES if name != "later_regret")


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
        curves = {name: np.asarray(getattr(result, name)[at], dtype=np.float64) for name in CURVES}
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
            data = read_npz(path)
            about: dict[str, Any] = json.loads(str(data["about"]))
            totals = {name: float(about["totals"][name]) for name in QUANTITIES}
            return cls(int(about["clients"]), totals, {name: data[name] for name in ("turn", *CURVES)})
        except (InvalidInput, ValueError, KeyError, TypeError):
            return None


def _first_turns(result: Result) -> float:
    """Return the regret of each client's first turn, when it may know nothing yet."""
    first = np.unique(result.client, return_index=True)[1]
    return float(result.turn_regret[first].sum())


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
