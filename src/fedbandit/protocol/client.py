"""The client node: a cohort of one or many clients behind one door for envelopes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from fedbandit.core.arrays import Floats, Ints
from fedbandit.core.drawn import Drawn
from fedbandit.core.errors import ProtocolError
from fedbandit.core.interfaces import Clients, Decided, Federation, Outgoing
from fedbandit.core.messages import Download, Upload
from fedbandit.core.turns import Observations, Turns
from fedbandit.protocol.envelope import Envelope
from fedbandit.protocol.fading import FadingNode
from fedbandit.protocol.held_uploads import lacks_of
from fedbandit.protocol.schema import Schema
from fedbandit.protocol.sequence import raise_to


class Sent(NamedTuple):
    """What a block of turns came to: the choices made and what is sent, perhaps as a question of the next turn."""

    decided: Decided
    envelopes: list[Envelope]
    asks: bool


class ClientNode(FadingNode[Clients]):
    """Numbers what its clients send, and lets through only downloads that are newer than the last.

    Within, clients are counted from 0; `first` is what the outside calls the first of them.
    """

    def __init__(self, side: Clients, clients: int, first: int = 0) -> None:
        """Start the client side of an algorithm for a cohort."""
        self.side = side
        self.clients = clients
        self.first = first
        self.state: Any = side.start(clients)
        self._start_clock(side)
        self.epoch = 0
        self.sent = np.zeros(clients, dtype=np.int64)
        self.received = np.zeros(clients, dtype=np.int64)
        self.server_epoch = 0  # the server's present life: what an earlier one sent is late for ever

    def decide(self, who: Ints, features: Floats, draws: Floats) -> Decided:
        """Return the choice of each acting client."""
        return self.side.decide(self.state, who, features, draws)

    def learn(self, who: Ints, seen: Observations) -> list[Envelope]:
        """Take in observations; return what is to be carried to the server."""
        return self._seal(self.side.learn(self.state, who, seen))

    def ask(self, who: Ints, made: Ints | None = None, is_opened: bool = False) -> list[Envelope]:
        """Return what clients that are about to act ask the server."""
        return self._seal(self.side.ask(self.state, who, made, is_opened))

    def play(self, turns: Turns, start: int, draws: Floats) -> Sent:
        """Play turns from `start` until something is to be sent; return the choices made and what is sent."""
        played = self.side.play(self.state, turns, start, draws)
        return Sent(Decided(played.choices, played.propensity), self._seal(played.outgoing), played.asks)

    @property
    def warnings(self) -> Sequence[str]:
        """Return what whoever runs the clients should know and act on."""
        return self.side.warnings(self.state)

    @property
    def warnings_at_the_end(self) -> Sequence[str]:
        """Return what whoever has run the clients should know, now that no turn is to come."""
        return self.side.warnings(self.state, ended=True)

    def receive(self, envelope: Envelope, drawn: Drawn | None = None) -> list[Envelope]:
        """Take in a download, except at clients that have had it or a later one; return the answers.

        `drawn` is what these may need of randomness.
        """
        if envelope.is_upload or np.ndim(envelope.sequence):
            raise ProtocolError(f"a client takes downloads, not {envelope.message.kind!r}")
        if envelope.form != self.form:
            envelope = self.carried_over(envelope)
        if envelope.clock != self.clock:
            self._check_clock(envelope)
        if envelope.epoch != self.server_epoch:
            if envelope.epoch < self.server_epoch:
                return []
            self.server_epoch = envelope.epoch
            self.received[:] = 0
        to = envelope.clients - self.first if self.first else envelope.clients
        if not raise_to(self.received, to, int(envelope.sequence)):
            for client in to.tolist():
                if not 0 <= client < self.clients:
                    raise ProtocolError(f"a download to client {client + self.first}, who is not here")
            to = to[self.received[to] < envelope.sequence]
            if not to.size:
                return []
            envelope = envelope.only(np.flatnonzero(np.isin(envelope.clients, to + self.first)))
            self.received[to] = envelope.sequence
        message = envelope.message if envelope.clock == self.clock else self._met(envelope)
        return self._seal(self._take_in(to, message, drawn))

    def schema_of(self, form: int) -> Schema:
        """Return what downloads of a form look like."""
        return self._known(form).schema(form, Download)

    def fitted(self, vectors: Floats, form: int) -> Floats:
        """Return vectors of features of a form as they are in the present one."""
        return vectors if form == self.form else self._known(form).fitted(vectors, form)

    def as_they_were(self, vectors: Floats, form: int) -> Floats:
        """Return vectors of features of the present form as they are in an earlier one."""
        return vectors if form == self.form else self._known(form).as_they_were(vectors, form)

    def _mine(self, sides: Federation) -> Clients:
        return sides.clients

    def _take_in(self, to: Ints, message: Any, drawn: Drawn | None) -> Sequence[Outgoing[Upload]]:
        if message.tells_what_it_holds():
            lacks = lacks_of(message.holds, self.epoch, self.sent, to)
            if lacks is not None:
                return self.side.receive_late(self.state, to, message, lacks)
        if drawn is not None:
            return self.side.receive_drawn(self.state, to, message, drawn)
        return self.side.receive(self.state, to, message)

    def _seal(self, outgoing: Sequence[Outgoing[Upload]]) -> list[Envelope]:
        sealed = []
        for each in outgoing:
            sequence = self.sent[each.clients] + 1
            self.sent[each.clients] = sequence
            names = each.clients + self.first if self.first else each.clients
            sealed.append(Envelope(names, each.message, self.epoch, sequence, self.clock, self.form))
        return sealed
