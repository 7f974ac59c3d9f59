"""The server side of FN-UCB (algorithm 2).

A round that is closed at a deadline averages over those who have answered. An answer to a call whose round is over is
summed into W_sync and B_sync when it comes, and does nothing else.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import jax.numpy as jnp
import numpy as np

from fedbandit.algorithms.attendance import Attendance, nobody_yet
from fedbandit.algorithms.neural.shared.exchange import Exchange, Share
from fedbandit.algorithms.neural.shared.messages import Call, Contribution, SyncRequest
from fedbandit.algorithms.neural.shared.plausible import ROUNDING, longest_features, longest_weights
from fedbandit.core.arrays import Bools, Floats, Ints
from fedbandit.core.bounds import Bounds, check_length, check_not_ahead
from fedbandit.core.errors import ProtocolError
from fedbandit.core.former_names import formerly, regrouped
from fedbandit.core.interfaces import Outgoing, Server
from fedbandit.core.messages import Download
from fedbandit.kernels.neural.arrays import Array, Numbers
from fedbandit.kernels.neural.cohort import is_everyone
from fedbandit.kernels.neural.device import plain
from fedbandit.kernels.neural.grams import Gram, Whole


def _once_without_attendance(stored: dict[str, Any]) -> dict[str, Any]:
    """Return the fields of a record of 0.1, which had those of the attendance beside its own."""
    answered = stored["answered"]
    return {"attendance": Attendance(answered, np.zeros_like(answered), stored["missed"], stored["called"])}


@regrouped(_once_without_attendance)
@formerly("ServerState")
@dataclass
class NeuralServerState:
    """The sums over all uploads, and what has come in of the communication round that is under way."""

    whole: Whole  # W_sync
    moment: Numbers  # (1, q) B_sync
    version: int
    attendance: Attendance  # who was called and has answered
    amended: bool  # an answer that came late was summed up since the last broadcast
    shares: list[tuple[Ints, Share]]  # of those who have answered


class FNUCBServer(Server):
    """Calls all clients when one asks for it; when all have answered, sums, averages and broadcasts."""

    def __init__(self, exchange: Exchange) -> None:
        """Take how messages are made and read, and whether inverses are averaged."""
        self.exchange = exchange
        self.rounds = exchange.rounds
        self.kinds, self.sizes, self.number_bytes = exchange.uploads, exchange.sizes, exchange.number_bytes

    def start(self, clients: int) -> NeuralServerState:
        """Return a server that has received nothing."""
        with self.rounds.active():
            return NeuralServerState(
                whole=self.exchange.grams.nothing(),
                moment=jnp.zeros((1, self.rounds.network.coordinates), self.rounds.device.dtype),
                version=0,
                attendance=nobody_yet(clients),
                amended=False,
                shares=[],
            )

    def receive(
        self, state: NeuralServerState, senders: Ints, message: SyncRequest | Contribution
    ) -> Sequence[Outgoing[Download]]:
        """Start a communication round (line 2), or take in what clients contribute to it (lines 3 to 6)."""
        if isinstance(message, SyncRequest):
            # A request that crossed the last broadcast has been answered by it.
            if state.attendance.is_open or int(message.version.max()) < state.version:
                return ()
            state.attendance.open()
            return self._call(state)
        with self.rounds.active():
            share = self.exchange.read_share(message)
            attendance = state.attendance
            in_time = attendance.is_open & (message.version == state.version) & attendance.silent[senders]
            if not in_time.all():
                self._add_late(state, share.rows(~in_time))
                senders, share = senders[in_time], share.rows(in_time)
            if senders.size:
                state.shares.append((senders, share))
                attendance.answer(senders)
            return self._finish(state) if attendance.is_complete else ()

    def bounds(self, known: Bounds) -> Bounds:
        """Return the bounds of features in place of those of arms."""
        steps = self.rounds.steps
        return replace(known, context=longest_features(steps.network, steps.scale, known.context))

    def check(
        self, state: NeuralServerState, sender: int, message: SyncRequest | Contribution,  # noqa: ARG002
        bounds: Bounds, observations: int,  # noqa: ARG002
    ) -> None:  # fmt: skip
        """Refuse a version far ahead, an inverse above I / ridge (V_local is at least ridge I), or absurd weights."""
        check_not_ahead("version", int(message.version[0]), state.version)
        if isinstance(message, SyncRequest):
            return
        most = 1.0 / self.rounds.plan.ridge
        largest = float(message.squares(np.asarray(message.inverse)).max())
        if largest > most * (1.0 + ROUNDING):
            raise ProtocolError(f"the inverse has {largest:g} on its diagonal, more than 1 / ridge = {most:g}")
        weights = np.asarray(message.weights[0], dtype=np.float64)
        check_length("weights", weights, longest_weights(self.rounds.network, bounds.reward))

    def sums(self, state: NeuralServerState) -> Sequence[Floats]:
        """Return B_sync and W_sync."""
        return [each for each in (state.moment, *state.whole.gram) if each is not None]

    def awaited(self, state: NeuralServerState) -> Ints:
        """Return who was called and has not answered."""
        return state.attendance.awaited()

    def deadline(self, state: NeuralServerState) -> Sequence[Outgoing[Download]]:
        """Go on without those who are silent; if all are, they are called again."""
        if not state.attendance.is_open:
            return ()
        if not state.attendance.answered.any():
            return self._call(state)
        with self.rounds.active():
            return self._finish(state)

    def numbered(self, state: NeuralServerState) -> int:
        """Return the latest version."""
        return state.version

    def count_on(self, state: NeuralServerState, number: int) -> None:
        """Call for the next version after this one."""
        state.version = number + 1

    def tell_anew(self, state: NeuralServerState, to: Ints) -> Sequence[Outgoing[Download]]:
        """Call clients, so that they are sent the sums that there are."""
        with self.rounds.active():
            for _, share in state.shares:
                self._add_late(state, share)
        state.shares, state.amended = [], True  # whatever sums clients have, they are sent whole ones
        if state.attendance.is_open:
            state.attendance.close()
        state.attendance.open()
        return (Outgoing(to, Call(state.version)),)

    def _call(self, state: NeuralServerState) -> Sequence[Outgoing[Download]]:
        return (Outgoing(state.attendance.everyone, Call(state.version)),)

    def _add_late(self, state: NeuralServerState, share: Share) -> None:
        state.whole = self.exchange.grams.merge(state.whole, [share.gram])
        state.moment = state.moment + jnp.asarray(share.moment).sum(axis=0, keepdims=True)
        state.amended = True

    def _finish(self, state: NeuralServerState) -> Sequence[Outgoing[Download]]:
        """Sum, average and broadcast what those have sent who have answered."""
        grams, moments, thetas, ratios, inverses = _in_order(state.shares)
        state.whole = self.exchange.grams.merge(state.whole, grams)
        if state.amended:  # then the latest rows are not all that this version has more than the one before
            state.whole = state.whole._replace(news=None)
        state.moment, weights, sent = self.rounds.gather(
            state.moment, moments, thetas, inverses, averages=not self.exchange.all_inverses
        )
        if self.exchange.all_inverses and not state.attendance.is_complete:
            sent = _of_some(sent, state.attendance.answered)
        state.version += 1
        message = self.exchange.consensus(state.whole, state.moment, weights, plain(ratios).min(), sent, state.version)
        state.attendance.close()
        state.amended, state.shares = False, []
        return (Outgoing(state.attendance.everyone, message),)


def _in_order(shares: list[tuple[Ints, Share]]) -> tuple[list[Gram], Array, Array, Array, Array]:
    """Return what clients sent, in their order, so that no sum depends on who answered first."""
    senders = np.concatenate([who for who, _ in shares])
    if len(shares) == 1 and is_everyone(senders, len(senders)):
        one = shares[0][1]
        return [one.gram], one.moment, one.weights, one.ratio, one.inverse
    singles = [share.rows(slice(place, place + 1)) for who, share in shares for place in range(len(who))]
    ordered = [singles[place] for place in np.argsort(senders)]
    stacked = [jnp.concatenate([getattr(each, name) for each in ordered]) for name in Share._fields[1:]]
    return [each.gram for each in ordered], *stacked


def _of_some(sent: Array, answered: Bools) -> Array:
    """Return inverses (1, k, ...) as (1, N, ...), of which the mean of norms is that over the k who answered."""
    share = float(len(answered) / answered.sum())
    everyone = jnp.zeros((1, len(answered), *sent.shape[2:]), sent.dtype)
    return everyone.at[:, answered].set(sent * share**2)
