"""Sides that forget: what was observed counts for less when an epoch ends, so that estimates rest on what is recent.

Time is cut into epochs that are the same for all. With e the present one every sum is that of discount^(e - e_s) times
what was observed in epoch e_s, and to age a sum by k epochs is to multiply it by discount^k. So sums of different
epochs are added once the older one is aged, in whatever order they come. Nodes do that (`protocol.fading`); a side says
how its state and its messages are aged.
"""

from __future__ import annotations

from typing import Any, Protocol, runtime_checkable

from fedbandit.core.errors import InvalidInput
from fedbandit.core.interfaces import Federation


@runtime_checkable
class Forgets(Protocol):
    """A side whose sums can be given less weight."""

    def age(self, state: Any, weight: float) -> None:
        """Let all that has been observed so far count for `weight` of what it counted."""

    def aged(self, message: Any, weight: float) -> Any:
        """Return a message to this side as it is when all that it tells counts for `weight` of what it counted."""


def forgetting(sides: Federation, name: str, discount: float) -> Federation:
    """Return both sides with the discount of their algorithm; refuse one that cannot forget."""
    if discount < 1.0:
        for side in (sides.clients, sides.server):
            if not isinstance(side, Forgets):
                raise InvalidInput(f"discount={discount:g}, but {name} does not forget: leave it at 1")
            side.discount = discount
    return sides
