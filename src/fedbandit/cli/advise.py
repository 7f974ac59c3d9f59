"""`fedbandit advise`: which federation to run under a budget, from a log."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.markup import escape

from fedbandit.cli.reading import read_log
from fedbandit.cli.screen import Bar, out
from fedbandit.core.errors import InvalidInput

if TYPE_CHECKING:
    from fedbandit.advice.advice import Advice


def advise(
    log: Annotated[Path, typer.Argument(help="The log: CSV, Parquet or a site's folder, with what was on offer.")],
    budget: Annotated[str, typer.Option(help="What all sites together may send and be sent, as in '10 MB/day'.")],
    features: Annotated[Path, typer.Option(help="The features of the sites (TOML): see `fedbandit suggest`.")],
    columns: Annotated[
        Path | None, typer.Option(help='A TOML file that names columns by their roles: reward = "clicked".')
    ] = None,
    arms: Annotated[Path | None, typer.Option(help="A catalogue with the values of arms: CSV or Parquet.")] = None,
    algorithms: Annotated[
        str, typer.Option(help="Compare these algorithms only, with commas between them.", show_default=False)
    ] = "",
    smallest_upload: Annotated[
        int | None,
        typer.Option(
            help="Decisions that an upload rests on at least; by default max(10, 2 d) for d features.",
            show_default=False,
        ),
    ] = None,
    output: Annotated[Path, typer.Option(help="The folder for the report and the files to serve.")] = Path("advice"),
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """Say which algorithm and thresholds a federation should take, and write the files that serve it."""
    from fedbandit.advice.advise import advise as advised  # what only this command needs, is slow
    from fedbandit.advice.budget import bytes_a_day
    from fedbandit.features.features import Features

    allowed = bytes_a_day(budget)
    if output.exists() and not output.is_dir():
        raise InvalidInput(f"--output {output} is a file: give the name of a folder")
    declared = Features.read(features)
    found = read_log(log, columns, arms)
    names = [each.strip() for each in algorithms.split(",") if each.strip()]
    with Bar("advise") as bar:
        advice = advised(
            found, declared, budget=allowed, algorithms=names, smallest_upload=smallest_upload, progress=bar.show
        )
    advice.write(output)
    if as_json:
        typer.echo(json.dumps(advice.summary()))
    else:
        _show(advice, output)


def _show(advice: Advice, output: Path) -> None:
    from rich.table import Column, Table

    from fedbandit.advice.table import HEAD, lines_of

    table = Table(Column(HEAD[0], overflow="fold"), *HEAD[1:])
    for line in lines_of(advice):
        table.add_row(*map(escape, line))
    out.print(table)
    for each in advice.checks.findings:
        out.print(escape(each), highlight=False)
    for each in advice.checks.warnings:
        out.print(f"[yellow]warning: {escape(each)}[/]", highlight=False)
    for each in advice.notes:
        out.print(f"[dim]{escape(each)}[/]", highlight=False)
    out.print(escape(advice.warm_start_sentence), highlight=False)
    out.print(f"[bold]{escape(advice.sentence)}[/]", highlight=False)
    for path in sorted(output.iterdir()):
        if path.name in WRITTEN:
            out.print(str(path), soft_wrap=True, highlight=False)


WRITTEN = ("report.html", "frontier.png", "frontier.svg", "advice.json", "features.toml", "coordinator.toml", "site.py")
