"""`fedbandit leaderboard`: the runs of all algorithms on common ground, stored, and the page that ranks them."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from fedbandit.core.errors import InvalidInput
from fedbandit.environments.common_ground import REWARDS
from fedbandit.results.store import store


def leaderboard(
    output: Annotated[Path, typer.Option(help="The folder of results, of `fedbandit reproduce`.")] = Path("results"),
    folder: Annotated[Path, typer.Option("--store", help="The folder in which runs are stored.")] = Path(
        "docs/evidence"
    ),
) -> None:
    """Store the experiments of the leaderboard whose runs are all there; write its page and its figures."""
    if folder.exists() and not folder.is_dir():
        raise InvalidInput(f"--store {folder} is a file: give the name of a folder")
    # The experiments need every algorithm, and matplotlib is slow to import: other commands start without them.
    from fedbandit.results.leaderboard import entries_of, experiments_behind, figure_of, page_of, reported_of
    from fedbandit.results.ranking_figure import draw_ranking

    for experiment in experiments_behind():
        if store(experiment, output, folder):
            typer.echo(f"{experiment.id}: stored")
    text = page_of(folder)
    for rewards in REWARDS:
        draw_ranking(entries_of(rewards, folder), reported_of(rewards).title, figure_of(rewards, folder))
    page = folder.with_name("leaderboard.md")
    page.write_text(text, encoding="utf-8")
    typer.echo(str(page))
