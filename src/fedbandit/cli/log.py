"""`fedbandit log`: the logs that sites write of their decisions."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from fedbandit.files.amounts import counted

app = typer.Typer(no_args_is_help=True, help="The logs that sites write of their decisions.")


@app.callback()
def _commands() -> None:
    """Hold the commands."""


@app.command()
def pack(
    folders: Annotated[list[Path], typer.Argument(help="The folder of a site's log, or several.")],
    output: Annotated[Path, typer.Option("-o", "--output", help="The Parquet file to write.")],
) -> None:
    """Write decision logs to one Parquet file: each decision once, with rewards that came late."""
    from fedbandit.logs.packing import pack as packed  # what only this command needs, is slow

    table = packed(folders, output)
    rewards = table.values[table.roles["reward"]]
    unknown = sum(each is None for each in rewards)
    typer.echo(f"{output}: {counted(table.rows, 'decision')}, {unknown:,} of them without a reward")
