"""`fedbandit suggest`: a first declaration of features, from a log."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer


def suggest(
    log: Annotated[Path, typer.Argument(help="The log: CSV, Parquet or a site's folder.")],
    columns: Annotated[
        Path | None, typer.Option(help='A TOML file that names columns by their roles: reward = "clicked".')
    ] = None,
    arms: Annotated[Path | None, typer.Option(help="A catalogue with the values of arms: CSV or Parquet.")] = None,
) -> None:
    """Print features that fit a log, as a TOML file to look over and edit."""
    from fedbandit.logs.log import Log  # what only this command needs, is slow
    from fedbandit.logs.roles import read_roles
    from fedbandit.logs.suggestion import suggest as suggested

    found = Log.read(log, None if columns is None else read_roles(columns), arms=arms)
    typer.echo(suggested(found), nl=False)
    if found.unrewarded:
        typer.echo(f"{found.unrewarded:,} decisions without a reward were left out", err=True)
