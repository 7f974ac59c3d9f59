"""`fedbandit book`: the runs of full reproductions, stored, and the page of all panels that is made of them."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from fedbandit.core.errors import FedbanditError, InvalidInput
from fedbandit.experiments.experiment import experiments
from fedbandit.results.book import page_of
from fedbandit.results.everything import experiments_of, panels_of
from fedbandit.results.store import store


def book(
    names: Annotated[
        list[str] | None, typer.Argument(help="Further experiments to store.", metavar="[EXPERIMENT]...")
    ] = None,
    output: Annotated[Path, typer.Option(help="The folder of results, of `fedbandit reproduce`.")] = Path("results"),
    folder: Annotated[Path, typer.Option("--store", help="The folder in which runs are stored.")] = Path(
        "docs/evidence"
    ),
) -> None:
    """Store the experiments of the papers, and those named, whose runs are all there; write the page of all panels."""
    if folder.exists() and not folder.is_dir():
        raise InvalidInput(f"--store {folder} is a file: give the name of a folder")
    panels = panels_of(None)
    named = [experiments[name] for name in names or ()]
    for experiment in [*experiments_of(panels), *named]:
        try:
            if store(experiment, output, folder):
                typer.echo(f"{experiment.id}: stored")
        except FedbanditError as error:
            typer.echo(f"{experiment.id} was left out: {error}", err=True)
    folder.mkdir(parents=True, exist_ok=True)
    page = folder.with_suffix(".md")
    page.write_text(page_of(panels, folder), encoding="utf-8")
    typer.echo(str(page))
