"""Clustered-LinUCB: Async-LinUCB whose server shares only among clients that it cannot tell apart.

It serves clients in groups that nobody knows, and keeps false data away from honest clients. It is close to, and none
of, HetoFedBandit (Blaser, Li and Wang 2024), FCLUB (Liu et al. 2022) and CLUB (Gentile et al. 2014).

Client i also keeps O_i, the sum of x x^T over its own observations, and uploads dV_i, db_i after a turn iff

    det(O_i + ridge I) > upload_threshold * det(O_i - dV_i + ridge I).

(By V_i, as in Async-LinUCB, a client with much of others' data would hardly ever upload, could not be told apart, and
would follow the wrong group for good.)

The server keeps the sums S_k, s_k of each client's uploads. After an upload of i it tells i apart from each j iff

    z^T (F_i + F_j)^-1 z > (noise sqrt(q) + sqrt(rho))^2,    z = theta_i - theta_j,
    F = (S + rho I)^-1,   theta = F s,   rho = ridge / 1000,
    q = the upper test_level / (N - 1) quantile of chi-square with d degrees of freedom

and takes the two for alike else, whatever was thought before: errors heal. Peers of j are all that have uploaded and
are alike with j, j itself among them; G_j, g_j are the sums of S_k, s_k over them. Then j, if the server has met it, is
sent them iff what it was last sent (C_j) has uploads of one who is not its peer any more, or there is something new
from another peer and

    det(G_j + ridge I) > download_threshold * det(C_j + ridge I).

A download replaces all that was shared before: V_j := G_j + dV_j. The messages are those of Async-LinUCB.

Determinants are compared by their logarithms; a threshold above 1 must be passed by 1e-9, so that exact ties do not
depend on rounding. With a threshold of 1, any upload that is not zero, or any news, is enough.

The server remembers 4 N d^2 numbers and 2 N^2 bits for N clients, and tests N pairs an upload: it is meant for up to
about 10,000 clients.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import ClassVar

import numpy as np

from fedbandit.algorithms.linear.shared.choosing import Lots
from fedbandit.algorithms.linear.shared.clients import LinearClients
from fedbandit.algorithms.linear.shared.cohort import LinearCohortState
from fedbandit.algorithms.linear.shared.declared import threshold_parameter
from fedbandit.algorithms.linear.shared.family import TIE, LinearAlgorithm, log_growth, per_client
from fedbandit.algorithms.linear.shared.messages import Hello, Snapshot, Statistics
from fedbandit.algorithms.linear.shared.sharing_shortcut import SharingShortcut
from fedbandit.algorithms.linear.shared.ways import WAYS
from fedbandit.core.algorithm import Setting
from fedbandit.core.arrays import Floats, Ints
from fedbandit.core.bounds import Bounds, check_invertible
from fedbandit.core.changes import Change
from fedbandit.core.errors import ProtocolError
from fedbandit.core.interfaces import Federation, Outgoing, Server
from fedbandit.core.messages import Download
from fedbandit.core.parameters import parameter
from fedbandit.core.smallest_upload import smallest_upload_parameter
from fedbandit.kernels.linear.own_rows import BY_OWN_GROWTH, KnownAndOwn, KnownOwnAndLots, OwnRows, empty_own_rows
from fedbandit.kernels.linear.peers import Verdicts, no_verdicts, peers_of
from fedbandit.kernels.linear.sharing import Shared, nothing_shared, room_for, take_in_upload
from fedbandit.kernels.linear.telling_apart import Told, nothing_told
from fedbandit.kernels.linear.turns import TurnKernels
from fedbandit.kernels.shared.compiled import starting
from fedbandit.kernels.shared.rows import roomier


@dataclass
class ClusteredCohortState(LinearCohortState):
    """What the clients know, and what of it is their own."""

    own: OwnRows


class ClusteredClients(LinearClients):
    """Clients of Async-LinUCB that upload by the growth of their own data."""

    ways: ClassVar[dict[bool, dict[int, TurnKernels]]] = {True: BY_OWN_GROWTH}

    def start(self, clients: int) -> ClusteredCohortState:
        """Return a cohort that has seen nothing."""
        common = super().start(clients)
        return ClusteredCohortState(**vars(common), own=empty_own_rows(len(common.rows.fresh), self.dimension))

    def scored(self, state: ClusteredCohortState) -> KnownAndOwn:
        """Return what scores use, all that the clients know, with what is their own beside it."""
        return KnownAndOwn._make((*super().scored(state), *state.own))

    def scored_with(self, state: ClusteredCohortState, lots: Lots | None) -> KnownAndOwn | KnownOwnAndLots:
        """Return what scores use, what is the clients' own, and what lots depend on where they are drawn."""
        if lots is None:
            return self.scored(state)
        return KnownOwnAndLots._make((*super().scored_with(state, lots), *state.own))

    def begin(self, state: ClusteredCohortState, row: int) -> None:
        """Prepare the row of a client that acts for the first time."""
        super().begin(state, row)
        np.fill_diagonal(state.own.inverse[row], 1.0 / self.ridge)

    def grow(self, state: ClusteredCohortState) -> None:
        """Make room for more rows."""
        super().grow(state)
        state.own = roomier(state.own, len(state.row_of))

    def regrow(self, state: LinearCohortState, row: int, shared: Floats) -> None:
        """Leave the growth as it is: what is a client's own has not grown by a download."""


@dataclass
class ClusteredServerState:
    """What clients have told, who is told apart from whom, and what was last shared with each."""

    told: Told
    verdicts: Verdicts
    shared: Shared
    uploads: int  # by all
    version: int


