"""The door: the commands, and how bad input leaves (one sentence on standard error, exit code 2)."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

import fedbandit
from fedbandit.cli.data import app as data
from fedbandit.cli.demo import demo
from fedbandit.cli.listing import describe, list_all
from fedbandit.cli.reproduce import reproduce
from fedbandit.cli.run import run
from fedbandit.core.errors import FedbanditError

app = typer.Typer(
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
    help="Federated contextual bandits: many sites decide locally, learn together, and keep their data.",
)
app.command("list")(list_all)
app.command()(describe)
app.command()(run)
app.command()(reproduce)
app.command()(demo)
app.add_typer(data, name="data")


def _version(wanted: bool) -> None:
    if wanted:
        typer.echo(fedbandit.__version__)
        raise typer.Exit


@app.callback()
def _options(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Show the version.")
    ] = False,
) -> None:
    """Hold the options of the program itself."""
    del version


def main() -> None:
    """Run the command line."""
    try:
        app()
    except FedbanditError as error:
        print(f"fedbandit: {error}", file=sys.stderr)
        raise SystemExit(2) from None
    except BrokenPipeError:  # the reader of our output went away: `fedbandit list | head`
        sys.stderr.close()
        raise SystemExit(1) from None
