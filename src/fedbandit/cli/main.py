"""The door: the commands, and how bad input leaves (one sentence on standard error, exit code 2)."""

from __future__ import annotations

import sys
from typing import Annotated, Any

import typer

import fedbandit
from fedbandit.cli.abandon import abandon
from fedbandit.cli.advise import advise
from fedbandit.cli.audit import audit
from fedbandit.cli.book import book
from fedbandit.cli.broker import broker
from fedbandit.cli.change import change, reload
from fedbandit.cli.check import check
from fedbandit.cli.data import app as data
from fedbandit.cli.demo import demo
from fedbandit.cli.evaluate import evaluate
from fedbandit.cli.features import features
from fedbandit.cli.forget import forget
from fedbandit.cli.keys import app as keys
from fedbandit.cli.leaderboard import leaderboard
from fedbandit.cli.listing import describe, list_all
from fedbandit.cli.log import app as logs
from fedbandit.cli.panels import show_panels
from fedbandit.cli.refusals import of_the_system, of_usage
from fedbandit.cli.reproduce import reproduce
from fedbandit.cli.roster import invite, join, remove, revoke, sites
from fedbandit.cli.run import run
from fedbandit.cli.serve import serve
from fedbandit.cli.site import site
from fedbandit.cli.suggest import suggest
from fedbandit.cli.up import up
from fedbandit.cli.upgrade import upgrade
from fedbandit.cli.warm_start import warm_start
from fedbandit.cli.watch import watch
from fedbandit.core.errors import FedbanditError

app = typer.Typer(
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
    help="Federated contextual bandits: many sites decide locally, learn together, and keep their data.",
)
app.command("list")(list_all)
app.command()(describe)
app.command()(run)
app.command()(reproduce)
app.command("panels")(show_panels)
app.command()(book)
app.command()(leaderboard)
app.command()(demo)
app.add_typer(data, name="data")
app.command()(features)
app.command()(suggest)
app.command()(evaluate)
app.add_typer(logs, name="log")
app.command()(advise)
app.command()(watch)
app.command()(up)
app.command()(serve)
app.command()(site)
app.command("warm-start")(warm_start)
app.command()(check)
app.command()(audit)
app.command()(broker)
app.add_typer(keys, name="keys")
for command in (invite, join, sites, remove, revoke, forget, abandon, change, reload, upgrade):
    app.command()(command)


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


# Typer has its own copy of click in some versions, so the root of usage errors is found from a class that it shows.
UsageError: Any = next(each for each in typer.BadParameter.mro() if each.__name__ == "UsageError")


def main() -> None:
    """Run the command line; what goes wrong is said in one line, with exit code 2 where the input is to blame."""
    try:
        code = app(sys.argv[1:] or ["--help"], standalone_mode=False)
    except FedbanditError as error:
        code = _say(str(error))
    except UsageError as error:
        code = _say(of_usage(error, sys.argv[1:]))
    except BrokenPipeError:  # the reader of our output went away: `fedbandit list | head`
        sys.stderr.close()
        raise SystemExit(1) from None
    except OSError as error:
        code = _say(of_the_system(error))
    except (MemoryError, ValueError) as error:
        if isinstance(error, ValueError) and not any(words in str(error) for words in TOO_LARGE):
            raise
        code = _say(f"this does not fit into memory ({error}): make the world smaller")
    if code:
        raise SystemExit(code)


TOO_LARGE = ("Maximum allowed dimension exceeded", "array is too big")  # numpy, of arrays beyond every memory


def _say(sentence: str) -> int:
    print("fedbandit:", " ".join(sentence.split()), file=sys.stderr)
    return 2
