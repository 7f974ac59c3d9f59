"""`fedbandit watch`: whether a site's decisions still go as its model predicts."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from fedbandit.cli.screen import out

if TYPE_CHECKING:
    from fedbandit.logs.watching import Watch


def watch(
    folder: Annotated[Path, typer.Argument(help="The folder of a site's log of decisions.")],
    features: Annotated[
        Path | None, typer.Option(help="The features of the site (TOML), to watch its values too.")
    ] = None,
) -> None:
    """Compare predictions with rewards, and tell of drift; exit with 1 if there was an alarm."""
    from fedbandit.features.features import Features  # what only this command needs, is slow
    from fedbandit.logs.watching import watched

    found, alarms = watched(folder, None if features is None else Features.read(features))
    _show(found)
    for each in alarms:
        typer.echo(each)
    if alarms:
        raise typer.Exit(1)


def _show(found: Watch) -> None:
    from rich.table import Table

    groups = found.calibration.groups()
    if groups:
        table = Table("predicted", "received", "error", "rows", title="Predictions and rewards", title_justify="left")
        for each in groups:
            table.add_row(f"{each.predicted:.3f}", f"{each.reward:.3f}", f"{each.error:.3f}", f"{each.rows:,}")
        out.print(table)
    shares = [] if found.shares is None else found.shares.found()
    if shares:
        table = Table("feature", "at first", "now", "z", title="Clipped, unknown or missing", title_justify="left")
        for share in shares:
            table.add_row(share.feature, f"{share.at_first:.1%}", f"{share.now:.1%}", f"{share.z:.1f}")
        out.print(table)
    if found.comparison is not None:
        low, high = found.comparison.interval
        out.print(
            f"control has {found.comparison.share:.1%} of the decisions; without it a decision earns "
            f"{found.comparison.difference:+.3f} more, between {low:+.3f} and {high:+.3f} (95 %, at any time)"
        )
    explored = "unknown" if found.explored != found.explored else f"{found.explored:.1%}"
    out.print(
        f"{found.rows:,} rewards of choices with a prediction: mean {found.mean_reward:.3f}, predicted "
        f"{found.mean_predicted:.3f}; explored {explored}"
    )
