"""`fedbandit site`: one site as a local service, for programs in any language."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer


def site(
    file: Annotated[Path, typer.Argument(help="A TOML file that says which site, and where to listen.")],
    restored: Annotated[
        bool, typer.Option("--restored", help="The store comes from a backup: say so once, at the first start.")
    ] = False,
    check: Annotated[bool, typer.Option("--check", help="Check the file, and end.")] = False,
    json_logs: Annotated[bool, typer.Option("--json-logs", help="Write the log as one JSON object a line.")] = False,
) -> None:
    """Serve one site over HTTP and JSON, for programs in any language, until Ctrl-C or SIGTERM."""
    from fedbandit.service.agent.serving import serve_site  # what only this command needs, is slow
    from fedbandit.service.agent.settings import read_agent_plan
    from fedbandit.service.coordinator.logs import log_to_stderr

    plan = read_agent_plan(file)
    if check:
        typer.echo(f"{file}: a site of {plan.federation or 'no federation'}, to listen at {plan.listen}")
        return
    log_to_stderr(as_json=json_logs)
    serve_site(plan, restored=restored)
