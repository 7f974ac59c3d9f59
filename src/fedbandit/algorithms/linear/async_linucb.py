"""Async-LinUCB: Li and Wang, "Asynchronous Upper Confidence Bound Algorithms for Federated Linear Bandits", 2022.

Algorithms 1 and 2. After its turn client i uploads dV_i, db_i iff (equation 3)

    det(V_i + ridge I) > upload_threshold * det(V_i - dV_i + ridge I).

After an upload the server adds it to V_g, b_g and sends them to every client j it has met for which (equation 4)

    det(V_g + ridge I) > download_threshold * det(V_g - dV_-j + ridge I),

where dV_-j is what others uploaded since j's last download; an empty dV_-j never causes one. Both tests are strict. A
client is met at its first turn, of which it tells the server by a signal unless it uploads then anyway.

`local-linucb` is the same with infinite thresholds.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from fedbandit.algorithms.linear.shared.family import (
    Hello,
    LinearAlgorithm,
    LinearClients,
    Snapshot,
    Statistics,
    per_client,
)
from fedbandit.algorithms.linear.shared.forgetting import age_arrays, age_contacts
from fedbandit.core.algorithm import Setting
from fedbandit.core.arrays import Floats, Ints
from fedbandit.core.bounds import Bounds, check_invertible
from fedbandit.core.former_names import formerly
from fedbandit.core.interfaces import Federation, Outgoing, Server
from fedbandit.core.messages import Download
from fedbandit.core.parameters import parameter
from fedbandit.kernels.linear.download_check import Contacts, Copies, meet, merge_and_check, no_contacts
from fedbandit.kernels.linear.snapshots import free_slot
from fedbandit.kernels.shared.rows import doubled_array

PAPER = "Li and Wang 2022, Asynchronous UCB Algorithms for Federated Linear Bandits"


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


class AsyncServer(Server):
    """Merges uploads and sends each client a snapshot when what it lacks has grown enough."""

    def __init__(self, ridge: float, dimension: int, thresholds: Floats) -> None:
        """Take the regularisation, and each client's download threshold."""
        self.ridge = ridge
        self.dimension = dimension
        self.sizes = {"d": dimension}
        self.log_gammas = np.log(thresholds)

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
        self, state: AsyncServerState, senders: Ints, message: Statistics | Hello
    ) -> Sequence[Outgoing[Download]]:
        """Meet the senders, or merge what they upload and send whoever is owed a download the new snapshot."""
        if isinstance(message, Hello):
            for sender in senders.tolist():
                if np.isinf(state.contacts.level[sender]):
                    meet(state.contacts, sender, self.ridge, self.dimension, self.log_gammas[sender])
            return ()
        return [
            outgoing
            for each, sender in enumerate(senders.tolist())
            for outgoing in self._merge(state, sender, message.gram[each], message.moment[each])
        ]

    def check(
        self, state: AsyncServerState, sender: int, message: Statistics | Hello, bounds: Bounds, observations: int  # noqa: ARG002
    ) -> None:  # fmt: skip
        """Refuse sums after which V_g, or what was shared with the sender, could not be inverted."""
        if isinstance(message, Statistics):
            for total in (state.gram, self._shared_with(state, sender)):
                check_invertible(total, message.gram[0], self.ridge)

    def age(self, state: AsyncServerState, weight: float) -> None:
        """Let all uploads so far count for less, in the sums and in the copies last shared with clients."""
        age_arrays(weight, state.gram, state.moment)
        age_contacts(state.contacts, state.copies, self.log_gammas, self.ridge, weight)

    def _shared_with(self, state: AsyncServerState, client: int) -> Floats:
        slot, row = state.contacts.slot_of[client], state.contacts.row_of[client]
        if slot >= 0:
            return np.asarray(state.copies.common[slot])
        return np.asarray(state.copies.own[row]) if row >= 0 else np.zeros_like(state.gram)

    def sums(self, state: AsyncServerState) -> Sequence[Floats]:
        """Return V_g and b_g."""
        return state.gram, state.moment

    def _merge(
        self, state: AsyncServerState, sender: int, gram: Floats, moment: Floats
    ) -> Sequence[Outgoing[Download]]:
        row = state.contacts.row_of[sender]
        if row < 0:
            row, state.rows = state.rows, state.rows + 1
            if row == len(state.copies.own):
                state.copies = state.copies._replace(own=doubled_array(state.copies.own))
        if free_slot(state.copies.users) < 0:
            state.copies = state.copies._replace(
                common=doubled_array(state.copies.common), users=doubled_array(state.copies.users)
            )
        state.uploads += 1
        clients = merge_and_check(
            state.gram, state.moment, state.contacts, state.copies, sender, row, gram, moment, state.uploads,
            self.ridge, self.log_gammas, np.empty((self.dimension, self.dimension)),
        )  # fmt: skip
        if not clients.size:
            return ()
        state.version += 1
        return (Outgoing(clients, Snapshot(state.gram.copy(), state.moment.copy(), state.version)),)


@dataclass(frozen=True)
class AsyncLinUCB(
    LinearAlgorithm,
    id="async-linucb",
    title="each client uploads and downloads on its own events",
    paper=PAPER,
):
    """Async-LinUCB (algorithms 1 and 2): events decide per client when to upload and when to download.

    >>> AsyncLinUCB(upload_threshold=0.5)
    Traceback (most recent call last):
    ...
    fedbandit.core.errors.InvalidInput: upload_threshold must be at least 1, not 0.5: give a number in that range
    """

    upload_threshold: float | tuple[float, ...] = parameter(
        2.0,
        "growth of a client's determinant that makes it upload; one number or one a client",
        symbol="gamma_U",
        at_least=1,
        infinite=True,
    )
    download_threshold: float | tuple[float, ...] = parameter(
        2.0,
        "growth of the server's determinant that sends a client a download; one number or one a client",
        symbol="gamma_D",
        at_least=1,
        infinite=True,
    )

    def build(self, setting: Setting) -> Federation:
        """Make both sides."""
        uploads = per_client("upload_threshold", self.upload_threshold, setting.clients)
        downloads = per_client("download_threshold", self.download_threshold, setting.clients)
        clients = LinearClients(
            self.rule(setting.dimension), setting.dimension, np.log(uploads), np.isfinite(downloads)
        )
        server = AsyncServer(self.ridge, setting.dimension, downloads)
        if np.isinf(uploads).all() and np.isinf(downloads).all():
            server.kinds = ()  # nobody has anything to say
        return Federation(clients, server)


@dataclass(frozen=True)
class LocalLinUCB(
    LinearAlgorithm, id="local-linucb", title="every client alone: no communication (baseline)", paper=PAPER
):
    """Every client runs LinUCB on its own data: Async-LinUCB with infinite thresholds."""

    def build(self, setting: Setting) -> Federation:
        """Make both sides; the server never hears anything."""
        alone = AsyncLinUCB(upload_threshold=np.inf, download_threshold=np.inf, **self.values())
        return alone.build(setting)
