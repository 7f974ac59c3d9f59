"""`fedbandit reproduce`: a declared experiment, or one of the user's own from a TOML file."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer
from rich.markup import escape

from fedbandit.cli.completion import experiment_names, papers
from fedbandit.cli.numbers import Column, show_numbers
from fedbandit.cli.reproduce_all import reproduce_all, reproduce_one
from fedbandit.cli.screen import out
from fedbandit.core.errors import InvalidInput
from fedbandit.experiments.experiment import Experiment, experiments
from fedbandit.experiments.table import Measured
from fedbandit.experiments.table import Table as Numbers
from fedbandit.experiments.user_file import read_experiment
from fedbandit.files.amounts import counted
from fedbandit.results.clusters import cluster_at
from fedbandit.results.everything import experiments_of, panels_of
from fedbandit.results.reproduce import Reproduced
from fedbandit.results.tables import read_table

SENT = ("messages", "scalars", "bytes")
SPARE = ("later regret", "scalars")  # what a narrow screen does without first


def reproduce(
    experiment: Annotated[
        str | None,
        typer.Argument(
            help="An experiment of `fedbandit list`, or a TOML file of your own.", autocompletion=experiment_names
        ),
    ] = None,
    everything: Annotated[
        bool, typer.Option("--all", help="All experiments of the papers, one after the other.")
    ] = False,
    paper: Annotated[
        str | None, typer.Option(help="With --all: those of one paper, as in fldb.", autocompletion=papers)
    ] = None,
    quick: Annotated[
        bool, typer.Option("--quick", help="A smaller world and fewer seeds: seconds, not minutes.")
    ] = False,
    jobs: Annotated[int, typer.Option(help="How many runs at once; default: all cores.", show_default=False)] = -1,
    on: Annotated[
        str | None, typer.Option(help="A cluster to run on: dask://HOST:PORT, ray, or ray://HOST:PORT.")
    ] = None,
    formats: Annotated[
        list[str] | None,
        typer.Option("--format", help="Figures as pdf or pgf too, beside PNG and SVG; may be given again."),
    ] = None,
    seeds: Annotated[int | None, typer.Option(help="How many seeds, instead of the experiment's own number.")] = None,
    output: Annotated[Path, typer.Option(help="The folder for results.")] = Path("results"),
) -> None:
    """Run an experiment, or all of the papers; write tables, figures and reports. Finished runs are not run again."""
    if jobs == 0:
        raise InvalidInput("--jobs must not be 0: give the number of runs at once, or -1 for all cores")
    further = tuple(formats or ())
    if further:
        from fedbandit.simulation.drawing import check_formats  # matplotlib is imported only by those who draw

        check_formats(further)
    cluster = None if on is None else cluster_at(on)
    at_once = jobs if jobs > 0 else (os.cpu_count() or 1) if cluster is None else cluster.workers
    if (experiment is None) != everything:
        given = "nothing tells what to run" if experiment is None else f"{experiment} and --all are both given"
        raise InvalidInput(f"{given}: give an experiment of `fedbandit list`, or --all, one of them")
    if experiment is None:
        chosen = panels_of(paper)
        reproduce_all(
            chosen, [_chosen(each, quick, seeds) for each in experiments_of(chosen)], output, at_once, cluster, further
        )
        return
    if paper is not None:
        raise InvalidInput(f"--paper {paper} is for --all: give both, or leave it out")
    found = reproduce_one(_experiment(experiment, quick, seeds), output, at_once, cluster, further)
    _show(found)


def _show_file(path: Path) -> None:
    (group, *head), *lines = read_table(path)
    names, *columns = zip(*lines, strict=True)
    numbers = [Column(each, cells) for each, cells in zip(head, columns, strict=True)]
    show_numbers([Column(group, names, is_name=True), *numbers], (), head[::-1], str(path), title="")


def _columns(table: Numbers) -> list[str]:
    known = table.columns()
    if "normalised" in known:
        return ["normalised", "reward", *SENT]
    outcomes = [name for name in ("regret", "later_regret", "reward") if name in known]
    return [*outcomes, *SENT]


def _cell(name: str, value: Measured) -> str:
    return _short(value.mean) if name in SENT else str(value)


def _short(value: float) -> str:
    for size, letter in ((1e9, "G"), (1e6, "M")):
        if value >= size:
            return f"{value / size:.3g} {letter}"
    return f"{value:,.0f}"


def _experiment(name: str, quick: bool, seeds: int | None) -> Experiment:
    chosen = _chosen(read_experiment(Path(name)) if name.endswith(".toml") else experiments[name], quick, seeds)
    chosen.check()
    return chosen


def _chosen(chosen: Experiment, quick: bool, seeds: int | None) -> Experiment:
    if quick:
        chosen = chosen.quickened()
    if seeds is not None:
        if seeds < 1:
            raise InvalidInput(f"--seeds must be at least 1, not {seeds}: give the number of repetitions")
        chosen = replace(chosen, seeds=seeds)
    return chosen


def _show(found: Reproduced) -> None:
    rows, shown = found.table.rows, _columns(found.table)
    columns = [
        Column("series", [row.series for row in rows], is_name=True),
        Column("point", [row.point for row in rows], is_name=True),
        *(Column(name.replace("_", " "), [_cell(name, row.measured[name]) for row in rows]) for name in shown),
    ]
    outcomes = ("reward",) if shown[0] != "reward" else ()  # one of them always stays
    title = f"{found.experiment.id}: {found.experiment.title}"
    show_numbers(columns, SPARE, (*outcomes, "bytes"), str(found.folder / "table.csv"), title)
    for path in found.figures:
        if path.suffix == ".csv":
            _show_file(path)
    for sentence, verdict in found.verdicts:
        colour = "green" if verdict.answer == "holds" else "yellow"
        out.print(f"{escape(sentence)}: [{colour}]{verdict.answer}[/]\n  [dim]{escape(verdict.evidence)}[/]")
    out.print(f"{counted(found.cells_run, 'run')} made, {found.cells_kept} kept from before")
    for path in [*found.figures, found.folder / "table.csv", found.folder / "runs.csv", found.report]:
        out.print(str(path), soft_wrap=True, highlight=False)
