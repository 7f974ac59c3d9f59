"""What a shell offers when somebody presses Tab: names that are registered, and the parameters of what was named.

Only what is asked for is imported, when it is asked for: a command that is run pays nothing for it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import typer

from fedbandit.core.algorithm import algorithms
from fedbandit.core.environment import environments
from fedbandit.core.errors import FedbanditError
from fedbandit.experiments.experiment import experiments
from fedbandit.experiments.panel import panels

AGAIN = "may be given again"


def algorithm_names(incomplete: str) -> list[str]:
    """Return the algorithms that begin so."""
    return _beginning(algorithms, incomplete)


def environment_names(incomplete: str) -> list[str]:
    """Return the environments that begin so."""
    return _beginning(environments, incomplete)


def experiment_names(incomplete: str) -> list[str]:
    """Return the experiments that begin so."""
    return _beginning(experiments, incomplete)


def all_names(incomplete: str) -> list[str]:
    """Return what can be described and begins so."""
    return _beginning([*algorithms, *environments, *experiments], incomplete)


def papers(incomplete: str) -> list[str]:
    """Return the papers that begin so."""
    return _beginning(dict.fromkeys(panels[name].paper for name in panels), incomplete)


def panel_names(incomplete: str) -> list[str]:
    """Return the papers and the panels that begin so."""
    return [*papers(incomplete), *_beginning(panels, incomplete)]


def parameters_of(option: str, registry: Any, usual: str) -> Callable[[typer.Context, str], list[str]]:
    """Return what offers NAME= for the parameters of what an option of the same command names."""

    def offered(ctx: typer.Context, incomplete: str) -> list[str]:
        try:
            described = registry[_named(ctx, option) or usual].describe()
        except FedbanditError:  # a name that there is not is refused when the command is run
            return []
        return _beginning([f"{each.name}=" for each in described], incomplete)

    return offered


def _named(ctx: typer.Context, name: str) -> str | None:
    """Return what an option or the argument is; an option without its value, as is asked for, leaves that unread."""
    is_argument = any(each.name == name and each.param_type_name == "argument" for each in ctx.command.params)
    return ctx.params.get(name) or (next(iter(ctx.args), None) if is_argument else None)


def _beginning(names: Iterable[str], incomplete: str) -> list[str]:
    return [name for name in names if name.startswith(incomplete)]
