"""`fedbandit warm-start`: a site learns from its past before its first decision."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from fedbandit.cli.reading import read_log
from fedbandit.files.amounts import counted


def warm_start(
    file: Annotated[Path, typer.Argument(help="The TOML file of `fedbandit site`, whose service is not running.")],
    log: Annotated[
        Path, typer.Argument(help="Its past: CSV, Parquet or a folder of decisions, with what was on offer.")
    ],
    site: Annotated[
        str | None, typer.Option(help="Whose rows of the log, where it has those of several sites.")
    ] = None,
    columns: Annotated[
        Path | None, typer.Option(help='A TOML file that names columns by their roles: reward = "clicked".')
    ] = None,
    arms: Annotated[Path | None, typer.Option(help="A catalogue with the values of arms: CSV or Parquet.")] = None,
) -> None:
    """Let a site learn from the rows of a log before its first decision: each once, however often this is called."""
    from fedbandit.service.agent.settings import read_agent_plan  # what only this command needs, is slow

    plan = read_agent_plan(file)
    past = read_log(log, columns, arms)
    with plan.open_site(restored=False) as opened:
        new = opened.warm_start(past, site=site)
        known, unsent = opened.recalled, opened.unsent
    before = "" if new == known else f", {known - new:,} of them before"
    rows = counted(known, "row")
    typer.echo(f"{file}: the site has learnt from {rows} of {log}{before}; messages that wait: {unsent:,}")
