"""The server side of FN-UCB (algorithm 2)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import jax.numpy as jnp
import numpy as np

from fedbandit.algorithms.neural.exchange import Exchange, Share
from fedbandit.algorithms.neural.messages import Call, SyncRequest
from fedbandit.core.arrays import Bools, Ints
from fedbandit.core.interfaces import Outgoing
from fedbandit.core.messages import Download
from fedbandit.kernels.neural.cohort import is_everyone
from fedbandit.kernels.neural.device import plain
from fedbandit.kernels.neural.grams import Gram, Whole


@dataclass
class ServerState:
    """The sums over all uploads, and what has come in of the communication round that is under way."""

    whole: Whole  # W_sync
    moment: Any  # (1, q) B_sync
    version: int
    called: bool
    answered: Bools
    shares: list[tuple[Ints, Share]]


class TogetherServer:
    """Calls all clients when one asks for it; when all have answered, sums, averages and broadcasts."""

    def __init__(self, exchange: Exchange) -> None:
        """Take how messages are made and read, and whether inverses are averaged."""
        self.exchange = exchange
        self.rounds = exchange.rounds

    def start(self, clients: int) -> ServerState:
        """Return a server that has received nothing."""
        with self.rounds.active():
            moment = jnp.zeros((1, self.rounds.network.coordinates), self.rounds.device.dtype)
            answered = np.zeros(clients, dtype=np.bool_)
            return ServerState(self.exchange.grams.nothing(), moment, 0, False, answered, [])

    def receive(self, state: ServerState, senders: Ints, message: Any) -> Sequence[Outgoing[Download]]:
        """Start a communication round (line 2), or take in what clients contribute to it (lines 3 to 6)."""
        everyone = np.arange(state.answered.size)
        if isinstance(message, SyncRequest):
            # A request that crossed the last broadcast has been answered by it.
            if state.called or int(message.version.max()) < state.version:
                return ()
            state.called = True
            return (Outgoing(everyone, Call(state.version)),)
        with self.rounds.active():
            state.shares.append((senders, self.exchange.read_share(message)))
            state.answered[senders] = True
            if not state.answered.all():
                return ()
            state.answered[:] = False
            state.called = False
            return (Outgoing(everyone, self._broadcast(state)),)

    def _broadcast(self, state: ServerState) -> Download:
        grams, moments, thetas, ratios, inverses = _in_order(state.shares)
        state.shares = []
        state.version += 1
        state.whole = self.exchange.grams.merge(state.whole, grams)
        state.moment, weights, sent = self.rounds.gather(
            state.moment, moments, thetas, inverses, averages=not self.exchange.all_inverses
        )
        message: Download = self.exchange.consensus(
            state.whole, state.moment, weights, plain(ratios).min(), sent, state.version
        )
        return message


def _in_order(shares: list[tuple[Ints, Share]]) -> tuple[list[Gram], Any, Any, Any, Any]:
    """Return what all clients sent, in their order, so that no sum depends on who answered first."""
    senders = np.concatenate([who for who, _ in shares])
    order = np.argsort(senders, kind="stable")
    parts = [share for _, share in shares]
    if len(parts) == 1 and is_everyone(senders, len(senders)):
        one = parts[0]
        return [one.gram], one.moment, one.weights, one.ratio, one.inverse
    singles = [_row(share, place) for who, share in shares for place in range(len(who))]
    ordered = [singles[place] for place in order]
    stacked = [jnp.concatenate([getattr(each, name) for each in ordered]) for name in Share._fields[1:]]
    return [each.gram for each in ordered], *stacked


def _row(share: Share, place: int) -> Share:
    row = slice(place, place + 1)
    gram = Gram(*(None if part is None else np.asarray(part)[row] for part in share.gram))
    return Share(gram, *(np.asarray(each)[row] for each in share[1:]))
