"""`fedbandit panels`: the figures and tables of the papers, and what became of them here."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Annotated

import typer
from rich.markup import escape
from rich.table import Table

from fedbandit.cli.completion import panel_names
from fedbandit.cli.screen import out
from fedbandit.core.errors import unknown
from fedbandit.experiments.intervals import plain
from fedbandit.experiments.panel import Panel, Published, panels
from fedbandit.experiments.table import Table as Numbers
from fedbandit.results.book import ours
from fedbandit.results.tables import read_runs


def show_panels(
    which: Annotated[
        str | None,
        typer.Argument(
            help="A paper, as in fldb, or one panel, as in fldb/figure-1a; default: all.", autocompletion=panel_names
        ),
    ] = None,
    output: Annotated[
        Path, typer.Option(help="The folder of results: what was run there is judged and put beside.")
    ] = Path("results"),
) -> None:
    """List the panels of the papers' figures and their tables, with the experiment of each.

    Of one paper or panel: also what it says, with the verdicts on our runs, and published numbers beside ours.
    """
    chosen = [panels[name] for name in panels if which in (None, panels[name].paper, name)]
    if not chosen:
        raise unknown("paper or panel", str(which), [*dict.fromkeys(panels[name].paper for name in panels), *panels])
    if which is None:
        _list(chosen)
        return
    for panel in chosen:
        _describe(panel, output)


def _list(chosen: Iterable[Panel]) -> None:
    table = Table(show_header=False, box=None, padding=(0, 2))
    for panel in chosen:
        table.add_row(f"[cyan]{escape(panel.id)}[/]", panel.experiment, escape(panel.title))
    out.print(table)
    out.print("\nfedbandit panels NAME shows what the paper says of a panel; fedbandit reproduce EXPERIMENT makes it.")


def _describe(panel: Panel, output: Path) -> None:
    out.print(f"[bold]{escape(panel.id)}[/]: {escape(panel.title)}")
    out.print(f"fedbandit reproduce {panel.experiment} draws it as {', '.join(panel.figures)}", highlight=False)
    file = output / panel.experiment / "runs.csv"
    numbers = read_runs(file, panel.made_by()) if file.exists() else None
    for said in panel.said:
        out.print(f"  “{escape(said.words)}”", highlight=False)
        if said.unanswered:
            out.print(f"    not judged: {escape(said.unanswered)}", highlight=False)
        for claim in panel.claims(said):
            answer = f"[bold]{claim.judge(numbers).answer}[/]" if numbers else "not run"
            out.print(f"    {escape(claim.sentence)}: {answer}", highlight=False)
    if panel.published:
        _beside(panel.published, numbers)
    out.print()


def _beside(published: Iterable[Published], numbers: Numbers | None) -> None:
    table = Table("series", "point", "quantity", "published", "ours", "source")
    for each in published:
        error = "" if each.error is None else f" ± {each.error:g}"
        name = each.quantity + (" per client" if each.per_client else "")
        table.add_row(
            escape(each.series),
            escape(each.point),
            name,
            plain(each.value, 5) + error,
            ours(each, numbers),
            each.source,
        )
    out.print(table)
