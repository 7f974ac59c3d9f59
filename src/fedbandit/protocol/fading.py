"""How nodes of a federation that forgets keep sums of different epochs apart, and add them right.

All that a node knows counts as of one epoch, its clock, and each envelope says as of which epoch its sums count. The
older of the two is aged to the newer before they meet. Since ageing is a multiplication, the order in which envelopes
arrive does not matter, nor how late they are. Which epoch it is, a node is told (`tick`); there is no clock here.

Where a server may let all be forgotten (`Side.may_restart`), a clock is restarts * SPAN + epoch: what was observed
before a restart counts nothing after it, whatever the epochs are.
"""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import replace
from typing import Any, Generic, TypeVar, cast

from fedbandit.core.around import innermost
from fedbandit.core.errors import InvalidInput, ProtocolError
from fedbandit.core.forgetting import Forgets
from fedbandit.core.interfaces import Federation
from fedbandit.core.side import Side
from fedbandit.protocol.envelope import Envelope
from fedbandit.protocol.forms import Forms
from fedbandit.protocol.revisions import Agreed

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

    form: int = 0  # in which its sums are: see `protocol.forms`
    _forms: Forms | None = None

    def know(self, agreed: Agreed) -> None:
        """Hear in which forms messages may come, and in which its own are."""
        self._forms = Forms(agreed)
        self.form = self._forms.present

    def take_up(self, side: AnySide, agreed: Agreed) -> None:
        """Go on with the side of another revision of the charter."""
        self.state, self.side = self.revised(self.state, side, agreed), side
        self.know(agreed)

    def revised(self, state: Any, side: AnySide, agreed: Agreed) -> Any:
        """Return a state of the side that this node runs as it is with that of a later revision, form after form."""
        before, forms = innermost(self.side), Forms(agreed)
        if not forms.knows(self.form):
            raise InvalidInput("a revision that knows nothing of the form in which sums are here")
        for sides, places in forms.steps(self.form):
            between = self._mine(sides)
            state, before = between.revised(state, before, places), innermost(between)
        return side.revised(state, before)

    @abstractmethod
    def _mine(self, sides: Federation) -> AnySide:
        """Return the side that this node runs."""

    def knows(self, form: int) -> bool:
        """Tell whether messages of a form can be read here."""
        return form == self.form or (self._forms is not None and self._forms.knows(form))

    def carried_over(self, envelope: Envelope) -> Envelope:
        """Return an envelope as it is in the form that sums have here."""
        if envelope.form == self.form:
            return envelope
        forms = self._known(envelope.form)
        return replace(envelope, message=forms.carried_over(envelope.message, envelope.form), form=self.form)

    def _known(self, form: int) -> Forms:
        if self._forms is None or not self._forms.knows(form):
            raise ProtocolError(f"a message in the form {form}, which is not known here")
        return self._forms

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
