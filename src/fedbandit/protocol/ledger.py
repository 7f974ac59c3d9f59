"""The one ledger: messages, scalars and bytes, from the envelopes that an engine carries."""

from __future__ import annotations

from dataclasses import dataclass

from fedbandit.core.interfaces import Outgoing
from fedbandit.core.messages import Message, Upload
from fedbandit.protocol.envelope import Envelope
from fedbandit.wire import weigh
from fedbandit.wire.header import CLOCK_BYTES, FORM_BYTES, HEADER_BYTES


@dataclass(slots=True)
class Ledger:
    """Totals of a run. Signals (messages without payload) steer the protocol and are counted apart; their bytes are
    counted with all others.

    >>> Ledger().messages
    0
    """

    messages: int = 0
    scalars: int = 0
    bytes: int = 0
    uploads: int = 0
    downloads: int = 0
    signals: int = 0

    @property
    def totals(self) -> tuple[int, int, int]:
        """Return messages, scalars and bytes."""
        return self.messages, self.scalars, self.bytes

    def record(self, sent: Envelope | Outgoing[Message], times: int = 1) -> None:
        """Count what is sent so many times: one message for each client at its other end."""
        clients, message = len(sent.clients), sent.message
        transfers = clients * times
        weight = weigh(message, clients)
        self.bytes += weight.bytes * times + transfers * HEADER_BYTES
        if isinstance(sent, Envelope):
            self.bytes += transfers * (CLOCK_BYTES * (sent.clock is not None) + FORM_BYTES * bool(sent.form))
        if message.is_signal():
            self.signals += transfers
            return
        self.messages += transfers
        self.scalars += weight.scalars * times
        if isinstance(message, Upload):
            self.uploads += transfers
        else:
            self.downloads += transfers
