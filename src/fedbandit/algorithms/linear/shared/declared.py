"""Parameters that several algorithms of the family declare, each with a default of its own."""

from __future__ import annotations

from typing import Any

from fedbandit.algorithms.linear.shared.encoding import PRECISIONS
from fedbandit.core.changes import Change
from fedbandit.core.parameters import parameter


def threshold_parameter(default: float, growth: str, symbol: str) -> Any:
    """Declare the ratio of determinants at which something is sent: one number, or one for each client."""
    return parameter(
        default, f"growth of {growth}; one number or one a client",
        symbol=symbol, at_least=1, infinite=True, change=Change.AT_ONCE,
    )  # fmt: skip


def welcome_parameter() -> Any:
    """Declare whether a client hears of the others before its first turn, where the paper has it wait."""
    return parameter(
        False, "a client asks for what there is before its first turn (beyond the paper, where that turn is blind)"
    )


def precision_parameter(default: str = "float64") -> Any:
    """Declare in which numbers matrices travel."""
    return parameter(default, "of the numbers of matrices that travel; below float64 as factors", choices=PRECISIONS)
