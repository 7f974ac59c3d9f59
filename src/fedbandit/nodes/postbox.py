"""What a coordinator has to send, held back until what it rests on is safe; and what each site was sent last.

A download supersedes all earlier ones to the same site, so only the latest is kept, and it alone is sent again.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from fedbandit.core.arrays import Ints
from fedbandit.nodes.envelope import Envelope
from fedbandit.nodes.ledger import Ledger
from fedbandit.wire import decode, encode
from fedbandit.wire.frame import Frame


@dataclass
class Posted:
    """A download, and whose latest it is: what a snapshot of the coordinator keeps of it."""

    clients: Ints
    epoch: int
    sequence: int
    body: bytes


class Postbox:
    """Downloads by recipient, and answers in the order in which they were given."""

    def __init__(self) -> None:
        """Begin empty."""
        self.latest: dict[int, Envelope] = {}
        self._due: dict[int, Envelope] = {}
        self._answers: list[Frame] = []

    def post(self, envelope: Envelope) -> None:
        """Hold a download for all its recipients; it replaces what was held for them before."""
        for client in envelope.clients.tolist():
            self.latest[client] = self._due[client] = envelope

    def post_again(self, client: int, epoch: int, sequence: int) -> None:
        """Hold a site's latest download once more, if the site lacks it: its last one has these numbers."""
        latest = self.latest.get(client)
        if latest is not None and (latest.epoch, int(latest.sequence)) > (epoch, sequence):
            self._due[client] = latest

    def answer(self, frame: Frame) -> None:
        """Hold anything else for the site that it names."""
        self._answers.append(frame)

    def take(self, ledger: Ledger) -> list[tuple[int, bytes]]:
        """Return all that is held, as (site, frame), and count the downloads."""
        taken = [(frame.client, frame.to_bytes()) for frame in self._answers]
        for envelope in _by_recipients(self._due):
            ledger.record(envelope)
            taken += [(frame.client, frame.to_bytes()) for frame in envelope.frames()]
        self.drop()
        return taken

    def drop(self) -> None:
        """Forget what is held; the latest download of each site is known all the same."""
        self._due.clear()
        self._answers.clear()

    def memory(self) -> list[Posted]:
        """Return the latest downloads, to be kept in a snapshot."""
        return [
            Posted(each.clients, each.epoch, int(each.sequence), encode(each.message))
            for each in _by_recipients(self.latest)
        ]

    def recall(self, memory: list[Posted]) -> None:
        """Go on from what was kept."""
        self.drop()
        self.latest = {}
        for each in memory:
            envelope = Envelope(each.clients, decode(each.body), each.epoch, np.array(each.sequence))
            self.latest |= dict.fromkeys(each.clients.tolist(), envelope)


def _by_recipients(envelopes: dict[int, Envelope]) -> list[Envelope]:
    """Return each distinct envelope once, with those recipients that it stands for here."""
    recipients: dict[int, tuple[Envelope, list[int]]] = {}
    for client, envelope in envelopes.items():
        recipients.setdefault(id(envelope), (envelope, []))[1].append(client)
    return [
        Envelope(np.array(clients), envelope.message, envelope.epoch, envelope.sequence)
        for envelope, clients in recipients.values()
    ]
