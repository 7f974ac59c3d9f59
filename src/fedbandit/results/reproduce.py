"""Reproduce an experiment: run what has not been run, then write its table, figures and report."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from html import escape
from pathlib import Path

from fedbandit.experiments.claims import Verdict
from fedbandit.experiments.experiment import Cell, Experiment, experiments
from fedbandit.experiments.figures import Groups, Map
from fedbandit.experiments.table import Measured, Row, Table
from fedbandit.files.text_tables import html_table
from fedbandit.results.clusters import Cluster, cluster_at
from fedbandit.results.provenance import provenance
from fedbandit.results.record import Record, group_totals, run_cell
from fedbandit.results.sweep import sweep
from fedbandit.results.tables import write_runs, write_table

PROVENANCE = "provenance.json"  # where the numbers come from, beside the tables
Progress = Callable[[int, int], None]


@dataclass(frozen=True)
class Reproduced:
    """What a reproduction found, and where it wrote it."""

    experiment: Experiment
    table: Table
    verdicts: tuple[tuple[str, Verdict], ...]
    folder: Path
    figures: tuple[Path, ...]
    report: Path
    cells_run: int
    cells_kept: int

    def _repr_html_(self) -> str:
        """Show verdicts and the table in a notebook."""
        answers = [[sentence, verdict.answer, verdict.evidence] for sentence, verdict in self.verdicts]
        judged = html_table(["claim", "verdict", "evidence"], answers) if answers else ""
        return f"<p><b>{escape(self.experiment.title)}</b></p>{judged}{self.table._repr_html_()}"


def reproduce(
    experiment: str | Experiment,
    folder: str | Path | None = None,
    *,
    jobs: int = 1,
    on: str | Cluster | None = None,
    formats: Sequence[str] = (),
    progress: Progress | None = None,
) -> Reproduced:
    """Run an experiment's missing cells and write everything under `folder` (default: results/ and its id).

    Finished cells are kept under `folder/cells`, so that a run that was stopped goes on where it was. `jobs` of them
    run at once; or as many as there are workers `on` a cluster: `dask://HOST:PORT`, `ray`, or `ray://HOST:PORT`.
    Figures are PNG and SVG; `formats` adds "pdf", and "pgf" for LaTeX.
    """
    if isinstance(experiment, str):
        experiment = experiments[experiment]
    folder = Path("results", experiment.id) if folder is None else Path(folder)
    experiment.check()
    if formats:
        from fedbandit.simulation.drawing import check_formats  # before anything is run

        check_formats(formats)
    cluster = cluster_at(on) if isinstance(on, str) else on
    records, kept = _records(experiment, folder / "cells", jobs, cluster, progress)
    table = tabulate(experiment, records)
    verdicts = tuple((claim.sentence, claim.judge(table)) for claim in experiment.claims)
    write_table(table, folder / "table.csv")
    write_runs(table, folder / "runs.csv")
    (folder / "table.tex").write_text(table.to_latex() + "\n", encoding="utf-8")
    from fedbandit.results.plots import draw  # matplotlib and jinja2 are imported only when there is something to show
    from fedbandit.results.report import write_report

    figures = tuple(
        path for figure in experiment.figures for path in draw(figure, experiment, table, records, folder, formats)
    )
    about = provenance(experiment, (record.made for record in records.values()))
    (folder / PROVENANCE).write_text(json.dumps(about, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    report = write_report(experiment, table, verdicts, figures, folder, about)
    return Reproduced(experiment, table, verdicts, folder, figures, report, len(records) - kept, kept)


def _records(
    experiment: Experiment, folder: Path, jobs: int, cluster: Cluster | None, progress: Progress | None
) -> tuple[dict[str, Record], int]:
    folder.mkdir(parents=True, exist_ok=True)
    cells = [cell for _, _, cell in experiment.cells()]
    found = {cell.key(): Record.load(folder / f"{cell.key()}.npz") for cell in cells}
    records = {key: record for key, record in found.items() if record is not None}
    kept = len(records)
    missing = {cell.key(): cell for cell in cells if cell.key() not in records}
    if progress is not None:
        progress(kept, len(found))
    for cell, record in sweep(run_cell, ((cell,) for cell in missing.values()), jobs, cluster):
        record.save(folder / f"{cell.key()}.npz")
        records[cell.key()] = record
        if progress is not None:
            progress(len(records), len(found))
    return records, kept


def tabulate(experiment: Experiment, records: dict[str, Record]) -> Table:
    """Summarise the records of each point over its seeds."""
    grouped: dict[tuple[str, str], list[Record]] = {}
    rows = {}
    beside = {
        _world(cell): records[cell.key()]
        for series, _, cell in experiment.cells()
        if series.label == experiment.baseline
    }
    for series, point, cell in experiment.cells():
        key = (series.label, point.label)
        record = records[cell.key()]
        if experiment.baseline:
            record = normalised(record, beside[_world(cell)])
        for figure in experiment.figures:
            if isinstance(figure, Groups):
                record = replace(record, totals={**record.totals, **group_totals(record, figure)})
            if isinstance(figure, Map):
                from fedbandit.results.user_map import group_distances  # it reads data, which few experiments have

                record = replace(record, totals={**record.totals, **group_distances(record, figure, experiment)})
        grouped.setdefault(key, []).append(record)
        rows[key] = {**point.world, **point.parameters}
    return Table(
        tuple(
            Row(series, point, rows[series, point], group[0].clients, _measure(group))
            for (series, point), group in grouped.items()
        )
    )


def _world(cell: Cell) -> tuple[int, str]:
    return cell.seed, repr(sorted(cell.world.items()))


def normalised(record: Record, baseline: Record) -> Record:
    """Return a record with one more total: its reward over that of a baseline in the same world.

    >>> run, chance = (Record(1, {"reward": reward}, {}) for reward in (6.0, 4.0))
    >>> normalised(run, chance).totals["normalised"]
    1.5
    """
    share = record.totals["reward"] / baseline.totals["reward"] if baseline.totals["reward"] else float("nan")
    return replace(record, totals={**record.totals, "normalised": share})


def _measure(records: Iterable[Record]) -> dict[str, Measured]:
    totals = [record.totals for record in records]
    return {name: Measured(tuple(each[name] for each in totals)) for name in totals[0]}
