"""How nodes of a federation that forgets keep sums of different epochs apart, and add them right.

All that a node knows counts as of one epoch, its clock, and each envelope says as of which epoch its sums count. The
older of the two is aged to the newer before they meet. Since ageing is a multiplication, the order in which envelopes
arrive does not matter, nor how late they are. Which epoch it is, a node is told (`tick`); there is no clock here.
"""

from __future__ import annotations

from typing import Any, Generic, TypeVar, cast

from fedbandit.core.errors import ProtocolError
from fedbandit.core.forgetting import Forgets
from fedbandit.core.interfaces import Side
from fedbandit.protocol.envelope import Envelope

AnySide = TypeVar("AnySide", bound=Side)


class FadingNode(Generic[AnySide]):
    """The part of a node that keeps what it knows at one epoch; without a discount its clock is None."""

    side: AnySide
    state: Any
    clock: int | None

    def _start_clock(self, side: Side) -> None:
        self.discount = side.discount
        self.clock = 0 if side.discount < 1.0 else None

    def tick(self, epoch: int) -> None:
        """Hear that an epoch has begun; one that is not later than the clock changes nothing."""
        if self.clock is not None and epoch > self.clock:
            cast(Forgets, self.side).age(self.state, self.discount ** (epoch - self.clock))
            self.clock = epoch

    def weight_of(self, epoch: int) -> float:
        """Return what an observation counts now that was made in an epoch."""
        return 1.0 if self.clock is None else self.discount ** max(0, self.clock - epoch)

    def _check_clock(self, envelope: Envelope) -> None:
        if (envelope.clock is None) != (self.clock is None):
            told = "tells no epoch, but this federation forgets" if envelope.clock is None else (
                f"tells the epoch {envelope.clock}, but this federation does not forget"
            )  # fmt: skip
            raise ProtocolError(f"a message of kind {envelope.message.kind!r} {told}: give all the same discount")

    def _met(self, envelope: Envelope) -> Any:
        """Return the message of an envelope as it counts now; if it is newer, what is known here is aged first."""
        assert envelope.clock is not None, "checked when it came"
        self.tick(envelope.clock)
        weight = self.weight_of(envelope.clock)
        return envelope.message if weight == 1.0 else cast(Forgets, self.side).aged(envelope.message, weight)
