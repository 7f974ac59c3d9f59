"""The one ledger: messages, scalars and bytes, from the envelopes that an engine carries."""

from __future__ import annotations

from dataclasses import dataclass

from fedbandit.nodes.envelope import HEADER_BYTES, Envelope
from fedbandit.wire import weigh


@dataclass(slots=True)
class Ledger:
    """Totals of a run. Signals (messages without arrays) steer the protocol and are counted apart.

    >>> Ledger().messages
    0
    """

    messages: int = 0
    scalars: int = 0
    bytes: int = 0
    uploads: int = 0
    downloads: int = 0
    signals: int = 0

    def record(self, envelope: Envelope) -> None:
        """Count an envelope: one message for each client at its other end."""
        transfers = len(envelope.clients)
        message = envelope.message
        if message.is_signal():
            self.signals += transfers
            return
        weight = weigh(message, transfers)
        self.messages += transfers
        self.scalars += weight.scalars
        self.bytes += weight.bytes + transfers * HEADER_BYTES
        if envelope.is_upload:
            self.uploads += transfers
        else:
            self.downloads += transfers
