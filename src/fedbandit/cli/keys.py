"""`fedbandit keys`: the credentials of sites, of the coordinator and of the broker."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from fedbandit.cli.completion import AGAIN
from fedbandit.service.keys.files import LOCAL, Keys

app = typer.Typer(no_args_is_help=True, help="Make credentials, signed by an authority of your own.")


@app.callback()
def _keys() -> None:
    """Keep `new` a command with a name, though it is the only one."""


@app.command()
def new(
    site: Annotated[str, typer.Argument(help="FEDERATION.NUMBER, as in demo.3; or coordinator, or broker.")],
    folder: Annotated[Path, typer.Option(help="Where the authority and the credentials are.")] = Path("keys"),
    days: Annotated[float, typer.Option(metavar="DAYS", help="How long the credential is valid.")] = 365.0,
    host: Annotated[
        list[str] | None, typer.Option(help=f"Of a broker: a name or address under which it is reached; {AGAIN}.")
    ] = None,
    replace: Annotated[bool, typer.Option("--replace", help="Make a new one in place of an old one.")] = False,
) -> None:
    """Make the credential of a site: one file with its key and certificate, with which it can speak only as itself."""
    typer.echo(Keys(folder).new(site, days=days, hosts=tuple(host or LOCAL), replace=replace))
