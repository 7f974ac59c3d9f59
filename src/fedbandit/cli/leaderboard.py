"""`fedbandit leaderboard`: the runs of all algorithms on common ground, stored, and the page that ranks them."""

from __future__ import annotations

import typer

from fedbandit.cli.storing import RESULTS, STORE, Results, Store, require_no_file
from fedbandit.core.errors import InvalidInput
from fedbandit.environments.common_ground import REWARDS
from fedbandit.results.store import store, stored


def leaderboard(
    output: Results = RESULTS,
    folder: Store = STORE,
) -> None:
    """Store the experiments of the leaderboard whose runs are all there; write its page and its figures."""
    require_no_file(folder)
    # The experiments need every algorithm, and matplotlib is slow to import: other commands start without them.
    from fedbandit.results.leaderboard import entries_of, experiments_behind, figure_of, page_of, reported_of
    from fedbandit.results.ranking_figure import draw_ranking

    for experiment in experiments_behind():
        if store(experiment, output, folder):
            typer.echo(f"{experiment.id}: stored")
        elif stored(experiment, folder) is None:
            raise InvalidInput(
                f"no runs of {experiment.id} are all in --output {output}, nor stored in --store {folder}: run "
                f"`fedbandit reproduce {experiment.id}` first"
            )
    text = page_of(folder)
    for rewards in REWARDS:
        draw_ranking(entries_of(rewards, folder), reported_of(rewards).title, figure_of(rewards, folder))
    page = folder.with_name("leaderboard.md")
    page.write_text(text, encoding="utf-8")
    typer.echo(str(page))
