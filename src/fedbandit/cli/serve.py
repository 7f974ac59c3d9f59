"""`fedbandit serve`: the coordinator of one or more federations."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from fedbandit.cli.completion import AGAIN

if TYPE_CHECKING:
    from fedbandit.service.coordinator.settings import ServicePlan


def serve(
    file: Annotated[Path, typer.Argument(help="A TOML file that says what to serve.")],
    only: Annotated[
        list[str] | None,
        typer.Option(help=f"Serve this federation, and leave the others to other processes; {AGAIN}."),
    ] = None,
    broker: Annotated[str | None, typer.Option(help="The broker, nats:// or tls://; default: the file's.")] = None,
    credentials: Annotated[
        Path | None, typer.Option(help="The coordinator's credential, with tls://; default: the file's.")
    ] = None,
    journal: Annotated[
        str | None, typer.Option(help="A folder of SQLite files, or postgresql://...; default: the file's.")
    ] = None,
    http: Annotated[
        str | None, typer.Option(help="HOST:PORT of health, metrics and the status page; default: the file's.")
    ] = None,
    replicas: Annotated[
        int | None, typer.Option(help="On how many brokers of a cluster the streams are kept; default: the file's.")
    ] = None,
    standby: Annotated[
        bool, typer.Option("--standby", help="Wait while another coordinator has the journals; take over if it fails.")
    ] = False,
    json_logs: Annotated[bool, typer.Option("--json-logs", help="Write the log as one JSON object a line.")] = False,
) -> None:
    """Serve federations until Ctrl-C or SIGTERM."""
    from fedbandit.service.coordinator.coordinator import serve as serve_plan  # what only this command needs, is slow
    from fedbandit.service.coordinator.logs import log_to_stderr
    from fedbandit.service.coordinator.settings import read_plan

    log_to_stderr(as_json=json_logs)
    plan = _overridden(read_plan(file), broker, credentials, journal, http)
    if only:
        plan = plan.serving_only(only)
    if replicas is not None:
        plan = plan.replicated(replicas)
    serve_plan(plan.waiting() if standby or plan.standby else plan)


def _overridden(
    plan: ServicePlan, broker: str | None, credentials: Path | None, journal: str | None, http: str | None
) -> ServicePlan:
    from fedbandit.transport.nats.address import check_server

    if broker is not None:
        plan = replace(plan, broker=check_server(broker))
    if credentials is not None:
        plan = replace(plan, credentials=credentials)
    if journal is not None:
        plan = replace(plan, journal=journal)
    return plan if http is None else plan.listening_at(http)
