"""The server node: the server side of one algorithm behind one door for envelopes."""

from __future__ import annotations

from typing import Any

import numpy as np

from fedbandit.core.arrays import Ints
from fedbandit.core.errors import ProtocolError
from fedbandit.core.interfaces import Server
from fedbandit.kernels.sequence import advance
from fedbandit.nodes.envelope import Envelope


class Seen:
    """Which uploads of one epoch have been taken in: all up to a number, and some that came early.

    >>> seen = Seen(clients=2)
    >>> one = np.array([1])
    >>> [seen.admit(one, np.array([number])).size for number in (2, 1, 2, 3)]
    [1, 1, 0, 1]
    """

    def __init__(self, clients: int) -> None:
        """Begin with nothing seen."""
        self._up_to = np.zeros(clients, dtype=np.int64)
        self._early: dict[int, set[int]] = {}

    def admit(self, senders: Ints, sequence: Ints) -> Ints:
        """Return the places of the senders whose upload is new, and remember them."""
        if not self._early and advance(self._up_to, senders, sequence):
            return np.arange(len(senders))
        for sender in senders.tolist():
            if not 0 <= sender < len(self._up_to):
                raise ProtocolError(f"an upload from client {sender}, but the roster has {len(self._up_to)} clients")
        pairs = zip(senders.tolist(), sequence.tolist(), strict=True)
        return np.flatnonzero([self._admit_one(sender, number) for sender, number in pairs])

    def _admit_one(self, sender: int, number: int) -> bool:
        early = self._early.get(sender, set())
        if number <= self._up_to[sender] or number in early:
            return False
        early.add(number)
        while int(self._up_to[sender]) + 1 in early:
            self._up_to[sender] += 1
            early.remove(int(self._up_to[sender]))
        self._early[sender] = early
        if not early:
            del self._early[sender]
        return True


class ServerNode:
    """Lets each upload through once, and numbers what the server sends."""

    def __init__(self, side: Server, clients: int, epoch: int = 0) -> None:
        """Start the server side of an algorithm for a roster of clients."""
        self.side = side
        self.state: Any = side.start(clients)
        self.epoch = epoch
        self._clients = clients
        self._seen: dict[int, Seen] = {}
        self._sent = 0

    def receive(self, envelope: Envelope) -> list[Envelope]:
        """Take in the uploads that are new; return what is to be carried to the clients."""
        if not envelope.is_upload or np.shape(envelope.sequence) != envelope.clients.shape:
            raise ProtocolError(
                f"the server takes uploads with a number for each sender, not {envelope.message.kind!r}"
            )
        seen = self._seen.get(envelope.epoch)
        if seen is None:
            seen = self._seen[envelope.epoch] = Seen(self._clients)
        new = seen.admit(envelope.clients, envelope.sequence)
        if not new.size:
            return []
        if new.size < len(envelope.clients):
            envelope = envelope.only(new)
        sealed = []
        for each in self.side.receive(self.state, envelope.clients, envelope.message):
            self._sent += 1
            sealed.append(Envelope(each.clients, each.message, self.epoch, np.asarray(self._sent)))
        return sealed
