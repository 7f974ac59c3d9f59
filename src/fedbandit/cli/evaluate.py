"""`fedbandit evaluate`: what a fixed policy would have earned, from a log, or from what sites tell of theirs."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from fedbandit.cli.reading import read_log
from fedbandit.cli.screen import out
from fedbandit.core.errors import InvalidInput

if TYPE_CHECKING:
    from fedbandit.evaluation.evaluate import Evaluation
    from fedbandit.logs.log import Log


def evaluate(
    files: Annotated[
        list[Path],
        typer.Argument(
            help="The log: CSV, Parquet or a site's folder, with propensities. Or the --sums of sites (.json)."
        ),
    ],
    policy: Annotated[Path | None, typer.Option(help="The policy, a file that a site has saved.")] = None,
    features: Annotated[Path | None, typer.Option(help="The features of the site (TOML).")] = None,
    columns: Annotated[
        Path | None, typer.Option(help='A TOML file that names columns by their roles: reward = "clicked".')
    ] = None,
    arms: Annotated[Path | None, typer.Option(help="A catalogue with the values of arms: CSV or Parquet.")] = None,
    anyway: Annotated[bool, typer.Option("--anyway", help="Evaluate although the log hardly can tell.")] = False,
    include_earlier: Annotated[
        bool, typer.Option("--include-earlier", help="Use rows from before the policy was taken, too.")
    ] = False,
    guaranteed: Annotated[
        bool, typer.Option("--guaranteed", help="Add intervals that hold whatever rewards are, within --rewards.")
    ] = False,
    rewards: Annotated[
        tuple[float, float] | None, typer.Option(help="With --guaranteed: the least reward and the largest.")
    ] = None,
    largest_weight: Annotated[
        float | None, typer.Option(help="With --guaranteed: one over the least propensity that a choice can have.")
    ] = None,
    sums: Annotated[bool, typer.Option("--sums", help="Print sums over the rows, for others to add up.")] = False,
    last: Annotated[
        Path | None, typer.Option(help="With --sums: what was told last, told again if few are new.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """Estimate what a policy that does not learn would have earned, with intervals."""
    from fedbandit.evaluation.evaluate import evaluate as evaluated  # what only this command needs, is slow
    from fedbandit.evaluation.federated import SiteSums, merged, site_sums
    from fedbandit.features.features import Features
    from fedbandit.site.policy import Policy

    if last is not None and not sums:
        raise InvalidInput(f"--last {last} is for --sums: give both, or leave it out")
    if all(path.suffix == ".json" for path in files):
        given = (policy, features, columns, arms, last, rewards, largest_weight)
        _require_sums_alone(any(each is not None for each in given) or sums or guaranteed or include_earlier)
        found = merged([SiteSums.read(path) for path in files], anyway=anyway)
    else:
        if policy is None:
            raise InvalidInput("--policy is missing: give the file of a policy that a site has saved")
        log, declared = _log(files, columns, arms), None if features is None else Features.read(features)
        if sums:
            _require_sums_alone(guaranteed or anyway or rewards is not None or largest_weight is not None)
            told = None if last is None else SiteSums.read(last)
            loaded = Policy.load(policy)
            typer.echo(site_sums(log, loaded, features=declared, include_earlier=include_earlier, last=told).text)
            return
        found = evaluated(
            log, Policy.load(policy), features=declared, anyway=anyway, include_earlier=include_earlier,
            guaranteed=guaranteed, rewards=rewards, largest_weight=largest_weight,
        )  # fmt: skip
    if as_json:
        typer.echo(json.dumps(asdict(found)))
    else:
        _show(found)


def _require_sums_alone(is_otherwise: bool) -> None:
    if is_otherwise:
        raise InvalidInput(
            "sums of sites take --anyway and --json alone, and --sums takes a log with --policy, --features, "
            "--columns, --arms, --include-earlier and --last: leave the others out"
        )


def _log(files: list[Path], columns: Path | None, arms: Path | None) -> Log:
    if len(files) > 1:
        raise InvalidInput(f"{len(files)} logs were given: give one, or the --sums of each site")
    return read_log(files[0], columns, arms)


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
    if found.guaranteed is not None:
        ips, dr = (" to ".join(f"{end:.3f}" for end in ends) for ends in (found.guaranteed.ips, found.guaranteed.dr))
        out.print(f"guaranteed: ips {ips}; dr {dr} (by the later {found.guaranteed.dr_rows:,} rows)")
