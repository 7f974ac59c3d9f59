"""`fedbandit broker`: a NATS server for the federations of a file, or the configuration of one."""

from __future__ import annotations

import errno
import os
import socket
from pathlib import Path
from typing import TYPE_CHECKING, Annotated
from urllib.parse import urlsplit

import typer

from fedbandit.core.errors import InvalidInput

if TYPE_CHECKING:
    from fedbandit.service.coordinator.settings import ServicePlan
    from fedbandit.transport.nats.broker_settings import BrokerSettings


def broker(
    file: Annotated[Path, typer.Argument(help="The TOML file of `fedbandit serve`.")],
    store: Annotated[Path, typer.Option(help="The folder of the broker's streams.")] = Path("broker"),
    listen: Annotated[str, typer.Option(help="The address to listen at; 0.0.0.0 for all.")] = "127.0.0.1",
    as_: Annotated[
        str | None, typer.Option("--as", help="HOST:PORT of this broker, where the file names several of a cluster.")
    ] = None,
    keys: Annotated[Path, typer.Option(help="The folder of `fedbandit keys new`, with tls://.")] = Path("keys"),
    only_print: Annotated[bool, typer.Option("--print", help="Print the configuration and do no more.")] = False,
) -> None:
    """Run the broker that the federations of a file meet at; sites may say only what is theirs to say."""
    from fedbandit.service.coordinator.settings import read_plan  # what only this command needs, is slow
    from fedbandit.transport.nats.broker import server_environment, server_program

    settings = settings_for(read_plan(file), store.absolute(), listen, keys.absolute(), as_)
    if only_print:
        typer.echo(settings.text)
        return
    _require_free(listen, settings.port)
    store.mkdir(parents=True, exist_ok=True)
    configuration = store / "broker.conf"
    configuration.write_text(settings.text + "\n", encoding="utf-8")
    program = server_program()
    os.execve(program, [program, "--config", str(configuration)], server_environment())


def _require_free(listen: str, port: int) -> None:
    """Refuse an address at which the broker could not listen, in one sentence: of its own it says a page."""
    try:
        family, kind, _, _, address = socket.getaddrinfo(listen, port, type=socket.SOCK_STREAM)[0]
    except (OSError, UnicodeError):
        raise InvalidInput(
            f"--listen {listen!r} is no address: give one of this machine, without a port, or 0.0.0.0 for all"
        ) from None
    with socket.socket(family, kind) as one:
        one.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            one.bind(address)
        except OSError as error:
            here = "end what listens there" if error.errno == errno.EADDRINUSE else "give an address of this machine"
            raise InvalidInput(
                f"--listen {listen}: the broker cannot listen at port {port} ({error.strerror}): {here}"
            ) from None


def settings_for(plan: ServicePlan, store: Path, listen: str, keys: Path, which: str | None = None) -> BrokerSettings:
    """Return the settings of the broker of a plan, or of one of its brokers."""
    from fedbandit.service.keys.files import Keys
    from fedbandit.transport.nats.address import servers_of
    from fedbandit.transport.nats.broker_settings import BROKER, BrokerSettings, Cluster, Security

    cluster, servers = None, servers_of(plan.broker)
    where = urlsplit(servers[0])
    if which is not None:
        cluster = Cluster.of(plan.broker, which)
        where = urlsplit(f"{where.scheme}://{which}")
    elif len(servers) > 1:
        raise InvalidInput(f"{plan.broker} names {len(servers)} brokers: say with --as HOST:PORT which of them this is")
    security = None
    if where.scheme == "tls":
        folder = Keys(keys)
        for path in (folder.path(BROKER), folder.authority):
            if not path.exists():
                raise InvalidInput(f"there is no {path}: make it with `fedbandit keys new {BROKER} --host HOST`")
        sites = {each.name: each.charter.setting.clients for each in plan.federations}
        doorkeeper = None if plan.authority is None else folder.doorkeeper()
        security = Security(folder.path(BROKER), folder.authority, sites, doorkeeper)
    return BrokerSettings(store, listen, where.port or 4222, security, cluster)
