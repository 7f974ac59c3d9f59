"""Sync-LinUCB: DisLinUCB (Wang et al. 2019) for arbitrary arrivals; algorithm 4 of Li and Wang 2022 (appendix).

After its turn client i calls for a synchronisation iff, with dt_i its turns since the last one,

    dt_i log(det(V_i + ridge I) / det(V_i - dV_i + ridge I)) > sync_threshold.

Its upload is the call. The server then asks every other client of the roster for its own upload (a signal), and when
all have answered sends V_g, b_g to all: 2N messages. A client that has had no turn takes part and keeps what it gets.

With `smallest_upload` n a client calls only with n observations, and one that is called with fewer answers with nothing
and keeps them: dt_i then counts on.

With `roster="met"` only clients that have had a turn take part, as in the authors' published code: a client tells the
server of its first turn by a signal, unless it uploads then anyway, and who is met while a synchronisation is open is
called too.

A deadline ends a synchronisation without those who are silent: all are sent what there is. What a silent client has
stays with it; its upload, when it comes, is merged and calls for nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from fedbandit.algorithms.attendance import Attendance, nobody_yet
from fedbandit.algorithms.linear.shared import encoding
from fedbandit.algorithms.linear.shared.clients import LinearClients
from fedbandit.algorithms.linear.shared.cohort import LinearCohortState
from fedbandit.algorithms.linear.shared.declared import precision_parameter
from fedbandit.algorithms.linear.shared.exchange import note_signal
from fedbandit.algorithms.linear.shared.family import TIE, LinearAlgorithm
from fedbandit.algorithms.linear.shared.messages import Hello, Shared, Sums
from fedbandit.algorithms.linear.shared.summing_server import SummingServer
from fedbandit.algorithms.linear.shared.ways import WAYS, Way
from fedbandit.core.algorithm import Setting
from fedbandit.core.arrays import Bools, Floats, Ints
from fedbandit.core.bounds import Bounds, check_invertible
from fedbandit.core.changes import Change
from fedbandit.core.former_names import formerly
from fedbandit.core.interfaces import Federation, Outgoing
from fedbandit.core.messages import Download, Upload, header
from fedbandit.core.parameters import parameter
from fedbandit.core.smallest_upload import smallest_upload_parameter
from fedbandit.kernels.linear.download_check import merge
from fedbandit.kernels.linear.rules import Rule

ROSTERS = ("all", "met")


@dataclass(frozen=True)
class Call(Download, kind="linear.call"):
    """The server asks for what a client has yet to upload."""

    version: int = header()


class SyncClients(LinearClients):
    """Clients that also upload when they are called."""

    def __init__(self, rule: Rule, dimension: int, thresholds: Floats, way: Way, greets: Bools) -> None:
        """Take what all clients of the family take: see `LinearClients`."""
        super().__init__(rule, dimension, thresholds, way, greets)
        self.kinds = (*way.downloads, Call)

    def receive(self, state: LinearCohortState, to: Ints, message: Shared | Call) -> Sequence[Outgoing[Upload]]:
        """Answer a call with what is not yet uploaded, be it nothing, or too little to tell; note a snapshot."""
        if not isinstance(message, Call):
            return super().receive(state, to, message)
        row = state.row_of[to]
        rows = state.rows
        has_news = (row >= 0) & (rows.fresh[row] > 0) & (rows.telling[row] >= self.smallest)
        busy, idle = to[has_news], to[~has_news]
        for client in busy[state.slot_of[busy] >= 0].tolist():
            self.settle(state, client)  # before its buffer, which belongs on top of the download, is emptied
        for each in row[(row >= 0) & ~has_news].tolist():
            note_signal(state.exchange, each)
        uploads = [Outgoing(busy, self.flush(state, busy))] if busy.size else []
        return [*uploads, Outgoing(idle, self._nothing(len(idle)))] if idle.size else uploads

    def _nothing(self, clients: int) -> Sums:
        matrix, size = np.dtype(self.way.precision), self.dimension
        vector = np.dtype(np.float64 if matrix == np.float64 else np.float32)
        return encoding.kinds_of_upload(self.way.precision, asks=False)(
            np.broadcast_to(matrix.type(0), (clients, size, size)),
            np.broadcast_to(vector.type(0), (clients, size)),
            np.zeros(clients, dtype=np.int64),
        )


@formerly("ServerState")
@dataclass
class SyncServerState:
    """The sums over all uploads, and who has answered the call that is out."""

    gram: Floats  # V_g
    moment: Floats  # b_g
    version: int
    attendance: Attendance


class SyncServer(SummingServer[SyncServerState]):
    """Calls all clients when one uploads, and answers all when all have."""

    def __init__(self, ridge: float, dimension: int, way: Way = WAYS["sync-linucb"]) -> None:
        """Take the regularisation, the dimension of the arms, and how sums travel."""
        super().__init__(ridge, dimension, way)
        self.meets = way.meets

    def start(self, clients: int) -> SyncServerState:
        """Return a server that has received nothing; where it meets clients, nobody takes part yet."""
        size, attendance = self.dimension, nobody_yet(clients)
        attendance.roster[:] = not self.meets
        return SyncServerState(np.zeros((size, size)), np.zeros(size), 0, attendance)

    def receive(self, state: SyncServerState, senders: Ints, message: Sums | Hello) -> Sequence[Outgoing[Download]]:
        """Merge the uploads; call the others if these are the first, send the snapshot if they are the last."""
        if isinstance(message, Hello):
            return self._meet(state, senders)
        merge(state.gram, state.moment, *message.sums(), message.observations)
        attendance = state.attendance
        if self.meets:
            attendance.roster[senders] = True
        was_open = attendance.is_open
        attendance.answer(senders if was_open else senders[message.observations > 0])  # nothing calls for nothing
        if attendance.is_complete:
            return self._finish(state)
        if attendance.is_open and not was_open:
            return (Outgoing(attendance.awaited(), Call(state.version)),)
        return ()

    def _meet(self, state: SyncServerState, senders: Ints) -> Sequence[Outgoing[Download]]:
        """Let clients take part from now on, in the synchronisation that is open too."""
        attendance = state.attendance
        strangers = senders[~attendance.roster[senders]]
        attendance.roster[strangers] = True
        return (Outgoing(strangers, Call(state.version)),) if attendance.is_open and strangers.size else ()

    def check(
        self, state: SyncServerState, sender: int, message: Sums | Hello, bounds: Bounds, observations: int  # noqa: ARG002
    ) -> None:  # fmt: skip
        """Refuse sums after which no client could invert V_g."""
        if isinstance(message, Sums):
            check_invertible(state.gram, message.sums()[0][0], self.ridge)

    def awaited(self, state: SyncServerState) -> Ints:
        """Return who has not answered the call."""
        return state.attendance.awaited()

    def deadline(self, state: SyncServerState) -> Sequence[Outgoing[Download]]:
        """Send all clients what those who answered have brought together."""
        return self._finish(state) if state.attendance.is_open else ()

    def tell_anew(self, state: SyncServerState, to: Ints) -> Sequence[Outgoing[Download]]:
        """Send clients all that there is; with it the call that may be out has been answered."""
        if state.attendance.is_open:
            self._close(state)
        return self._snapshot(state, to)

    def _finish(self, state: SyncServerState) -> Sequence[Outgoing[Download]]:
        self._close(state)
        return self._snapshot(state, np.flatnonzero(state.attendance.roster))

    def _close(self, state: SyncServerState) -> None:
        """End a synchronisation; in the next one all take part, or those who were met."""
        met = state.attendance.roster
        state.attendance.close()
        if self.meets:
            state.attendance.roster = met

    def _snapshot(self, state: SyncServerState, to: Ints) -> Sequence[Outgoing[Download]]:
        state.version += 1
        return (Outgoing(to, encoding.download(self.precision, state.gram, state.moment, self.ridge, None)),)


@dataclass(frozen=True)
class SyncLinUCB(
    LinearAlgorithm,
    id="sync-linucb",
    title="one client's event synchronises all of them (DisLinUCB)",
    paper="Wang et al. 2019, Distributed Bandit Learning; algorithm 4 of Li and Wang 2022",
):
    """Sync-LinUCB (algorithm 4): when one client has learnt enough, all upload and all download."""

    carries_over: ClassVar[Change] = Change.MIGRATION

    sync_threshold: float = parameter(
        1.0,
        "turns times growth that make a client call all",
        symbol="D",
        at_least=0,
        infinite=True,
        change=Change.AT_ONCE,
    )

    smallest_upload: int = smallest_upload_parameter()  # type: ignore[misc]
    welcome: bool = parameter(
        False, "as in async-linucb; here it changes nothing, since snapshots reach clients before their first turn too"
    )
    precision: str = precision_parameter()
    roster: str = parameter(
        "all", "who takes part in synchronisations: all clients, or those met, who have had a turn", later=True,
        choices=ROSTERS,
    )  # fmt: skip

    def build(self, setting: Setting) -> Federation:
        """Make both sides."""
        way = replace(
            WAYS["sync-linucb"],
            precision=self.precision,
            smallest_upload=self.smallest_upload,
            meets=self.roster == "met",
        )
        rule = self.rule(setting.dimension, timed=way.timed)
        thresholds = np.full(setting.clients, self.sync_threshold + TIE if self.sync_threshold > 0 else 0.0)
        greets = np.full(setting.clients, way.meets)
        clients = SyncClients(rule, setting.dimension, thresholds, way, greets)
        return Federation(clients, SyncServer(self.ridge, setting.dimension, way))
