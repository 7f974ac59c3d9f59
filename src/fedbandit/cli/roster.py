"""`fedbandit invite`, `join`, `sites`, `remove` and `revoke`: who belongs to a federation, without any restart."""

from __future__ import annotations

import sys
import time
from pathlib import Path
from typing import Annotated, Any

import typer

from fedbandit.cli.operating import FILE, Federation, File, asked_of, federation_of
from fedbandit.core.errors import InvalidInput
from fedbandit.service.coordinator.settings import read_plan
from fedbandit.transport.nats.address import check_server
from fedbandit.transport.nats.subjects import Subjects

Name = Annotated[str, typer.Argument(help="The name of a site.")]


def invite(
    federation: Federation,
    name: Name,
    file: File = FILE,
    token_days: Annotated[float, typer.Option(metavar="DAYS", help="How long the token can be used.")] = 7.0,
    certificate_days: Annotated[
        float, typer.Option(metavar="DAYS", help="How long the site's certificate is to be valid.")
    ] = 365.0,
    broker: Annotated[
        str | None, typer.Option(help="The broker as the site reaches it, if not as the file says.")
    ] = None,
    days: Annotated[float | None, typer.Option(hidden=True, help="What --token-days was called.")] = None,
    valid: Annotated[float | None, typer.Option(hidden=True, help="What --certificate-days was called.")] = None,
) -> None:
    """Invite a site: print a token with which it can join, once."""
    where = None if broker is None else check_server(broker)
    lasting = {"days": token_days if days is None else days, "valid": certificate_days if valid is None else valid}
    typer.echo(_asked(file, federation, do="invite", name=name, broker=where, **lasting)["token"])


def join(
    token: Annotated[str, typer.Argument(help="What `fedbandit invite` printed; - to read it from standard input.")],
    folder: Annotated[Path, typer.Option(help="Where the site's credential is to be.")] = Path("keys"),
) -> None:
    """Join a federation: make a private key here, and have its certificate signed by the coordinator."""
    try:
        from fedbandit.service.roster.joining import join as join_now
    except ImportError:
        raise InvalidInput(
            "certificates need the library cryptography: install fedbandit with its extra deploy"
        ) from None
    joined = join_now(sys.stdin.read() if token == "-" else token, folder)
    typer.echo(joined.credential)
    typer.echo(
        f"{joined.name} is site number {joined.number} of {joined.address}, until {joined.until:%Y-%m-%d}", err=True
    )


def sites(federation: Federation, file: File = FILE) -> None:
    """List the sites of a federation: name, number, standing, and when each was last heard from."""
    told = _asked(file, federation, do="sites")["sites"]
    width = max([4, *(len(each["name"]) for each in told)])
    typer.echo(f"{'name':{width}}  number  standing  last seen")
    for each in told:
        number = "-" if each["number"] is None else each["number"]
        seen = "never" if each["number"] is None else _ago(each["last_seen"])
        typer.echo(f"{each['name']:{width}}  {number:>6}  {each['standing']:8}  {seen}")


def remove(federation: Federation, name: Name, file: File = FILE) -> None:
    """Let a site leave: what it sent stays, rounds no longer wait for it, and it may be invited again."""
    _asked(file, federation, do="remove", name=name)
    typer.echo(f"{name} is removed from {federation}")


def revoke(federation: Federation, name: Name, file: File = FILE) -> None:
    """Cut a site off at once: it is disconnected, and nothing of it is taken in any more."""
    ended = _asked(file, federation, do="revoke", name=name)["ended"]
    typer.echo(f"{name} is revoked in {federation}; connections ended: {ended}")


def _asked(file: Path, federation: str, **question: Any) -> dict[str, Any]:
    """Return what the coordinator of a file answers."""
    plan = read_plan(file)
    federation_of(plan, federation)
    if plan.authority is None or plan.credentials is None:
        missing = "authority" if plan.authority is None else "credentials"
        raise InvalidInput(
            f"{file} names no {missing}, so its coordinator has no roster: write authority and credentials, with tls://"
        )
    told = {"broker": plan.broker, **{key: value for key, value in question.items() if value is not None}}
    return asked_of(plan, Subjects(federation).roster, told)


def _ago(moment: float | None) -> str:
    """Say how long ago something was; nothing is known of what was before the coordinator's start."""
    if moment is None:
        return "not since the coordinator's start"
    seconds = max(0.0, time.time() - moment)
    for size, unit in ((86_400, "days"), (3600, "hours"), (60, "minutes")):
        if seconds >= 2 * size:
            return f"{seconds / size:.0f} {unit} ago"
    return f"{seconds:.0f} seconds ago"
