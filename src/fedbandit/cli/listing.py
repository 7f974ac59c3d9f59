"""`fedbandit list` and `fedbandit describe`."""

from __future__ import annotations

import inspect
from typing import Annotated, Any

import typer
from rich.markup import escape
from rich.table import Table

from fedbandit.cli.completion import all_names
from fedbandit.cli.screen import out
from fedbandit.core.algorithm import Algorithm, algorithms
from fedbandit.core.changes import Change
from fedbandit.core.environment import environments
from fedbandit.core.errors import unknown
from fedbandit.core.parameters import Parameters
from fedbandit.experiments.experiment import Experiment, experiments
from fedbandit.files.amounts import counted
from fedbandit.protocol.securing import AGGREGABLE

_TRIGGERS = {"upload_threshold", "sync_threshold"}  # of algorithms whose clients upload when they have learnt enough
_NO_NOISE = (
    "differential privacy: none, and noise on what it sends would not make it so, since when a client sends depends on "
    "what it has observed; private-linucb releases by counts alone"
)


def list_all() -> None:
    """List the algorithms, environments and experiments, one line each."""
    for title, registry in (("Algorithms", algorithms), ("Environments", environments), ("Experiments", experiments)):
        table = Table(
            title=title, title_justify="left", title_style="bold", show_header=False, box=None, padding=(0, 2)
        )
        for name in registry:
            thing: Any = registry[name]
            table.add_row(f"[cyan]{name}[/]", escape(thing.title))
        out.print(table)
        out.print()
    out.print("fedbandit describe NAME shows the parameters of any of them.")


def describe(
    name: Annotated[
        str, typer.Argument(help="An algorithm, an environment or an experiment.", autocompletion=all_names)
    ],
) -> None:
    """Describe an algorithm, an environment or an experiment: parameters, defaults, meaning, the paper's symbol."""
    if name in list(algorithms):
        _describe_parameters(algorithms[name], algorithms[name].paper)
    elif name in list(environments):
        _describe_parameters(environments[name], "")
    elif name in list(experiments):
        _describe_experiment(experiments[name])
    else:
        raise unknown("name", name, [*algorithms, *environments, *experiments])


def _describe_parameters(thing: Any, paper: str) -> None:
    out.print(f"[bold]{thing.id}[/]: {escape(thing.title)}")
    if paper:
        out.print(f"[dim]{escape(paper)}[/]")
    text = inspect.getdoc(thing) or ""
    out.print("\n" + escape(text.split(">>>")[0].strip()) + "\n")
    table = Table()
    for head in ("parameter", "default", "symbol"):
        table.add_column(head, no_wrap=True)
    table.add_column("meaning")
    cls: type[Parameters] = thing
    is_deployed = issubclass(cls, Algorithm)
    if is_deployed:
        table.add_column("changes")
    for each in cls.describe():
        nothing = "theory" if "theory" in each.meaning else "none"
        default = nothing if each.default is None else str(each.default)
        changes = [each.change.value] if is_deployed else []
        table.add_row(each.name, default, each.symbol, escape(f"{each.meaning}: {each.limits}"), *changes)
    out.print(table)
    if is_deployed:
        features = "features are added and removed with migration" if thing.carries_over is Change.MIGRATION else (
            "features stay as they are"
        )  # fmt: skip
        out.print(f"[dim]changes: what `fedbandit change` can do while a federation runs; {features}[/]")
        if thing.id in AGGREGABLE:
            out.print(
                "[dim]secure_aggregation: the coordinator of a federation with it learns sums over sites alone[/]"
            )
        if not _TRIGGERS.isdisjoint(each.name for each in cls.describe()):
            out.print(f"[dim]{_NO_NOISE}[/]")


def _describe_experiment(experiment: Experiment) -> None:
    out.print(f"[bold]{experiment.id}[/]: {escape(experiment.title)}\n")
    world = ", ".join(f"{name}={value}" for name, value in experiment.world.items())
    runs = sum(len(series.points) for series in experiment.series) * experiment.seeds
    out.print(f"environment: {experiment.environment} ({world})")
    out.print(f"length: {experiment.length}, {counted(experiment.seeds, 'seed')}, {counted(runs, 'run')}")
    for series in experiment.series:
        points = "; ".join(point.label for point in series.points if point.label)
        out.print(f"series: {escape(series.label)} ({series.algorithm}) {escape(points)}")
    for claim in experiment.claims:
        out.print(f"claim: {escape(claim.sentence)}")
    if experiment.notes:
        out.print(f"\n{escape(experiment.notes)}")
