"""Parameters on the command line: the options that take them, and what they say."""

from __future__ import annotations

from typing import Annotated

import typer

from fedbandit.cli.completion import AGAIN, parameters_of
from fedbandit.core.algorithm import algorithms
from fedbandit.core.environment import environments
from fedbandit.core.errors import InvalidInput

BEST = "lean-linucb"  # see docs/choosing.md
Set = Annotated[
    list[str] | None,
    typer.Option(
        "--set",
        help=f"A parameter of the algorithm: name=value; {AGAIN}.",
        autocompletion=parameters_of("algorithm", algorithms, BEST),
    ),
]
World = Annotated[
    list[str] | None,
    typer.Option(
        help=f"A parameter of the environment: name=value; {AGAIN}.",
        autocompletion=parameters_of("environment", environments, "linear"),
    ),
]


def assignments(option: str, texts: list[str] | None) -> dict[str, str]:
    """Read name=value pairs.

    >>> assignments("--set", ["ridge=2"])
    {'ridge': '2'}
    """
    pairs = {}
    for text in texts or []:
        name, equals, value = text.partition("=")
        if not equals or not name.strip():
            raise InvalidInput(f"{option} {text!r} is not of the form name=value: write {option} ridge=0.1")
        pairs[name.strip()] = value.strip()
    return pairs
