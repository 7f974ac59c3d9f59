"""The server that remembers each client: it merges uploads, and pushes snapshots to whoever lacks enough.

See `kernels.linear.download_check` for what it remembers, and how it finds whom to send a download.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from fedbandit.algorithms.linear.shared import encoding
from fedbandit.algorithms.linear.shared.carrying_over import matrices
from fedbandit.algorithms.linear.shared.forgetting import age_contacts, set_levels
from fedbandit.algorithms.linear.shared.messages import Hello, Sums, Welcome
from fedbandit.algorithms.linear.shared.summing_server import SummingServer
from fedbandit.algorithms.linear.shared.ways import Way
from fedbandit.core.arrays import Floats, Ints
from fedbandit.core.bounds import SLACK, Bounds, check_invertible, is_lost_in
from fedbandit.core.errors import ProtocolError
from fedbandit.core.former_names import formerly
from fedbandit.core.interfaces import Outgoing
from fedbandit.core.messages import Download, Upload
from fedbandit.core.taking_many import LookedOver
from fedbandit.kernels.linear.download_check import (
    Contacts,
    Copies,
    meet,
    merge_and_check,
    no_contacts,
    note_download,
)
from fedbandit.kernels.linear.many_uploads import (
    find_excess,
    largest_trace,
    merge_some,
    trace_of_all,
)
from fedbandit.kernels.linear.ridge import factorise, trace_of
from fedbandit.kernels.linear.snapshots import free_slot
from fedbandit.kernels.shared.rows import doubled_array


@formerly("ServerState")
@dataclass
class AsyncServerState:
    """The sums over all uploads, and what the server remembers of each client."""

    gram: Floats  # V_g
    moment: Floats  # b_g
    uploads: int
    version: int
    contacts: Contacts
    copies: Copies
    rows: int  # copies of clients' own in use


class PushServer(SummingServer[AsyncServerState]):
    """Merges uploads and sends each client a snapshot when what it lacks has grown enough."""

    def __init__(self, ridge: float, dimension: int, growths: Floats, way: Way) -> None:
        """Take the regularisation, and each client's growth of log det beyond which it is owed a download."""
        super().__init__(ridge, dimension, way)
        self.sizes = {"d": dimension}
        self.log_gammas = growths

    def start(self, clients: int) -> AsyncServerState:
        """Return a server that has met nobody."""
        size = self.dimension
        return AsyncServerState(
            gram=np.zeros((size, size)),
            moment=np.zeros(size),
            uploads=0,
            version=0,
            contacts=no_contacts(clients),
            copies=Copies(np.zeros((4, size, size)), np.zeros(4, dtype=np.int64), np.zeros((4, size, size))),
            rows=0,
        )

    def receive(
        self, state: AsyncServerState, senders: Ints, message: Sums | Hello | Welcome
    ) -> Sequence[Outgoing[Download]]:
        """Meet the senders, or merge what they upload and send whoever is owed a download the new snapshot."""
        if not isinstance(message, Sums):
            for sender in senders.tolist():
                if state.contacts.level[sender] == np.inf:
                    meet(state.contacts, sender, self.ridge, self.dimension, self.log_gammas[sender])
            return self._share_all(state, senders) if isinstance(message, Welcome) and state.uploads else ()
        gram, moment = message.sums()
        return [
            outgoing
            for each, sender in enumerate(senders.tolist())
            for outgoing in self._merge(state, sender, gram[each], moment[each])
        ]

    def check(
        self, state: AsyncServerState, sender: int, message: Sums | Hello | Welcome, bounds: Bounds, observations: int  # noqa: ARG002
    ) -> None:  # fmt: skip
        """Refuse sums after which V_g, or what was shared with the sender, could not be inverted."""
        if isinstance(message, Sums):
            gram = message.sums()[0][0]
            new = trace_of(gram)
            for total in (state.gram, self._shared_with(state, sender)):
                if is_lost_in(trace_of(total) + new, self.dimension, self.ridge):
                    check_invertible(total, gram, self.ridge)

    def look_over(self, state: AsyncServerState, senders: Ints, message: Upload, bounds: Bounds) -> LookedOver | None:
        """Return what uploads of clients that have sent some before tell, if all of them are as they should be."""
        contacts, copies = state.contacts, state.copies
        if not isinstance(message, Sums) or (contacts.row_of[senders] < 0).any() or (message.observations < 1).any():
            return None
        try:
            message.check(bounds)
        except ProtocolError:
            return None
        grams, moments = message.sums()
        excess = np.zeros(len(senders))
        if self.rounding:
            find_excess(grams, moments, message.observations, bounds.context, bounds.reward, SLACK, excess)
        shared = largest_trace(copies.common, copies.own, contacts.slot_of, contacts.row_of, senders)
        largest = max(trace_of(state.gram), shared) + trace_of_all(grams)
        return None if is_lost_in(largest, self.dimension, self.ridge) else LookedOver(message.observations, excess)

    def receive_some(
        self, state: AsyncServerState, senders: Ints, message: Sums, first: int
    ) -> tuple[int, Sequence[Outgoing[Download]]]:
        """Merge uploads up to one after which some are owed a download; return how many, and the downloads."""
        self._make_room(state)
        found = np.empty(len(state.contacts.level), dtype=np.int64)
        taken, owed = merge_some(
            state.gram, state.moment, *state.contacts, *state.copies, senders, *message.sums(), first, state.uploads,
            self.ridge, self.log_gammas, np.empty_like(state.gram), found,
        )  # fmt: skip
        state.uploads += taken
        return taken, self._send(state, found[:owed].copy()) if owed else ()

    def revised(self, state: AsyncServerState, before: Any, places: Ints | None = None) -> AsyncServerState:
        """Carry sums over; compare with what thresholds make of the copies last shared, from the next upload on."""
        state = super().revised(state, before, places)
        if places is not None:
            common, own = matrices(state.copies.common, places), matrices(state.copies.own, places)
            state.copies = Copies(common, state.copies.users, own)
        if places is not None or (before.log_gammas != self.log_gammas).any():
            set_levels(state.contacts, state.copies, self.log_gammas, self.ridge)
        return state

    def age(self, state: AsyncServerState, weight: float) -> None:
        """Let all uploads so far count for less, in the sums and in the copies last shared with clients."""
        super().age(state, weight)
        age_contacts(state.contacts, state.copies, self.log_gammas, self.ridge, weight)

    def _shared_with(self, state: AsyncServerState, client: int) -> Floats:
        slot, row = state.contacts.slot_of[client], state.contacts.row_of[client]
        if slot >= 0:
            return np.asarray(state.copies.common[slot])
        return np.asarray(state.copies.own[row]) if row >= 0 else np.zeros_like(state.gram)

    def _merge(
        self, state: AsyncServerState, sender: int, gram: Floats, moment: Floats
    ) -> Sequence[Outgoing[Download]]:
        row = state.contacts.row_of[sender]
        if row < 0:
            row, state.rows = state.rows, state.rows + 1
            if row == len(state.copies.own):
                state.copies = state.copies._replace(own=doubled_array(state.copies.own))
        self._make_room(state)
        state.uploads += 1
        clients = merge_and_check(
            state.gram, state.moment, state.contacts, state.copies, sender, row, gram, moment, state.uploads,
            self.ridge, self.log_gammas,
        )  # fmt: skip
        return self._send(state, clients) if clients.size else ()

    def tell_anew(self, state: AsyncServerState, to: Ints) -> Sequence[Outgoing[Download]]:
        """Send all that there is to those of the clients whom it has met, also if that is nothing."""
        met = to[state.contacts.level[to] != np.inf]
        return self._share_all(state, met) if met.size else ()

    def _share_all(self, state: AsyncServerState, clients: Ints) -> Sequence[Outgoing[Download]]:
        """Send clients all that there is; they lack nothing then."""
        self._make_room(state)
        note_download(
            state.contacts, state.copies, clients, state.gram, state.uploads,
            self.log_gammas, factorise(state.gram, self.ridge, np.empty_like(state.gram)),
        )  # fmt: skip
        return self._send(state, clients)

    def _send(self, state: AsyncServerState, clients: Ints) -> Sequence[Outgoing[Download]]:
        state.version += 1
        return (Outgoing(clients, encoding.download(self.precision, state.gram, state.moment, self.ridge, None)),)

    def _make_room(self, state: AsyncServerState) -> None:
        if free_slot(state.copies.users) < 0:
            state.copies = state.copies._replace(
                common=doubled_array(state.copies.common), users=doubled_array(state.copies.users)
            )
