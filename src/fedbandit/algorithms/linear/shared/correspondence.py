"""How linear clients deal with their server: what they send, what they ask, and how they hear.

Which of it applies says the `Way`. A carrier that takes time (a site's node) says whether something is on the way; a
client of the ways in which the server remembers nothing of it then sends nothing else, so that what it says of itself
in a question is true when it arrives.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from fedbandit.algorithms.linear.shared import encoding
from fedbandit.algorithms.linear.shared.choosing import ChoosingClients
from fedbandit.algorithms.linear.shared.cohort import LinearCohortState
from fedbandit.algorithms.linear.shared.exchange import note_signal, note_upload, uploads_lacking
from fedbandit.algorithms.linear.shared.messages import Answer, FactorAnswer, Hello, Shared, Sums, Welcome
from fedbandit.algorithms.linear.shared.ways import Delivery, Way
from fedbandit.core.arrays import Bools, Floats, Ints
from fedbandit.core.interfaces import Outgoing
from fedbandit.core.messages import Upload, one_row
from fedbandit.kernels.linear import ridge_rows as kernel
from fedbandit.kernels.linear.ridge import factorise
from fedbandit.kernels.linear.snapshots import free_slot, point_at_once
from fedbandit.kernels.linear.turns import UPLOAD
from fedbandit.kernels.shared.rows import doubled


class Correspondents(ChoosingClients):
    """Clients that exchange sums with a server."""

    way: Way
    greets: Bools  # (clients,) whether it says hello at its first turn
    dimension: int
    ridge: float

    def news(self, state: Any, client: Ints, why: int) -> Sequence[Outgoing[Upload]]:
        """Return what one client sends after a turn: its upload, or at its first turn a hello."""
        exchange, row = state.exchange, int(state.row_of[client[0]])
        if why == UPLOAD:
            if exchange.waits[row]:
                return ()
            exchange.waits[row] = self.way.delivery is Delivery.REPLY
            return (Outgoing(client, self.flush(state, client)),)
        if not self.greets[client[0]]:
            return ()
        note_signal(exchange, row)
        return (Outgoing(client, Hello()),)

    def ask(
        self, state: LinearCohortState, who: Ints, made: Ints | None = None, is_opened: bool = False
    ) -> Sequence[Outgoing[Upload]]:
        """Return the questions of those for whom it is time: before a first turn, and then ever more rarely."""
        if not self.asks:
            return ()
        outgoing: list[Outgoing[Upload]] = []
        for each, client in enumerate(who.tolist()):
            row = self.settle(state, client)
            exchange = state.exchange
            turns = int(state.rows.turns[row] if made is None else made[each])
            is_back = is_opened and turns > 0 and self.way.delivery is Delivery.TURN
            if not (is_back or turns >= exchange.next_ask[row]):
                continue
            if exchange.waits[row]:
                exchange.next_ask[row] = turns + 1 if made is None else exchange.next_ask[row]
                continue
            is_first = exchange.next_ask[row] == 0
            exchange.next_ask[row] = self.way.ask_after(turns)
            note_signal(exchange, row)
            question = Welcome() if is_first else self.way.question(*self._standing(state, row))
            outgoing.append(Outgoing(who[each : each + 1], question))
        return outgoing

    def on_the_way(self, state: LinearCohortState, who: Ints, is_any: bool) -> None:
        """Let clients that tell the server what they know wait until it has all that they sent."""
        if self.way.delivery.answers or self.way.delivery is Delivery.REPLY:
            row = state.row_of[who]
            state.exchange.waits[row[row >= 0]] = is_any

    def flush(self, state: LinearCohortState, who: Ints) -> Sums:
        """Empty the upload buffers of clients that have acted, but for what rounding leaves, into a message."""
        row = state.row_of[who]
        gram, moment, observations = kernel.flush(state.rows, row)
        asked = self._asked_by_upload(state, row) if self.way.delivery is Delivery.UPLOAD else ()
        sent = encoding.upload(self.way.sums, self.way.precision, gram, moment, observations, asked)
        if self.way.precision != "float64":
            state.rows.new_gram[row] = gram - sent.gram
            state.rows.new_moment[row] = moment - sent.moment
        for each, one in enumerate(row.tolist()):
            note_upload(state.exchange, one, sent.gram[each], sent.moment[each])
        return sent.message

    def receive(self, state: LinearCohortState, to: Ints, message: Shared) -> Sequence[Outgoing[Upload]]:
        """Note the snapshot for each recipient; it is taken in when the client next acts."""
        slot = self._note(state, message)
        point_at_once(state.slot_of, state.shared.users, to, slot)
        if isinstance(message, Answer | FactorAnswer):
            state.exchange.known[state.row_of[to]] = message.version
        elif self.way.delivery is Delivery.REPLY:
            row = state.row_of[to]
            state.exchange.waits[row[row >= 0]] = False
        return ()

    def receive_late(
        self, state: LinearCohortState, to: Ints, message: Shared, lacks: Ints
    ) -> Sequence[Outgoing[Upload]]:
        """Take in a snapshot that lacks uploads of its recipients, with these; drop it where they are not known."""
        for each, client in enumerate(to.tolist()):
            row = self.settle(state, client)
            lacking = uploads_lacking(state.exchange, row, int(lacks[each]))
            if lacking is not None:
                self._take_in_with(state, row, self._note(state, message), lacking)
                if isinstance(message, Answer | FactorAnswer):
                    state.exchange.known[row] = message.version + len(lacking)
        return ()

    def _take_in_with(self, state: LinearCohortState, row: int, slot: int, lacking: list[int]) -> None:
        """Apply a download that lacks some of a client's uploads: V_i := V_g + P_i + dV_i."""
        rows, exchange, scratch = state.rows, state.exchange, kernel.scratch_for(0, self.dimension)
        own = [each[row].copy() for each in (rows.new_gram, rows.new_moment, rows.fresh)]
        for place in reversed(lacking):
            rows.new_gram[row] += exchange.sent_gram[row, place]
            rows.new_moment[row] += exchange.sent_moment[row, place]
        rows.fresh[row] += len(lacking)
        shared = state.shared.gram[slot] + (rows.new_gram[row] - own[0])
        self.kernels.take_in(rows, self.scored(state), row, state.shared, slot, self.rule, scratch)
        rows.new_gram[row], rows.new_moment[row], rows.fresh[row] = own
        self.regrow(state, row, shared)

    def regrow(self, state: LinearCohortState, row: int, shared: Floats) -> None:
        """Note by how much a client's own data add to what is now shared with it."""
        rows, upper = state.rows, np.empty_like(shared)
        rows.growth[row] = rows.log_det[row] - factorise(shared, self.ridge, upper) if rows.fresh[row] else 0.0

    def _note(self, state: LinearCohortState, message: Shared) -> int:
        """Write a snapshot to a slot that nobody points at; return the slot."""
        slot = free_slot(state.shared.users)
        if slot < 0:
            slot = len(state.shared.users)
            state.shared = doubled(state.shared)
        state.shared.gram[slot], state.shared.moment[slot] = message.sums(self.ridge)
        state.shared.ready[slot] = False
        return slot

    def _standing(self, state: LinearCohortState, row: int) -> tuple[Ints, Floats]:
        """Return what a client knows, as a question tells it: how many uploads, and the level of the copy last shared.

        Where sums fade, it tells the eigenvalues of the copy, from which its level follows when they have faded.
        """
        rows, known = state.rows, state.exchange.known[row : row + 1]
        if self.way.fades:
            return known, one_row(np.linalg.eigvalsh(rows.gram[row] - rows.new_gram[row]))
        return known, one_row(rows.log_det[row] - rows.growth[row])

    def _asked_by_upload(self, state: LinearCohortState, row: Ints) -> tuple[Ints, Floats]:
        """Return the same of clients whose buffers have just been emptied, and are known to the server soon."""
        standing = np.linalg.eigvalsh(state.rows.gram[row]) if self.way.fades else state.rows.log_det[row]
        return state.exchange.known[row] + 1, standing
