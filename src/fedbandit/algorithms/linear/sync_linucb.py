"""Sync-LinUCB: DisLinUCB (Wang et al. 2019) for arbitrary arrivals; algorithm 4 of Li and Wang 2022 (appendix).

After its turn client i calls for a synchronisation iff, with dt_i its turns since the last one,

    dt_i log(det(V_i + ridge I) / det(V_i - dV_i + ridge I)) > sync_threshold.

Its upload is the call. The server then asks every other client of the roster for its own upload (a signal), and when
all have answered sends V_g, b_g to all: 2N messages. A client that has had no turn takes part and keeps what it gets.

A deadline ends a synchronisation without those who are silent: all are sent what there is. What a silent client has
stays with it; its upload, when it comes, is merged and calls for nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from fedbandit.algorithms.attendance import Attendance, nobody_yet
from fedbandit.algorithms.linear.shared.cohort import LinearCohortState
from fedbandit.algorithms.linear.shared.family import (
    LinearAlgorithm,
    LinearClients,
    Snapshot,
    Statistics,
)
from fedbandit.algorithms.linear.shared.forgetting import age_arrays
from fedbandit.core.algorithm import Setting
from fedbandit.core.arrays import Floats, Ints
from fedbandit.core.bounds import Bounds, check_invertible
from fedbandit.core.former_names import formerly
from fedbandit.core.interfaces import Federation, Outgoing, Server
from fedbandit.core.messages import Download, Upload, header
from fedbandit.core.parameters import parameter
from fedbandit.kernels.linear.download_check import merge


@dataclass(frozen=True)
class Call(Download, kind="linear.call"):
    """The server asks for what a client has yet to upload."""

    version: int = header()


class SyncClients(LinearClients):
    """Clients that also upload when they are called."""

    def receive(self, state: LinearCohortState, to: Ints, message: Snapshot | Call) -> Sequence[Outgoing[Upload]]:
        """Answer a call with what is not yet uploaded, be it nothing; note a snapshot."""
        if isinstance(message, Snapshot):
            return super().receive(state, to, message)
        row = state.row_of[to]
        has_news = (row >= 0) & (state.rows.fresh[row] > 0)
        busy, idle = to[has_news], to[~has_news]
        uploads = [Outgoing(busy, self.flush(state, busy))] if busy.size else []
        return [*uploads, Outgoing(idle, self._nothing(len(idle)))] if idle.size else uploads

    def _nothing(self, clients: int) -> Statistics:
        size = self.dimension
        return Statistics(
            gram=np.broadcast_to(0.0, (clients, size, size)),
            moment=np.broadcast_to(0.0, (clients, size)),
            observations=np.zeros(clients, dtype=np.int64),
        )


@formerly("ServerState")
@dataclass
class SyncServerState:
    """The sums over all uploads, and who has answered the call that is out."""

    gram: Floats  # V_g
    moment: Floats  # b_g
    version: int
    attendance: Attendance


class SyncServer(Server):
    """Calls all clients when one uploads, and answers all when all have."""

    def __init__(self, ridge: float, dimension: int) -> None:
        """Take the regularisation and the dimension of the arms."""
        self.ridge = ridge
        self.dimension = dimension

    def start(self, clients: int) -> SyncServerState:
        """Return a server that has received nothing."""
        size = self.dimension
        return SyncServerState(np.zeros((size, size)), np.zeros(size), 0, nobody_yet(clients))

    def receive(self, state: SyncServerState, senders: Ints, message: Statistics) -> Sequence[Outgoing[Download]]:
        """Merge the uploads; call the others if these are the first, send the snapshot if they are the last."""
        merge(state.gram, state.moment, message.gram, message.moment, message.observations)
        attendance = state.attendance
        was_open = attendance.is_open
        attendance.answer(senders if was_open else senders[message.observations > 0])  # nothing calls for nothing
        if attendance.is_complete:
            return self._finish(state)
        if attendance.is_open and not was_open:
            return (Outgoing(attendance.awaited(), Call(state.version)),)
        return ()

    def check(
        self, state: SyncServerState, sender: int, message: Statistics, bounds: Bounds, observations: int  # noqa: ARG002
    ) -> None:  # fmt: skip
        """Refuse sums after which no client could invert V_g."""
        check_invertible(state.gram, message.gram[0], self.ridge)

    def sums(self, state: SyncServerState) -> Sequence[Floats]:
        """Return V_g and b_g."""
        return state.gram, state.moment

    def age(self, state: SyncServerState, weight: float) -> None:
        """Let all uploads so far count for less."""
        age_arrays(weight, state.gram, state.moment)

    def awaited(self, state: SyncServerState) -> Ints:
        """Return who has not answered the call."""
        return state.attendance.awaited()

    def deadline(self, state: SyncServerState) -> Sequence[Outgoing[Download]]:
        """Send all clients what those who answered have brought together."""
        return self._finish(state) if state.attendance.is_open else ()

    def _finish(self, state: SyncServerState) -> Sequence[Outgoing[Download]]:
        state.attendance.close()
        state.version += 1
        snapshot = Snapshot(state.gram.copy(), state.moment.copy(), state.version)
        return (Outgoing(state.attendance.everyone, snapshot),)


@dataclass(frozen=True)
class SyncLinUCB(
    LinearAlgorithm,
    id="sync-linucb",
    title="one client's event synchronises all of them (DisLinUCB)",
    paper="Wang et al. 2019, Distributed Bandit Learning; algorithm 4 of Li and Wang 2022",
):
    """Sync-LinUCB (algorithm 4): when one client has learnt enough, all upload and all download."""

    sync_threshold: float = parameter(
        1.0, "turns times growth that make a client call all", symbol="D", at_least=0, infinite=True
    )

    def build(self, setting: Setting) -> Federation:
        """Make both sides."""
        rule = self.rule(setting.dimension, timed=True)
        thresholds = np.full(setting.clients, self.sync_threshold)
        greets = np.zeros(setting.clients, dtype=np.bool_)
        return Federation(
            SyncClients(rule, setting.dimension, thresholds, greets), SyncServer(self.ridge, setting.dimension)
        )