class ClusteredServer(Server):
    """Keeps each client's sums apart, and sends a client those of its peers."""

    def __init__(self, ridge: float, noise: float, test_level: float, dimension: int, thresholds: Floats) -> None:
        """Take the regularisation, the scale and the level of the test, and each client's download threshold."""
        self.ridge = ridge
        self.rho = ridge / 1000
        self.noise = noise
        self.test_level = test_level
        self.dimension = dimension
        self.margins = np.where(thresholds > 1, np.log(thresholds) + TIE, -np.inf)

    @cached_property
    def limit(self) -> float:
        """Return what the statistic of two clients with one theta hardly ever passes; infinite if none is tested."""
        others = len(self.margins) - 1
        if others == 0 or self.test_level == 0:
            return math.inf
        with starting():  # slow to import, and only a server that hears something needs it
            from scipy.special import gammainccinv

        quantile = 2.0 * float(gammainccinv(self.dimension / 2, self.test_level / others))
        return (self.noise * math.sqrt(quantile) + math.sqrt(self.rho)) ** 2

    def start(self, clients: int) -> ClusteredServerState:
        """Return a server that has met nobody."""
        sizes = clients, self.dimension, self.ridge
        return ClusteredServerState(nothing_told(*sizes), no_verdicts(*sizes), nothing_shared(*sizes), 0, 0)

    def receive(
        self, state: ClusteredServerState, senders: Ints, message: Statistics | Hello
    ) -> Sequence[Outgoing[Download]]:
        """Meet the senders, or take in what they upload and send whoever is owed a download its peers' sums."""
        if isinstance(message, Hello):
            state.shared.met[senders] = True
            return ()
        return [
            outgoing
            for each, sender in enumerate(senders.tolist())
            for outgoing in self._take_in(state, sender, message.gram[each], message.moment[each])
        ]

    def check(
        self, state: ClusteredServerState, sender: int, message: Statistics | Hello, bounds: Bounds, observations: int  # noqa: ARG002
    ) -> None:  # fmt: skip
        """Refuse sums after which what the sender has told could not be inverted."""
        if isinstance(message, Statistics):
            check_invertible(state.told.gram[sender], message.gram[0], self.rho)

    def sums(self, state: ClusteredServerState) -> Sequence[Floats]:
        """Return the sums of each client, and what follows from them."""
        return state.told.gram, state.told.moment, state.told.estimate, state.told.log_det

    def peers(self, state: ClusteredServerState) -> Ints:
        """Return the number of other clients whose uploads are shared with each client, or would be."""
        everyone = np.arange(len(state.told.uploads))
        peers = np.bitwise_count(peers_of(state.verdicts, everyone)).sum(axis=1, dtype=np.int64)
        return np.asarray(peers - (state.told.uploads > 0))

    def _take_in(
        self, state: ClusteredServerState, sender: int, gram: Floats, moment: Floats
    ) -> Sequence[Outgoing[Download]]:
        state.uploads += 1
        room = room_for(state.told, state.shared)
        count = take_in_upload(
            state.told, state.verdicts, state.shared, sender, gram, moment, state.uploads, self.ridge, self.rho,
            self.limit, self.margins, room,
        )  # fmt: skip
        recipients: dict[int, list[int]] = {}  # by the first that is sent the same
        for client, leader in zip(room.found[:count].tolist(), room.first[:count].tolist(), strict=True):
            recipients.setdefault(leader, []).append(client)
        return [self._send(state, np.array(each), room.moments[leader].copy()) for leader, each in recipients.items()]

    def _send(self, state: ClusteredServerState, clients: Ints, moment: Floats) -> Outgoing[Download]:
        if not math.isfinite(state.shared.log_det[clients[0]]):
            raise ProtocolError(f"sums over the peers of client {clients[0]} could not be inverted")
        state.version += 1
        return Outgoing(clients, Snapshot(state.shared.gram[clients[0]].copy(), moment))


@dataclass(frozen=True)
class ClusteredLinUCB(
    LinearAlgorithm,
    id="clustered-linucb",
    title="clients share with those whose data do not contradict their own",
    paper="fedbandit's own; compare Blaser, Li and Wang 2024, Federated Linear Contextual Bandits with Heterogeneous "
    "Clients",
):
    """Clustered-LinUCB: unknown groups of clients, and sites that are not to be trusted.

    `noise` is the scale of the test, too: far too little costs messages, too much leaves different clients together.

    >>> ClusteredLinUCB().test_level
    0.1
    """

    discount: ClassVar[float] = 1.0  # type: ignore[misc]  # no parameter here: what was told apart does not fade
    upload_threshold: float | tuple[float, ...] = threshold_parameter(
        5.0, "the determinant of a client's own data that makes it upload", "gamma_U"
    )
    download_threshold: float | tuple[float, ...] = threshold_parameter(
        10.0, "the determinant of its peers' data that sends a client a download", "gamma_D"
    )
    smallest_upload: int = smallest_upload_parameter()  # type: ignore[misc]
    test_level: float = parameter(
        0.1,
        "how many of its own kind a client is wrongly told apart from at a time, in the mean; 0: nobody is told apart",
        symbol="epsilon", at_least=0, below=1, change=Change.AT_ONCE,
    )  # fmt: skip

    def build(self, setting: Setting) -> Federation:
        """Make both sides."""
        uploads = per_client("upload_threshold", self.upload_threshold, setting.clients)
        downloads = per_client("download_threshold", self.download_threshold, setting.clients)
        rule, way = self.rule(setting.dimension), replace(WAYS["async-linucb"], smallest_upload=self.smallest_upload)
        clients = ClusteredClients(rule, setting.dimension, log_growth(uploads), way, greets=np.isfinite(downloads))
        server = ClusteredServer(self.ridge, self.noise, self.test_level, setting.dimension, downloads)
        return Federation(clients, server, SharingShortcut(clients, server) if setting.clients > 1 else None)
