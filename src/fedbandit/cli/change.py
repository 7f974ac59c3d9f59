"""`fedbandit change` and `fedbandit reload`: what a federation has agreed on changes, without any restart."""

from __future__ import annotations

from typing import Annotated

import typer

from fedbandit.cli.operating import FILE, Federation, File, asked_of, federation_of
from fedbandit.core.errors import InvalidInput
from fedbandit.service.coordinator.settings import read_plan
from fedbandit.transport.nats.subjects import Subjects


def change(
    federation: Federation,
    values: Annotated[
        list[str] | None,
        typer.Argument(help="What to change, as in upload_threshold=3 limits.reward=2; nothing: show what holds."),
    ] = None,
    file: File = FILE,
) -> None:
    """Change parameters, limits, the deadline or when decisions end of a federation that runs; its sites hear of it."""
    plan = read_plan(file)
    federation_of(plan, federation)
    if not values:
        told = asked_of(plan, Subjects(federation).charter, {"do": "show"})
        for name, value in told["agreed"].items():
            typer.echo(f"{federation}: {name}: {value}")
        typer.echo(f"{federation}: revision {told['revision']}")
        return
    given: dict[str, str] = {}
    for each in values:
        name, equals, value = each.partition("=")
        if not equals or not name or not value:
            raise InvalidInput(f"{each!r} is no change: write NAME=VALUE, as in upload_threshold=3")
        if name in given:
            raise InvalidInput(f"{name} is given twice: give it once")
        given[name] = value
    said = asked_of(plan, Subjects(federation).charter, {"do": "change", "values": given})
    _show(federation, said)


def reload(file: File = FILE) -> None:
    """Read the coordinator's file again: change what was edited of its federations since it was last read."""
    from fedbandit.service.coordinator.changes import as_asked  # slow to import

    plan = read_plan(file)
    asked = {each.name: as_asked(each) for each in plan.federations}
    for name, told in asked.items():  # of all, before anything is changed
        asked_of(plan, Subjects(name).charter, {"do": "try", "file": told})
    for name, told in asked.items():
        said = asked_of(plan, Subjects(name).charter, {"do": "reload", "file": told})
        _show(name, said)


def _show(federation: str, said: dict[str, object]) -> None:
    changes = said["changes"]
    assert isinstance(changes, list)
    for each in changes:
        typer.echo(f"{federation}: {each}")
    if said["note"]:
        typer.echo(f"{federation}: {said['note']}", err=True)
    typer.echo(f"{federation}: revision {said['revision']}" if changes else f"{federation}: nothing has changed")
