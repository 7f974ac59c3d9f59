"""The weight alpha between FN-UCB's two bounds: section 3.3's ratio, the experiments' ramp, or a constant."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np

from fedbandit.core.arrays import Floats, Ints
from fedbandit.core.errors import InvalidInput


class Weight(Protocol):
    """How much the network's bound counts."""

    needs_ratio: bool  # whether clients compare the uncertainties of their arms before they upload

    def at(self, round_: Ints, received: Floats) -> Floats:
        """Return alpha for clients in their rounds (from 1), whose latest download said `received`."""


@dataclass(frozen=True)
class Ratio:
    """Section 3.3: the least of the clients' ratios, 0 before the first communication."""

    needs_ratio = True

    def at(self, round_: Ints, received: Floats) -> Floats:  # noqa: ARG002
        """Return what the server found."""
        return received


@dataclass(frozen=True)
class Ramp:
    """Section 5.1: linear to 1 over a number of rounds.

    >>> Ramp(rounds=700).at(np.array([1, 350, 5000]), np.zeros(3)).round(4).tolist()
    [0.0014, 0.5, 1.0]
    """

    rounds: int
    needs_ratio = False

    def at(self, round_: Ints, received: Floats) -> Floats:  # noqa: ARG002
        """Return min(1, t / rounds)."""
        return np.minimum(1.0, round_ / self.rounds)


@dataclass(frozen=True)
class Constant:
    """Always the same: 0 and 1 leave one of the bounds out (figure 1c)."""

    value: float
    needs_ratio = False

    def at(self, round_: Ints, received: Floats) -> Floats:  # noqa: ARG002
        """Return the constant."""
        return np.full(len(round_), self.value)


def weight_of(value: str | float) -> Weight:
    """Read a weight as parameters give it.

    >>> weight_of("ramp:700"), weight_of(0.0)
    (Ramp(rounds=700), Constant(value=0.0))
    """
    if not isinstance(value, str):
        return Constant(float(value))
    if value == "theory":
        return Ratio()
    name, _, rounds = value.partition(":")
    if name == "ramp" and rounds.isascii() and rounds.isdigit() and int(rounds) > 0:
        return Ramp(int(rounds))
    raise InvalidInput(
        f"weight must be theory, ramp:ROUNDS or a number from 0 to 1, not {value!r}: write weight=ramp:700"
    )
