"""`fedbandit suggest`: a first declaration of features, from a log."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from fedbandit.cli.reading import read_log


def suggest(
    log: Annotated[Path, typer.Argument(help="The log: CSV, Parquet or a site's folder.")],
    columns: Annotated[
        Path | None, typer.Option(help='A TOML file that names columns by their roles: reward = "clicked".')
    ] = None,
    arms: Annotated[Path | None, typer.Option(help="A catalogue with the values of arms: CSV or Parquet.")] = None,
) -> None:
    """Print features that fit a log, as a TOML file to look over and edit."""
    from fedbandit.logs.suggestion import suggest as suggested  # what only this command needs, is slow

    typer.echo(suggested(read_log(log, columns, arms)), nl=False)
