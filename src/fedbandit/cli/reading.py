"""How commands read a log: what was left out of it, or put in order, is told on standard error."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import typer

from fedbandit.files.amounts import counted

if TYPE_CHECKING:
    from fedbandit.logs.log import Log


def read_log(path: Path, columns: Path | None, arms: Path | None) -> Log:
    """Read a log, with a file that names its columns and a catalogue of arms where these are given."""
    from fedbandit.logs.log import Log  # not every command needs it, and it is slow
    from fedbandit.logs.roles import read_roles

    log = Log.read(path, None if columns is None else read_roles(columns), arms=arms)
    if log.unrewarded:
        many = counted(log.unrewarded, "decision without a reward was", "decisions without a reward were")
        typer.echo(f"{many} left out", err=True)
    if log.unordered and not path.is_dir():  # a site writes rows as their rewards come
        many, them = counted(log.unordered, "row is", "rows are"), "it" if log.unordered == 1 else "them"
        typer.echo(
            f"{path}: {many} earlier than the row before {them}, the first of them row {log.first_unordered}: all "
            "were put in the order of time",
            err=True,
        )
    return log
