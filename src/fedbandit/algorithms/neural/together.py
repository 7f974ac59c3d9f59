"""The client side of FN-UCB (algorithm 1), for a cohort of one client or many."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import jax.numpy as jnp
import numpy as np

from fedbandit.algorithms.neural.exchange import Exchange
from fedbandit.algorithms.neural.learner import Learner, Own
from fedbandit.algorithms.neural.messages import Call, SyncRequest
from fedbandit.algorithms.neural.weights import Weight
from fedbandit.core.arrays import Bools, Floats, Ints
from fedbandit.core.interfaces import Cadence, Outgoing, TurnByTurn
from fedbandit.core.messages import Upload
from fedbandit.core.turns import Observations
from fedbandit.kernels.neural.cohort import one_each, put_rows, rows_of, share_row
from fedbandit.kernels.neural.device import plain
from fedbandit.kernels.neural.grams import Synced


@dataclass
class CohortState:
    """What the clients know. Arrays that all clients share have one row."""

    own: Own
    pooled: Any  # V-bar_i without what is pending
    pending: Any  # (clients, q) features that V-bar_i lacks, or None: a download may make them needless
    moment: Any  # (clients, q) B_sync + B_new,i
    new_moment: Any  # (clients, q) B_new,i
    new_diagonal: Any  # (clients, q) the diagonal of W_new,i
    new: Any  # what is kept of W_new,i besides
    synced: Synced  # the pooled matrix of the latest version
    synced_diagonal: Any  # (clients or 1, q) the diagonal of W_sync
    thetas: Any  # (clients or 1, p_0) theta_sync,NN
    sent: Any  # (clients or 1, number, ...) the inverses that were broadcast
    offers: Any  # (clients, K, d) the latest arms, or None where no weight needs them
    alpha: Floats  # (clients,) as received
    heard: Bools  # (clients,) whether a download has come
    since: Ints  # (clients,) turns since the last one
    fresh: Ints  # (clients,) observations since the last upload
    version: Ints  # (clients,) of the last download


class TogetherClients(TurnByTurn):
    """Clients that combine what all have seen with a network that all have trained."""

    cadence = Cadence.ROUND
    draws = 0

    def __init__(self, learner: Learner, exchange: Exchange, weight: Weight, threshold: float, averages: bool) -> None:
        """Take how to learn, exchange and weigh, D, and whether predictions use averaged weights or a client's own."""
        self.learner = learner
        self.rounds = learner.rounds
        self.exchange = exchange
        self.weight = weight
        self.threshold = threshold
        self._predicting = _averaged if averages else _own

    def start(self, clients: int) -> CohortState:
        """Return a cohort that has seen nothing."""
        self.learner.check_memory(self.exchange.matrices_of(clients), clients)
        with self.rounds.active():
            matrices, device, network = self.rounds.matrices, self.rounds.device, self.rounds.network
            one = matrices.start(1, device.dtype)
            zeros = jnp.zeros((clients, network.coordinates), device.dtype)
            return CohortState(
                own=self.learner.start(clients),
                pooled=one,
                pending=None,
                moment=zeros,
                new_moment=zeros,
                new_diagonal=zeros,
                new=self.exchange.grams.start(clients),
                synced=Synced(one, 0, 0),
                synced_diagonal=zeros[:1],
                thetas=device.put(network.initial)[None],
                sent=matrices.inverse(one)[None],
                offers=None,
                alpha=np.zeros(clients),
                heard=np.zeros(clients, dtype=np.bool_),
                since=np.zeros(clients, dtype=np.int64),
                fresh=np.zeros(clients, dtype=np.int64),
                version=np.zeros(clients, dtype=np.int64),
            )

    def choose(self, state: CohortState, who: Ints, features: Floats, draws: Floats) -> Ints:  # noqa: ARG002
        """Return the arm of each client (lines 4 to 7)."""
        with self.rounds.active():
            self._settle(state)
            put, clients = self.rounds.device.put, len(state.alpha)
            alpha = self.weight.at(state.own.turns[who] + 1, state.alpha[who])
            choice = self.rounds.choose_together(
                put(features),
                rows_of(state.pooled, who, clients),
                rows_of(state.moment, who, clients),
                rows_of(self._predicting(state), who, clients),
                rows_of(state.sent, who, clients),
                put(state.heard[who]),
                put(alpha),
            )
            return plain(choice).astype(np.int64)

    def learn(self, state: CohortState, who: Ints, seen: Observations) -> Sequence[Outgoing[Upload]]:
        """Take in each client's reward; ask for a communication round where enough has been learnt (lines 9 to 12)."""
        with self.rounds.active():
            self._settle(state)
            clients = len(state.alpha)
            features, rewards = self.learner.observe(state.own, who, seen)
            moment, new_moment, new_diagonal, grown = self.rounds.note(
                features,
                rewards,
                *(rows_of(each, who, clients) for each in (state.moment, state.new_moment, state.new_diagonal)),
                rows_of(state.synced_diagonal, who, clients),
            )
            state.moment = put_rows(state.moment, who, moment, clients)
            state.new_moment = put_rows(state.new_moment, who, new_moment, clients)
            state.new_diagonal = put_rows(state.new_diagonal, who, new_diagonal, clients)
            state.pending = put_rows(jnp.zeros_like(state.moment), who, features, clients)
            self.exchange.grams.add(state.new, who, features)
            if self.weight.needs_ratio:
                self._remember(state, who, seen.features)
            state.since[who] += 1
            state.fresh[who] += 1
            due = who[state.since[who] * plain(grown) > self.threshold]
        return (Outgoing(due, SyncRequest(state.version[due])),) if due.size else ()

    def receive(self, state: CohortState, to: Ints, message: Any) -> Sequence[Outgoing[Upload]]:
        """Train and upload when called (lines 14 to 16); take in what the server broadcasts (lines 17 and 18)."""
        with self.rounds.active():
            if isinstance(message, Call):
                return (Outgoing(to, self._contribution(state, to)),)
            self._take_in(state, to, message)
        return ()

    def _settle(self, state: CohortState) -> None:
        """Bring V-bar up to date with the clients' own latest observations."""
        if state.pending is not None:
            pooled = one_each(state.pooled, len(state.alpha))
            state.pooled, state.pending = self.rounds.absorb(pooled, state.pending), None

    def _remember(self, state: CohortState, who: Ints, features: Floats) -> None:
        offers = self.rounds.device.put(features)
        if state.offers is None:
            state.offers = jnp.zeros((len(state.alpha), *offers.shape[1:]), offers.dtype)
        state.offers = put_rows(state.offers, who, offers, len(state.alpha))

    def _contribution(self, state: CohortState, who: Ints) -> Upload:
        own, clients, device = state.own, len(state.alpha), self.rounds.device
        self.learner.train(own, who)
        matrix = rows_of(own.matrix, who, clients)
        if self.weight.needs_ratio and state.offers is not None:
            ratio = plain(self.rounds.ratios(matrix, rows_of(state.offers, who, clients)))
        else:
            ratio = self.weight.at(own.turns[who] + 1, state.alpha[who]).astype(device.dtype)
        upload = self.exchange.contribution(
            self.exchange.grams.take(state.new, who, rows_of(state.new_diagonal, who, clients)),
            rows_of(state.new_moment, who, clients),
            rows_of(own.thetas, who, clients),
            ratio,
            self.rounds.matrices.inverse(matrix),
        )
        nothing = jnp.zeros((len(who), self.rounds.network.coordinates), device.dtype)
        state.new_moment = put_rows(state.new_moment, who, nothing, clients)
        state.new_diagonal = put_rows(state.new_diagonal, who, nothing, clients)
        state.fresh[who] = 0
        return upload

    def _take_in(self, state: CohortState, to: Ints, message: Any) -> None:
        clients, grams = len(state.alpha), self.exchange.grams
        news = self.exchange.read(message)
        state.synced = grams.synced(state.synced, news.gram, news.rows, news.version)
        state.pooled = share_row(state.pooled, to, state.synced.matrix, clients)
        if state.pending is not None:
            state.pending = state.pending.at[to].set(0)
        for client in to[state.fresh[to] > 0]:  # what was observed after the upload is not in the download
            own = grams.own(news.gram, state.new, state.new_diagonal, client)
            state.pooled = put_rows(one_each(state.pooled, clients), np.array([client]), own[None], clients)
        if not state.fresh[to].any() and len(to) == clients:
            state.pending = None
        state.moment = put_rows(state.moment, to, news.moment + rows_of(state.new_moment, to, clients), clients)
        state.synced_diagonal = share_row(state.synced_diagonal, to, news.gram.diagonal[None], clients)
        state.thetas = share_row(state.thetas, to, news.weights[None], clients)
        state.sent = share_row(state.sent, to, news.inverses[None], clients)
        state.alpha[to] = news.ratio
        state.heard[to] = True
        state.since[to] = 0
        state.version[to] = news.version


def _averaged(state: CohortState) -> Any:
    return state.thetas


def _own(state: CohortState) -> Any:
    return state.own.thetas
