"""All experiments of the papers, one after the other: what is to be run, how long that may take, what came of it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from fedbandit.core.errors import unknown
from fedbandit.experiments.experiment import Cell, Experiment, experiments
from fedbandit.experiments.panel import Panel, panels
from fedbandit.results.record import Record
from fedbandit.results.reproduce import Reproduced
from fedbandit.results.tables import write_lines

NOT_RUN = "not run"


def panels_of(paper: str | None) -> list[Panel]:
    """Return the panels of a paper, as in "fldb", or of all of them."""
    every = [panels[name] for name in panels]
    papers = dict.fromkeys(panel.paper for panel in every)
    if paper is not None and paper not in papers:
        raise unknown("paper", paper, papers)
    return [panel for panel in every if paper in (None, panel.paper)]


def experiments_of(some: Iterable[Panel]) -> list[Experiment]:
    """Return the experiments behind panels, each once."""
    return [experiments[name] for name in dict.fromkeys(panel.experiment for panel in some)]


def folder_of(experiment: Experiment, output: Path) -> Path:
    """Return where an experiment's results are kept in a folder of results."""
    return output / experiment.id / "quick" if experiment.is_quick else output / experiment.id


@dataclass
class Forecast:
    """How long runs may take: by their turns, and how long turns took in runs that are most like them.

    >>> forecast, cell = Forecast(), Cell("linear", {}, "async-linucb", {}, turns=100, seed=0)
    >>> forecast.seconds([cell])
    >>> forecast.add(cell, 2.0)
    >>> forecast.seconds([Cell("linear", {"clients": 9}, "async-linucb", {}, turns=50, seed=1)])
    1.0
    """

    known: dict[tuple[str, ...], tuple[int, float]] = field(default_factory=dict)  # turns and seconds, of runs alike

    def add(self, cell: Cell, seconds: float) -> None:
        """Take in how long a run took."""
        for alike in _alike(cell):
            turns, before = self.known.get(alike, (0, 0.0))
            self.known[alike] = turns + cell.turns, before + seconds

    def seconds(self, cells: Iterable[Cell]) -> float | None:
        """Return how long runs may take, one after the other; None before anything was run."""
        total = 0.0
        for cell in cells:
            turns, seconds = next((self.known[each] for each in _alike(cell) if each in self.known), (0, 0.0))
            if not turns:
                return None
            total += cell.turns * seconds / turns
        return total

    def guessed(self, cells: Iterable[Cell]) -> int:
        """Return how many of the runs are of algorithms of which none was run yet: their time is a guess."""
        return sum((cell.algorithm,) not in self.known for cell in cells)


def _alike(cell: Cell) -> list[tuple[str, ...]]:
    """Return names of the runs that are like one, the most alike first."""
    world = repr(sorted(cell.world.items()))
    whole = (cell.algorithm, cell.environment, world)
    return [whole, whole[:2], whole[:1], ()]


@dataclass(frozen=True)
class Planned:
    """An experiment, where its results are kept, and the runs that are not there yet."""

    experiment: Experiment
    folder: Path
    missing: tuple[Cell, ...]
    kept: int


def planned(experiment: Experiment, output: Path, forecast: Forecast) -> Planned:
    """Return what is to be run of an experiment; the forecast learns from what was, in quick runs of it too."""
    experiment.check()
    if not experiment.is_quick:
        _missing(experiment.quickened(), output, forecast)
    missing, kept = _missing(experiment, output, forecast)
    return Planned(experiment, folder_of(experiment, output), missing, kept)


def _missing(experiment: Experiment, output: Path, forecast: Forecast) -> tuple[tuple[Cell, ...], int]:
    """Return the runs that are not kept, and how many are; the forecast learns from those."""
    cells = {cell.key(): cell for _, _, cell in experiment.cells()}
    missing = []
    for key, cell in cells.items():
        record = Record.load(folder_of(experiment, output) / "cells" / f"{key}.npz")
        if record is None:
            missing.append(cell)
        else:
            forecast.add(cell, record.totals["seconds"])
    return tuple(missing), len(cells) - len(missing)


def learn_from(forecast: Forecast, plan: Planned, found: Reproduced) -> None:
    """Let the forecast learn how long the runs took that were just made."""
    seconds = {
        (row.series, row.point, seed): each
        for row in found.table.rows
        for seed, each in enumerate(row.measured["seconds"].values)
    }
    new = {cell.key() for cell in plan.missing}
    for series, point, cell in plan.experiment.cells():
        if cell.key() in new:
            new.remove(cell.key())
            forecast.add(cell, seconds[series.label, point.label, cell.seed])


def answers(some: Iterable[Panel], found: Mapping[str, Reproduced]) -> list[tuple[str, str, str, str, str]]:
    """Return panel, experiment, the paper's words, the claim that answers them and its verdict, for each of these."""
    lines = []
    for panel in some:
        made = found.get(panel.experiment)
        judged = {} if made is None else {sentence: verdict.answer for sentence, verdict in made.verdicts}
        for said in panel.said:
            for claim in panel.claims(said):
                verdict = judged.get(claim.sentence, NOT_RUN)
                lines.append((panel.id, panel.experiment, said.words, claim.sentence, verdict))
    return lines


def write_answers(lines: Iterable[tuple[str, str, str, str, str]], path: Path) -> None:
    """Write verdicts as a CSV file."""
    write_lines([("panel", "experiment", "words", "claim", "verdict"), *lines], path)


def write_times(found: Iterable[Reproduced], path: Path) -> None:
    """Write how many runs each experiment has, and how long they took, one after the other, as a CSV file."""
    lines = []
    for each in found:
        seconds = [one for row in each.table.rows for one in row.measured["seconds"].values]
        lines.append((each.experiment.id, len(seconds), round(sum(seconds), 2)))
    write_lines([("experiment", "runs", "seconds"), *lines], path)
