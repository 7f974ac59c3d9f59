"""What commands share that tell a running coordinator something: its file, and one question through the broker."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated, Any

import typer

from fedbandit.core.errors import InvalidInput, unknown
from fedbandit.service.coordinator.settings import FederationPlan, ServicePlan
from fedbandit.transport.link import LinkRefused

Federation = Annotated[str, typer.Argument(help="A federation of the coordinator's file.")]
File = Annotated[Path, typer.Option("--file", help="The TOML file of `fedbandit serve`.")]
FILE = Path("coordinator.toml")


def federation_of(plan: ServicePlan, name: str) -> FederationPlan:
    """Return a federation of a coordinator's file."""
    known = {each.name: each for each in plan.federations}
    if name not in known:
        raise unknown("federation", name, known)
    return known[name]


def asked_of(plan: ServicePlan, subject: str, question: dict[str, Any]) -> dict[str, Any]:
    """Return what a coordinator answers that runs with a file."""
    from fedbandit.service.roster.asking import ask

    try:
        return ask(plan.broker, plan.credentials, subject, json.dumps(question).encode())
    except LinkRefused as error:
        raise InvalidInput(
            f"{plan.broker} does not let {plan.credentials} in ({error}): give the coordinator's credential"
        ) from None
