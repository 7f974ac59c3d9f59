"""`fedbandit book`: the runs of full reproductions, stored, and the page of all panels that is made of them."""

from __future__ import annotations

from typing import Annotated

import typer

from fedbandit.cli.completion import experiment_names
from fedbandit.cli.storing import RESULTS, STORE, Results, Store, require_no_file
from fedbandit.core.errors import FedbanditError
from fedbandit.experiments.experiment import experiments
from fedbandit.results.book import page_of
from fedbandit.results.everything import experiments_of, panels_of
from fedbandit.results.store import store


def book(
    experiment: Annotated[
        list[str] | None, typer.Argument(help="Further experiments to store.", autocompletion=experiment_names)
    ] = None,
    output: Results = RESULTS,
    folder: Store = STORE,
) -> None:
    """Store the experiments of the papers, and those named, whose runs are all there; write the page of all panels."""
    require_no_file(folder)
    panels = panels_of(None)
    named = [experiments[name] for name in experiment or ()]
    for each in [*experiments_of(panels), *named]:
        try:
            if store(each, output, folder):
                typer.echo(f"{each.id}: stored")
        except FedbanditError as error:
            typer.echo(f"{each.id} was left out: {error}", err=True)
    folder.mkdir(parents=True, exist_ok=True)
    page = folder.with_suffix(".md")
    page.write_text(page_of(panels, folder), encoding="utf-8")
    typer.echo(str(page))
