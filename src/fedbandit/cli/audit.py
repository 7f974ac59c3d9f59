"""`fedbandit audit`: every message that left the sites of a federation, decoded. Nothing is changed."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from fedbandit.cli.operating import FILE, Federation, File, federation_of
from fedbandit.core.errors import InvalidInput
from fedbandit.files.amounts import counted

if TYPE_CHECKING:
    from fedbandit.durable.audit import Audit, Sent

SUFFIXES = (".csv", ".json")


def audit(
    federation: Federation,
    file: File = FILE,
    site: Annotated[int | None, typer.Option(help="Only what this site has sent, by its number.")] = None,
    last: Annotated[int, typer.Option(help="How many messages to show, the last ones.")] = 20,
    to: Annotated[Path | None, typer.Option(help="Write all, with all numbers, to a file: .csv or .json.")] = None,
) -> None:
    """Show every message that sites have sent: what stands in it, and how many observations it rests on."""
    from fedbandit.durable.coordinator.audit import audit_journal  # what only this command needs, is slow
    from fedbandit.durable.journals.reading import journals_at, reading
    from fedbandit.service.coordinator.settings import read_plan

    if to is not None and to.suffix not in SUFFIXES:
        raise InvalidInput(f"--to {to} is neither .csv nor .json: give a name that ends so")
    if last < 1:
        raise InvalidInput(f"--last must be at least 1, not {last}: give how many messages to show")
    plan = read_plan(file)
    place, name = journals_at(plan.journal, federation_of(plan, federation).name)[0]
    with reading(place, name) as rows:
        found = audit_journal(rows)
    if site is not None:
        found = found.of_site(site)
    if to is not None:
        to.write_text(found.csv() if to.suffix == ".csv" else found.json(), encoding="utf-8")
    _show(found, last)


def _show(found: Audit, last: int) -> None:
    from rich.table import Table

    from fedbandit.cli.screen import out

    shown = found.messages[-last:]
    if shown:
        table = Table("time", "site", "number", "kind", "bytes", "rests on", "what it consists of")
        for each in shown:
            rests = (
                f"{each.observations} (fewer than {each.smallest_upload})"
                if each.is_too_small
                else str(each.observations)
            )
            table.add_row(
                _time(each), str(each.site), str(each.number), each.kind, str(each.bytes), rests, _named(each)
            )
        out.print(table)
    sites = len({each.site for each in found})
    total = sum(each.bytes for each in found)
    every = f"{counted(len(found.messages), 'message')} of {counted(sites, 'site')}, {counted(total, 'byte')}"
    typer.echo(f"{every}; {len(shown)} of them {'is' if len(shown) == 1 else 'are'} shown")
    for line in found.missing:
        typer.echo(f"not kept: {line}")
    few = found.too_small
    if few:
        some = counted(len(few), "message rests", "messages rest")
        typer.echo(
            f"fedbandit: {some} on fewer observations than smallest_upload, the first of site "
            f"{few[0].site} with number {few[0].number}: its observations may be computed from it",
            err=True,
        )


def _time(sent: Sent) -> str:
    return "" if sent.time is None else f"{datetime.fromtimestamp(sent.time, UTC):%Y-%m-%d %H:%M:%S}"


def _named(sent: Sent) -> str:
    return ", ".join(f"{name} {_brief(value)}" for name, value in sent.contents.items()) or "a signal"


def _brief(value: Any) -> str:
    """Return a number, or the shape of an array and its first number.

    >>> _brief(3), _brief([[1.5, 2.0], [2.0, 4.0]])
    ('3', '[2 x 2] from 1.5')
    """
    shape, first = [], value
    while isinstance(first, list):
        shape.append(str(len(first)))
        first = first[0] if first else 0
    return f"[{' x '.join(shape)}] from {first:g}" if shape else f"{first:g}"
