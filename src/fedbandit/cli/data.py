"""`fedbandit data list | check | fetch`: the data sets, whether they are here and whole, and how to get them."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.markup import escape
from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TimeRemainingColumn
from rich.table import Table

from fedbandit.cli.screen import err, out

if TYPE_CHECKING:
    from fedbandit.datasets import Description

# The data sets (and SciPy) are imported only by the commands that need them.
app = typer.Typer(no_args_is_help=True, help="The data sets: list them, check a copy, fetch one from its publisher.")

Name = Annotated[str, typer.Argument(help="A data set of `fedbandit data list`.")]


@app.command("list")
def list_sets() -> None:
    """List the data sets: whether they are on this machine, and their terms."""
    from fedbandit.datasets import catalogue

    table = Table("name", "here", "what it is", "terms")
    for description in catalogue():
        here = "[green]yes[/]" if _is_here(description) else "no"
        table.add_row(description.name, here, escape(description.title), escape(description.terms))
    out.print(table)
    out.print("fedbandit data fetch NAME downloads one from its publisher; fedbandit data check NAME counts a copy.")


@app.command("check")
def check_set(
    name: Name,
    path: Annotated[Path | None, typer.Option(help="A folder or file to look at, instead of the usual places.")] = None,
) -> None:
    """Load a data set, count it, and say what is missing; exit code 1 if anything is."""
    from fedbandit.datasets import check

    report = check(name, path)
    out.print(f"[bold]{name}[/]: {escape(str(report.location))}", soft_wrap=True, highlight=False)
    table = Table("count", "here", "full release")
    for column in table.columns[1:]:
        column.justify = "right"
    for count in report.counts:
        colour = "green" if count.agrees else "yellow"
        wanted = "" if count.expected is None else f"{count.expected:,}"
        table.add_row(escape(count.name), f"[{colour}]{count.found:,}[/]", wanted)
    out.print(table)
    for sentence in report.missing:
        out.print(f"[yellow]missing:[/] {escape(sentence)}")
    for sentence in report.remarks:
        out.print(f"remark: {escape(sentence)}")
    out.print("complete" if report.complete else "not complete: it can be used all the same")
    if not report.complete:
        raise typer.Exit(1)


@app.command("fetch")
def fetch_set(
    name: Name,
    folder: Annotated[Path | None, typer.Option(help="Where to put it; default: the cache folder.")] = None,
) -> None:
    """Download a data set from its publisher; a download that broke off goes on where it was."""
    from fedbandit.datasets import describe, fetch

    description = describe(name)
    size = f"{description.size / 1e6:,.1f} MB" if description.size else "size not stated"
    out.print(f"[bold]{name}[/]: {escape(description.title)} ({size})", highlight=False)
    out.print(f"publisher: {escape(description.publisher)}, {description.page}", soft_wrap=True, highlight=False)
    out.print(f"terms: {escape(description.terms)}", soft_wrap=True, highlight=False)
    columns = (TextColumn("{task.description}"), BarColumn(), DownloadColumn(), TimeRemainingColumn())
    with Progress(*columns, console=err, transient=True) as progress:
        tasks = {
            download.filename: progress.add_task(download.filename, total=None) for download in description.downloads
        }

        def show(filename: str, done: int, total: int | None) -> None:
            progress.update(tasks[filename], completed=done, total=total)

        files = fetch(name, folder, show)
    for file in files:
        out.print(str(file), soft_wrap=True, highlight=False)


def _is_here(description: Description) -> bool:
    from fedbandit.datasets import MissingData
    from fedbandit.datasets.files.folders import find

    try:
        find(description)
    except MissingData:
        return False
    return True
