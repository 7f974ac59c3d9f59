"""`fedbandit evaluate`: what a fixed policy would have earned, from a log."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from fedbandit.cli.screen import out

if TYPE_CHECKING:
    from fedbandit.evaluation.evaluate import Evaluation


def evaluate(
    log: Annotated[Path, typer.Argument(help="The log: CSV or Parquet, with propensities.")],
    policy: Annotated[Path, typer.Option(help="The policy, a file that a site has saved.")],
    features: Annotated[Path | None, typer.Option(help="The features of the site (TOML).")] = None,
    columns: Annotated[
        Path | None, typer.Option(help='A TOML file that names columns by their roles: reward = "clicked".')
    ] = None,
    arms: Annotated[Path | None, typer.Option(help="A catalogue with the values of arms: CSV or Parquet.")] = None,
    anyway: Annotated[bool, typer.Option("--anyway", help="Evaluate although the log hardly can tell.")] = False,
    include_earlier: Annotated[
        bool, typer.Option("--include-earlier", help="Use rows from before the policy was taken, too.")
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """Estimate what a policy that does not learn would have earned, with intervals."""
    from fedbandit.evaluation.evaluate import evaluate as evaluated  # what only this command needs, is slow
    from fedbandit.features.features import Features
    from fedbandit.logs.log import Log
    from fedbandit.logs.roles import read_roles
    from fedbandit.site.policy import Policy

    found = evaluated(
        Log.read(log, None if columns is None else read_roles(columns), arms=arms),
        Policy.load(policy),
        features=None if features is None else Features.read(features),
        anyway=anyway,
        include_earlier=include_earlier,
    )
    if as_json:
        typer.echo(json.dumps(asdict(found)))
    else:
        _show(found)


def _show(found: Evaluation) -> None:
    from rich.table import Table

    table = Table("rows of", "rows", "effective", "logged", "ips", "snips", "dm", "dr", "95 % interval of dr")
    for name, each in (("all sites", found), *found.by_site.items()):
        low, high = each.interval("dr")
        numbers = (each.logged, each.ips, each.snips, each.dm, each.dr)
        table.add_row(
            name, f"{each.rows:,}", f"{each.effective:,.0f}", *(f"{value:.3f}" for value in numbers),
            f"{low:.3f} to {high:.3f}",
        )  # fmt: skip
    out.print(table)
    out.print(
        f"mean weight {found.mean_weight:.2f} +- {found.mean_weight_error:.2f}, largest {found.largest_weight:.1f}; "
        f"{found.matched:.0%} of the choices are ones that the policy might make"
    )
