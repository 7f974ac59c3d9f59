"""The servers of `private-linucb`: they keep each client's latest release, and send the sum of all.

A client's releases have the highest number last, and each holds all before it: what is late, lost or repeated needs no
care. After a restore a client begins another stream; the last release of the old one stays a summand of its own.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from fedbandit.algorithms.attendance import Attendance, nobody_yet
from fedbandit.algorithms.linear.shared.private_messages import NoisySums, Prefix, Question
from fedbandit.algorithms.linear.sync_linucb import Call
from fedbandit.core.arrays import Floats, Ints
from fedbandit.core.bounds import Bounds
from fedbandit.core.errors import ProtocolError
from fedbandit.core.interfaces import Outgoing, Server
from fedbandit.core.messages import Download
from fedbandit.kernels.privacy.noised_sums import GRAIN, NoisedSums, on_grid

FAR = 6.5  # deviations beyond which an honest release is with probability less than 1e-8


@dataclass
class PrivateServerState:
    """The latest release of each stream of each client, and how often the sum was sent; the first axis is the stream.

    Rows are in the order of clients and, of a client's, of its streams.
    """

    client: Ints
    stream: Ints
    release: Ints
    observations: Ints
    gram: Floats
    moment: Floats
    version: int
    attendance: Attendance


class PrivateServer(Server):
    """What both schedules share."""

    def __init__(self, sums: NoisedSums) -> None:
        """Take how sums are noised."""
        self.noised = sums

    def start(self, clients: int) -> PrivateServerState:
        """Return a server that has received nothing."""
        size, none = self.noised.dimension, np.zeros(0, dtype=np.int64)
        return PrivateServerState(
            none, none.copy(), none.copy(), none.copy(), np.zeros((0, size, size)), np.zeros((0, size)), 0,
            nobody_yet(clients),
        )  # fmt: skip

    def sums(self, state: PrivateServerState) -> Sequence[Floats]:
        """Return all kept releases."""
        return state.gram, state.moment

    def check(
        self, state: PrivateServerState, sender: int, message: Prefix | Question, bounds: Bounds, observations: int  # noqa: ARG002
    ) -> None:  # fmt: skip
        """Refuse what no honest client releases: noised sums need not be positive, but are not far from it."""
        if isinstance(message, Question):
            return
        gram, moment = message.gram[0], message.moment[0]
        release, count = int(message.release[0]), int(message.observations[0])
        if release > self.noised.releases:
            raise ProtocolError(f"release {release} of a stream that has {self.noised.releases}")
        if count < release or (release == 0 and (count or gram.any() or moment.any())):
            raise ProtocolError(f"release {release} over {count} observations: each has at least one more")
        if not (gram == gram.T).all():
            raise ProtocolError("the gram matrix is not symmetric")
        if (on_grid(gram) != gram).any() or (on_grid(moment) != moment).any():
            raise ProtocolError("sums that are not on the grid: they were not made by rounding")
        self._check_sizes(gram, moment, count, self.noised.variance(release))
        self._check_order(state, sender, message)

    def _check_sizes(self, gram: Floats, moment: Floats, count: int, variance: float) -> None:
        size, length, reward = self.noised.dimension, self.noised.context_bound, self.noised.reward_bound
        spread, most = math.sqrt(variance), count * length**2
        reach = spread * (math.sqrt(2.0 * size) + FAR)
        values = np.linalg.eigvalsh(gram)
        slack = 1e-9 * max(1.0, most) + count * size * GRAIN  # what rounding may add
        if values[0] < -reach - slack or values[-1] > most + reach + slack:
            raise ProtocolError(
                f"eigenvalues from {values[0]:g} to {values[-1]:g}: with {count} observations of length {length:g} and "
                f"this noise they are from {-reach:g} to {most + reach:g}"
            )
        if float(gram.trace()) > most + FAR * math.sqrt(size) * spread + slack:
            raise ProtocolError(
                f"the trace is {gram.trace():g}, more than {count} observations and this noise can have"
            )
        far = count * length * reward + spread * (math.sqrt(size) + FAR) / self.noised.scale
        if math.sqrt(float(moment @ moment)) > far + slack * max(1.0, reward):
            raise ProtocolError(f"the moment is longer than {far:g}, which observations and noise can have")

    def _check_order(self, state: PrivateServerState, sender: int, message: Prefix) -> None:
        """Refuse a release that has fewer observations than an earlier one, and another one of the same number."""
        row = self._row(state, sender, int(message.stream[0]))
        if row < 0:
            return
        ahead = int(message.release[0] - state.release[row])
        more = int(message.observations[0] - state.observations[row])
        if ahead * more < 0 or (ahead == 0 and more):
            raise ProtocolError(
                f"release {message.release[0]} over {message.observations[0]} observations, and release "
                f"{state.release[row]} over {state.observations[row]}: counts do not fall"
            )
        if ahead == 0 and not (
            (message.gram[0] == state.gram[row]).all() and (message.moment[0] == state.moment[row]).all()
        ):
            raise ProtocolError(f"another release {message.release[0]}: it was told before, with other noise")

    def tell_anew(self, state: PrivateServerState, to: Ints) -> Sequence[Outgoing[Download]]:
        """Send clients all that there is; with it the call that may be out has been answered."""
        if state.attendance.is_open:
            state.attendance.close()
        return (Outgoing(to, self._told(state)),)

    def _row(self, state: PrivateServerState, client: int, stream: int) -> int:
        found = np.flatnonzero((state.client == client) & (state.stream == stream))
        return int(found[0]) if found.size else -1

    def _keep(self, state: PrivateServerState, client: int, message: Prefix, each: int) -> bool:
        """Keep a release if it is the highest of its stream; return whether it is."""
        stream, release = int(message.stream[each]), int(message.release[each])
        row = self._row(state, client, stream)
        if row >= 0 and release <= state.release[row]:
            return False
        if row < 0:
            if release == 0:
                return False
            row = self._insert(state, client, stream)
        state.release[row], state.observations[row] = release, message.observations[each]
        state.gram[row], state.moment[row] = message.gram[each], message.moment[each]
        return True

    def _insert(self, state: PrivateServerState, client: int, stream: int) -> int:
        before = (state.client < client) | ((state.client == client) & (state.stream < stream))
        row = int(before.sum())
        for name, value in {"client": client, "stream": stream}.items():
            setattr(state, name, np.insert(getattr(state, name), row, value))
        for name in ("release", "observations", "gram", "moment"):
            setattr(state, name, np.insert(getattr(state, name), row, 0, axis=0))
        return row

    def _told(self, state: PrivateServerState) -> NoisySums:
        """Return the sum over all streams, in order of clients: on the grid, so that it is exact."""
        state.version += 1
        variance = math.fsum(self.noised.variance(each) for each in state.release.tolist())
        return NoisySums(state.gram.sum(axis=0), state.moment.sum(axis=0), np.array([variance]), state.version)


class AnsweringPrivateServer(PrivateServer):
    """Answers whoever releases or asks, and nobody else (`own-count`)."""

    kinds = (Prefix, Question)

    def receive(
        self, state: PrivateServerState, senders: Ints, message: Prefix | Question
    ) -> Sequence[Outgoing[Download]]:
        """Keep each release, and answer its sender."""
        answers: list[Outgoing[Download]] = []
        for each, sender in enumerate(senders.tolist()):
            if isinstance(message, Prefix):
                self._keep(state, sender, message, each)
            if state.release.size:
                answers.append(Outgoing(senders[each : each + 1], self._told(state)))
        return answers


class CallingPrivateServer(PrivateServer):
    """Calls all clients when one releases, and answers all when all have (`rounds`)."""

    kinds = (Prefix,)

    def receive(self, state: PrivateServerState, senders: Ints, message: Prefix) -> Sequence[Outgoing[Download]]:
        """Keep the releases; call the others if these are the first, send the sum if they are the last."""
        is_news = np.array([self._keep(state, who, message, each) for each, who in enumerate(senders.tolist())])
        attendance = state.attendance
        was_open = attendance.is_open
        attendance.answer(senders if was_open else senders[is_news])  # what was told before calls for nothing
        if attendance.is_complete:
            return self._finish(state)
        if attendance.is_open and not was_open:
            return (Outgoing(attendance.awaited(), Call(state.version)),)
        return ()

    def awaited(self, state: PrivateServerState) -> Ints:
        """Return who has not answered the call."""
        return state.attendance.awaited()

    def deadline(self, state: PrivateServerState) -> Sequence[Outgoing[Download]]:
        """Send all clients what those who answered have brought together."""
        return self._finish(state) if state.attendance.is_open else ()

    def _finish(self, state: PrivateServerState) -> Sequence[Outgoing[Download]]:
        state.attendance.close()
        return (Outgoing(state.attendance.everyone, self._told(state)),)
