"""The one way around messages: many turns of both sides in one compiled loop, for simulations alone.

A shortcut exists where carrying each message costs far more than what is computed: on a GPU, where one upload is
followed by many different downloads, or where only the sum of all answers matters and is known without them. It must
equal the message path: the same choices, the same ledger, and both states as `choose`, `learn` and `receive` would have
left them (but for rounding), so that either can follow the other. A test compares the two for every parameter.
Deployments never use it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple, Protocol, runtime_checkable

from fedbandit.core.arrays import Floats, Ints
from fedbandit.core.interfaces import Outgoing
from fedbandit.core.messages import Message
from fedbandit.core.turns import Turns


class SimulatedRounds(NamedTuple):
    """What a shortcut did: which arms, and what each of its rounds exchanged, as far as a ledger counts it."""

    choices: Ints
    exchange: Sequence[Outgoing[Message]]  # of one round, which stands for all: kinds, clients and sizes


class RoundsShortcut(Protocol):
    """Where messages follow rounds."""

    def simulate_rounds(self, clients: Any, server: Any, turns: Turns, draws: Floats) -> SimulatedRounds:
        """Play a block of rounds, each in the order of clients, with all that is exchanged after each of them.

        Both states are changed in place; nothing is under way before or after.
        """


class Exchanged(NamedTuple):
    """Messages of one kind and size that a shortcut exchanged, as far as a ledger counts it."""

    message: Outgoing[Message]  # one, which stands for all, with one client at its other end
    times: Ints  # (m,) how many after each turn


class SimulatedTurns(NamedTuple):
    """What a shortcut did: which arms, and what each turn exchanged."""

    choices: Ints
    exchanged: Sequence[Exchanged]
    propensity: Floats | None = None  # as in `Decided`, of each turn


@runtime_checkable
class TurnsShortcut(Protocol):
    """Where messages may follow any turn."""

    def simulate_turns(self, clients: Any, server: Any, turns: Turns, draws: Floats) -> SimulatedTurns:
        """Play a block of turns, each with all that is exchanged after it.

        Both states are changed in place; nothing is under way before or after.
        """
