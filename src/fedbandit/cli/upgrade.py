"""`fedbandit upgrade`: what an earlier version has written becomes a federation whose sites come and go."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from fedbandit.cli.operating import FILE, File

LEFT = """left to do:
- start the broker and the coordinator
- sites go on with their stores and credentials as they are: upgrade each when it suits"""


def upgrade(
    file: File = FILE,
    keys: Annotated[Path, typer.Option(help="The folder of `fedbandit keys new`, with tls://.")] = Path("keys"),
) -> None:
    """Bring the federations of a coordinator that is stopped from an earlier version to this one, roster and all."""
    from fedbandit.service.coordinator.upgrading import upgrade as bring_up_to_date  # what only this command needs

    for line in bring_up_to_date(file, keys):
        typer.echo(line)
    typer.echo(LEFT)
