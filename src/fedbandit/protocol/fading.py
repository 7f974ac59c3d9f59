"""How nodes of a federation that forgets keep sums of different epochs apart, and add them right.

All that a node knows counts as of one epoch, its clock, and each envelope says as of which epoch its sums count. The
older of the two is aged to the newer before they meet. Since ageing is a multiplication, the order in which envelopes
arrive does not matter, nor how late they are. Which epoch it is, a node is told (`tick`); there is no clock here.

Where a server may let all be forgotten (`Side.may_restart`), a clock is restarts * SPAN + epoch: what was observed
before a restart counts nothing after it, whatever the epochs are.
"""

from __future__ import annotations

from typing import Any, Generic, TypeVar, cast

from fedbandit.core.errors import InvalidInput, ProtocolError
from fedbandit.core.forgetting import Forgets
from fedbandit.core.interfaces import Side
from fedbandit.protocol.envelope import Envelope

AnySide = TypeVar("AnySide", bound=Side)

SPAN = 1 << 48  # what a restart adds to a clock of 64 bits
_NO_RESTARTS = 1 << 64


class FadingNode(Generic[AnySide]):
    """The part of a node that keeps what it knows at one epoch; where nothing is ever forgotten its clock is None."""

    side: AnySide
    state: Any
    clock: int | None

    def _start_clock(self, side: Side) -> None:
        self.discount = side.discount
        self._span = SPAN if side.may_restart else _NO_RESTARTS
        self.clock = 0 if side.discount < 1.0 or side.may_restart else None

    def take_up(self, side: AnySide) -> None:
        """Go on with the side of another revision of the charter."""
        self.state = side.revised(self.state, self.side)
        self.side = side

    def tick(self, epoch: int) -> None:
        """Hear that an epoch has begun; one that is not later than the clock changes nothing."""
        if self.clock is not None and epoch > self.clock % self._span:
            if epoch >= self._span:
                raise InvalidInput(f"epoch must be below {self._span}, not {epoch}: count from a later beginning")
            self._reach(epoch)

    def weight_of(self, clock: int) -> float:
        """Return what an observation counts now that was made when the clock showed this."""
        if self.clock is None:
            return 1.0
        (restarts, epoch), (before, made) = divmod(self.clock, self._span), divmod(clock, self._span)
        return self.discount ** max(0, epoch - made) if before >= restarts else 0.0

    def _reach(self, clock: int) -> None:
        """Let the clock show the later number of restarts and the later epoch of two, and age what is known."""
        assert self.clock is not None, "asked before"
        pairs = zip(divmod(self.clock, self._span), divmod(clock, self._span), strict=True)
        restarts, epoch = (max(pair) for pair in pairs)
        before, self.clock = self.clock, restarts * self._span + epoch
        if self.clock > before:
            cast(Forgets, self.side).age(self.state, self.weight_of(before))

    def _check_clock(self, envelope: Envelope) -> None:
        if (envelope.clock is None) != (self.clock is None):
            told = "tells no epoch, but this federation forgets" if envelope.clock is None else (
                f"tells the epoch {envelope.clock}, but this federation does not forget"
            )  # fmt: skip
            raise ProtocolError(f"a message of kind {envelope.message.kind!r} {told}: give all the same discount")

    def _met(self, envelope: Envelope) -> Any:
        """Return the message of an envelope as it counts now; if it is newer, what is known here is aged first."""
        assert envelope.clock is not None, "checked when it came"
        self._reach(envelope.clock)
        weight = self.weight_of(envelope.clock)
        return envelope.message if weight == 1.0 else cast(Forgets, self.side).aged(envelope.message, weight)
