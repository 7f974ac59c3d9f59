"""The server node: the server side of one algorithm behind one door for envelopes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from fedbandit.core.arrays import Ints
from fedbandit.core.bounds import Bounds
from fedbandit.core.deadlines import ChecksSums, GivesUp, MeetsDeadlines
from fedbandit.core.erasing import CountsOn, TellsAnew
from fedbandit.core.errors import ProtocolError
from fedbandit.core.interfaces import Federation, Outgoing, Server
from fedbandit.core.messages import Download, Upload
from fedbandit.core.taking_many import TakesMany
from fedbandit.protocol.envelope import Envelope
from fedbandit.protocol.fading import SPAN, FadingNode
from fedbandit.protocol.held_uploads import nothing_told, stamp, stamps
from fedbandit.protocol.seen import Seen

NOBODY = np.empty(0, dtype=np.int64)


class Number(NamedTuple):
    """What an upload is known by."""

    client: int
    epoch: int
    sequence: int


@dataclass
class ServerMemory:
    """All that a server node must remember to go on after a restart."""

    epoch: int
    sent: int
    seen: Seen
    state: Any
    stamps: Ints | None = (
        None  # (clients,) up to where each one's uploads are in (`protocol.held_uploads`); None: 0.1.0
    )
    clock: int | None = None  # the epoch as of which the state counts, where it forgets


class ServerNode(FadingNode[Server]):
    """Lets each upload through once, numbers what the server sends, and says in it what it holds."""

    def __init__(self, side: Server, clients: int, epoch: int = 0) -> None:
        """Start the server side of an algorithm for a roster of clients."""
        self.side = side
        self._start_clock(side)
        nothing = nothing_told(clients)
        self.recall(ServerMemory(epoch, 0, Seen.nothing(clients), side.start(clients), nothing, self.clock))

    @property
    def side(self) -> Server:
        """Return the server side. What it can do is found out once, when it is set: it is asked for every upload."""
        return self._side

    @side.setter
    def side(self, side: Server) -> None:
        self._side = side
        self._in_rounds = side if isinstance(side, MeetsDeadlines) else None
        self._with_sums = side if isinstance(side, ChecksSums) else None
        self._with_many = side if isinstance(side, TakesMany) else None

    def recall(self, memory: ServerMemory) -> None:
        """Go on from what a node remembered; it belongs to this node from now on."""
        self.epoch, self.sent, self.seen, self.state = memory.epoch, memory.sent, memory.seen, memory.state
        self.clock = memory.clock
        clients = len(memory.seen.in_order)
        self.stamps = np.zeros(clients, dtype=np.int64) if memory.stamps is None else memory.stamps

    @property
    def memory(self) -> ServerMemory:
        """Return what is to be remembered, not copied."""
        return ServerMemory(self.epoch, self.sent, self.seen, self.state, self.stamps, self.clock)

    def receive(self, envelope: Envelope) -> list[Envelope]:
        """Take in the uploads that are new; return what is to be carried to the clients."""
        if not envelope.is_upload or np.shape(envelope.sequence) != envelope.clients.shape:
            raise ProtocolError(
                f"the server takes uploads with a number for each sender, not {envelope.message.kind!r}"
            )
        if envelope.clock != self.clock:
            self._check_clock(envelope)
            self._check_restarts(envelope)
        new = self.seen.admit(envelope.epoch, envelope.clients, envelope.sequence)
        if not new.size:
            return []
        if new.size < len(envelope.clients):
            envelope = envelope.only(new)
        return self.merge(envelope)

    def merge(self, envelope: Envelope) -> list[Envelope]:
        """Take in uploads that are known to be new; return what is to be carried to the clients."""
        if envelope.form != self.form:
            envelope = self.carried_over(envelope)
        self.stamps[envelope.clients] = stamps(envelope.epoch, envelope.clients, self.seen)
        message = envelope.message if envelope.clock == self.clock else self._met(envelope)
        outgoing = self.side.receive(self.state, envelope.clients, message)
        if self.side.may_restart:
            self._reach(self.side.restarts(self.state) * SPAN)
        return self._seal(outgoing)

    @property
    def takes_many(self) -> TakesMany | None:
        """Return the side if uploads may be handed to it together: it has no epochs of forgetting to keep apart."""
        return self._with_many if self.clock is None else None

    def merge_some(
        self, numbers: Sequence[Number], senders: Ints, message: Upload, first: int
    ) -> tuple[int, list[Envelope]]:
        """Take in checked uploads of the present form from the place `first` on; each is the next of its sender.

        Stop after the first that causes downloads; return how many were taken in, and the downloads.
        """
        assert self._with_many is not None, "asked before"
        taken, outgoing = self._with_many.receive_some(self.state, senders, message, first)
        for client, epoch, sequence in numbers[first : first + taken]:
            self.seen.open(client, epoch).admit(sequence)
            self.stamps[client] = stamp(epoch, self.seen, client)
        return taken, self._seal(outgoing)

    def _mine(self, sides: Federation) -> Server:
        return sides.server

    def _check_restarts(self, envelope: Envelope) -> None:
        if envelope.clock is not None and self.clock is not None:
            told, begun = envelope.clock // self._span, self.clock // self._span
            if told > begun:
                raise ProtocolError(
                    f"client {int(envelope.clients[0])} tells of restart {told}, and this server has begun {begun}: "
                    "it heard that of another server, so start it anew"
                )

    def awaited(self) -> Ints:
        """Return the clients for whose uploads the server side waits; a deadline would go on without them."""
        return NOBODY if self._in_rounds is None else self._in_rounds.awaited(self.state)

    def deadline(self) -> list[Envelope]:
        """Close the round that is open, if any, without those who have not answered."""
        return [] if self._in_rounds is None else self._seal(self._in_rounds.deadline(self.state))

    def abandon(self) -> list[Envelope]:
        """Give up the secure aggregation that is under way, if any: see `core.deadlines`."""
        return self._seal(self.side.abandon(self.state)) if isinstance(self.side, GivesUp) else []

    def sum_limits(self) -> Bounds | None:
        """Return the limits by which sums over several clients are checked; None: there are no such sums."""
        return None if self._with_sums is None else self._with_sums.sum_limits(self.state)

    def limit_sums(self, limits: Bounds) -> None:
        """Check sums over several clients by other limits from now on."""
        if self._with_sums is not None:
            self._with_sums.limit_sums(self.state, limits)

    def tell_anew(self, to: Ints, epoch: int, number: int = 0) -> list[Envelope]:
        """Tell clients all that there is in a new epoch, in place of all before; they have heard of numbers so high."""
        self.epoch, self.sent = epoch, 0
        if isinstance(self.side, CountsOn):
            self.side.count_on(self.state, number)
        return self._seal(self.side.tell_anew(self.state, to)) if isinstance(self.side, TellsAnew) else []

    def _seal(self, outgoing: Sequence[Outgoing[Download]]) -> list[Envelope]:
        sealed = []
        for each in outgoing:
            self.sent += 1
            message = each.message
            if message.tells_what_it_holds():
                message = message.holding(self.stamps.take(each.clients))
            sealed.append(Envelope(each.clients, message, self.epoch, np.asarray(self.sent), self.clock, self.form))
        return sealed
