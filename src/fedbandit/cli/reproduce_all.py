"""`fedbandit reproduce --all`: every experiment of the papers, with a forecast of time; it goes on where it was."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import typer
from rich.markup import escape
from rich.table import Table

from fedbandit.cli.screen import Bar, out
from fedbandit.core.errors import FedbanditError, InvalidInput
from fedbandit.experiments.experiment import Experiment
from fedbandit.experiments.panel import Panel
from fedbandit.files.amounts import counted, lasting
from fedbandit.results.clusters import Cluster
from fedbandit.results.everything import (
    Forecast,
    Planned,
    answers,
    folder_of,
    learn_from,
    planned,
    write_answers,
    write_times,
)
from fedbandit.results.reproduce import Reproduced, reproduce


def reproduce_one(
    experiment: Experiment, output: Path, jobs: int, on: Cluster | None, formats: Sequence[str]
) -> Reproduced:
    """Run an experiment into its folder, behind a progress bar."""
    next(experiment.cells())  # refuses a data set that is not here, before anything is written
    folder = _made(folder_of(experiment, output), output)
    with Bar(experiment.id) as bar:
        return reproduce(experiment, folder, jobs=jobs, on=on, formats=formats, progress=bar.show)


def _made(folder: Path, output: Path) -> Path:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InvalidInput(
            f"--output {output}: cannot make {folder} ({error.strerror}): choose another folder"
        ) from None
    return folder


def reproduce_all(
    panels: Sequence[Panel],
    chosen: Sequence[Experiment],
    output: Path,
    jobs: int,
    on: Cluster | None,
    formats: Sequence[str],
) -> None:
    """Run experiments one after the other; those that cannot be run here are told, and end in exit code 1."""
    forecast, plans, left_out = Forecast(), [], {}
    folder = _made(output / ("quick" if any(experiment.is_quick for experiment in chosen) else "full"), output)
    for experiment in chosen:
        try:
            plans.append(planned(experiment, output, forecast))
        except FedbanditError as error:
            left_out[experiment.id] = str(error)
    _announce(plans, forecast, jobs)
    found: dict[str, Reproduced] = {}
    for number, plan in enumerate(plans, start=1):
        name, began = plan.experiment.id, time.monotonic()
        try:
            found[name] = reproduce_one(plan.experiment, output, jobs, on, formats)
        except FedbanditError as error:
            left_out[name] = str(error)
            continue
        learn_from(forecast, plan, found[name])
        made = f"{counted(len(plan.missing), 'run')} in {lasting(time.monotonic() - began)}, {plan.kept:,} kept"
        to_go = _to_go(plans[number:], forecast, jobs)
        out.print(
            f"{number} of {len(plans)}: [cyan]{escape(name)}[/]: {_verdicts(found[name])}; {made}; {to_go}",
            highlight=False, soft_wrap=True,
        )  # fmt: skip
    _finish(panels, found, folder)
    for name, reason in left_out.items():
        typer.echo(f"{name} was left out: {reason}", err=True)
    if left_out:
        raise typer.Exit(1)


def _announce(plans: Sequence[Planned], forecast: Forecast, jobs: int) -> None:
    runs, kept = sum(len(plan.missing) for plan in plans), sum(plan.kept for plan in plans)
    out.print(
        f"{counted(len(plans), 'experiment')}, {counted(runs, 'run')} to make, {kept:,} kept; "
        f"{_to_go(plans, forecast, jobs)}",
        highlight=False, soft_wrap=True,
    )  # fmt: skip


def _to_go(plans: Sequence[Planned], forecast: Forecast, jobs: int) -> str:
    cells = [cell for plan in plans for cell in plan.missing]
    seconds, guessed = forecast.seconds(cells), forecast.guessed(cells)
    if not cells:
        return "nothing to go"
    if seconds is None:
        return "how long it takes is told when the first runs are made"
    time_left = lasting(seconds / jobs)
    if guessed:
        return f"perhaps {time_left} to go: {counted(guessed, 'run')} of algorithms that were not run yet"
    return f"about {time_left} to go"


def _verdicts(found: Reproduced) -> str:
    counted = Counter(verdict.answer for _, verdict in found.verdicts)
    return ", ".join(f"{answer} {count}" for answer, count in counted.items()) or "no claims"


def _finish(panels: Sequence[Panel], found: dict[str, Reproduced], folder: Path) -> None:
    lines = answers(panels, found)
    table = Table("panel", "experiment", "verdicts")
    for panel in panels:
        told = Counter(line[-1] for line in lines if line[0] == panel.id)
        table.add_row(
            escape(panel.id), escape(panel.experiment), ", ".join(f"{each} {count}" for each, count in told.items())
        )
    out.print(table)
    write_answers(lines, folder / "verdicts.csv")
    write_times(found.values(), folder / "times.csv")
    for path in (folder / "verdicts.csv", folder / "times.csv"):
        out.print(str(path), soft_wrap=True, highlight=False)
