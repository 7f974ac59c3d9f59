"""`fedbandit check`: whether journals and stores are whole, and what is in them. Nothing is changed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from fedbandit.core.errors import FedbanditError

if TYPE_CHECKING:
    from fedbandit.durable.inspection import Findings


def check(
    journal: Annotated[str, typer.Argument(help="A store or journal (.db), a folder of them, or postgresql://...")],
    federation: Annotated[str | None, typer.Option(help="Only the journal of this federation.")] = None,
) -> None:
    """Check every record of journals and stores, and say what is in them; nothing is changed."""
    from fedbandit.durable.journals.journal import without_password  # what only this command needs, is slow
    from fedbandit.durable.journals.reading import journals_at
    from fedbandit.durable.journals.sqlite_rows import Strange

    is_whole = True
    for place, name in journals_at(journal, federation):
        try:
            found = _inspected(place, name)
        except Strange as error:  # not damaged: it never was one
            typer.echo(f"fedbandit: {error}", err=True)
            is_whole = False
            continue
        shown = f"{without_password(place)} {name}" if "://" in place else place
        typer.echo(f"{shown}: {'damaged' if found.faults else 'whole'}")
        for line in found.lines:
            typer.echo(f"  {line}")
        for fault in found.faults:
            typer.echo(f"fedbandit: {shown}: {fault}", err=True)
        is_whole = is_whole and not found.faults
    if not is_whole:
        raise typer.Exit(2)


def _inspected(place: str, name: str) -> Findings:
    from fedbandit.durable.inspection import Findings, inspect
    from fedbandit.durable.journals.reading import reading
    from fedbandit.durable.journals.sqlite_rows import Strange

    try:
        with reading(place, name) as rows:
            return inspect(rows)
    except Strange:
        raise
    except FedbanditError as error:
        return Findings(faults=[str(error)])
