"""Stored runs: full reproductions as small tables that a repository can hold, with where they come from, and figures.

STORE/ID.csv           one line a run, with everything measured
STORE/ID.json          where the numbers come from: seeds, world, commit, versions, machine, data
STORE/ID/FIGURE.png    the figures, in few colours
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from fedbandit.experiments.experiment import Experiment
from fedbandit.experiments.table import Table
from fedbandit.files.amounts import counted, lasting
from fedbandit.results.everything import Forecast, folder_of, planned
from fedbandit.results.reproduce import PROVENANCE
from fedbandit.results.tables import read_runs

COLOURS = 128  # a figure has a few hues, and what lies between them and the paper


@dataclass(frozen=True)
class Stored:
    """What is stored of an experiment."""

    table: Table
    about: dict[str, str]

    @property
    def runs(self) -> int:
        """Return how many runs there are."""
        return sum(row.measured["seconds"].seeds for row in self.table.rows)

    @property
    def seconds(self) -> float:
        """Return how long they took, one after the other."""
        return sum(sum(row.measured["seconds"].values) for row in self.table.rows)


def store(experiment: Experiment, results: Path, to: Path) -> bool:
    """Store an experiment whose runs are all there, made by the code as it is; tell whether they are."""
    if planned(experiment, results, Forecast()).missing:
        return False
    made, folder = folder_of(experiment, results), to / experiment.id
    folder.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(made / "runs.csv", folder.with_suffix(".csv"))
    shutil.copyfile(made / PROVENANCE, folder.with_suffix(".json"))
    for figure in experiment.figures:
        write_smaller(made / f"{figure.file_name}.png", folder / f"{figure.file_name}.png")
    return True


def stored(experiment: Experiment, folder: Path) -> Stored | None:
    """Return what is stored of an experiment, None if nothing is."""
    path = folder / f"{experiment.id}.csv"
    if not path.exists():
        return None
    return Stored(read_runs(path, experiment), json.loads(path.with_suffix(".json").read_text(encoding="utf-8")))


def where_from(kept: Mapping[str, Stored], folder: Path) -> Iterator[str]:
    """Say of stored experiments, by id, where their runs come from: a line of Markdown each, beside the folder."""
    for name, each in kept.items():
        took = f"{counted(each.runs, 'run')}, {lasting(each.seconds)} one after the other"
        facts = "; ".join(f"{what}: {text}" for what, text in each.about.items())
        yield f"- [{name}]({folder.name}/{name}.csv): {took}; {facts}"


def write_smaller(drawn: Path, to: Path) -> None:
    """Write a figure in few colours: a third of the bytes, and the same to the eye."""
    from PIL import Image  # matplotlib brings it along, and it is slow to import

    with Image.open(drawn) as image:
        few = image.convert("RGB").quantize(COLOURS, dither=Image.Dither.NONE)
        few.save(to, optimize=True)
