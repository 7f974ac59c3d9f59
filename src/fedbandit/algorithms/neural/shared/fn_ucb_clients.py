"""The client side of FN-UCB (algorithm 1), for a cohort of one client or many."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import jax.numpy as jnp
import numpy as np

from fedbandit.algorithms.neural.shared.cohort import NeuralCohortState
from fedbandit.algorithms.neural.shared.exchange import Exchange
from fedbandit.algorithms.neural.shared.learner import Learner
from fedbandit.algorithms.neural.shared.messages import Call, Consensus, SyncRequest
from fedbandit.algorithms.neural.shared.told import nothing_told
from fedbandit.algorithms.neural.shared.weights import Weight
from fedbandit.core.arrays import Floats, Ints
from fedbandit.core.interfaces import Cadence, Outgoing, TurnByTurn
from fedbandit.core.messages import Upload
from fedbandit.core.turns import Observations
from fedbandit.kernels.neural.arrays import Numbers
from fedbandit.kernels.neural.cohort import is_everyone, one_each, rows_of, share_row
from fedbandit.kernels.neural.device import plain
from fedbandit.kernels.neural.grams import REFRESH, Synced
from fedbandit.kernels.neural.steps import Learnt
from fedbandit.kernels.neural.sums import Sums


class FNUCBClients(TurnByTurn):
    """Clients that combine what all have seen with a network that all have trained."""

    cadence = Cadence.ROUND
    draws = 0

    def __init__(
        self, learner: Learner, exchange: Exchange, weight: Weight, threshold: float, predicting: str, training: str,
        smallest_upload: int,
    ) -> None:  # fmt: skip
        """Take how to learn, exchange and weigh, D, with whose weights to predict, and to train on from, and n."""
        self.smallest = smallest_upload if smallest_upload > 1 else 0
        self.learner = learner
        self.rounds = learner.rounds
        self.exchange = exchange
        self.weight = weight
        self.learns_from_choice = not weight.needs_ratio
        self.threshold = threshold
        self._predicting = WEIGHTS[predicting]
        self._training = WEIGHTS[training]
        self.kinds, self.sizes, self.number_bytes = exchange.downloads, exchange.sizes, exchange.number_bytes
        with self.rounds.active():
            self.nothing = jnp.zeros((1, self.rounds.network.coordinates), self.rounds.device.dtype)

    def start(self, clients: int) -> NeuralCohortState:
        """Return a cohort that has seen nothing."""
        self.learner.check_memory(self.exchange.matrices_of(clients) + (clients if self.smallest else 0), clients)
        with self.rounds.active():
            matrices, device, network = self.rounds.matrices, self.rounds.device, self.rounds.network
            one = matrices.start(1, device.dtype)
            return NeuralCohortState(
                own=self.learner.start(clients),
                pooled=one,
                pending=None,
                learnt=Learnt(self.nothing, self.nothing, self.nothing),
                new=Sums.empty(clients, REFRESH),
                synced=Synced(one, 0, 0),
                synced_diagonal=self.nothing,
                thetas=device.put(network.initial)[None],
                sent=matrices.inverse(one)[None],
                offers=None,
                alpha=np.zeros(clients),
                heard=np.zeros(clients, dtype=np.bool_),
                since=np.zeros(clients, dtype=np.int64),
                version=np.zeros(clients, dtype=np.int64),
                unsent=np.zeros(clients, dtype=np.int64),
                telling=np.zeros(clients, dtype=np.int64),
                told=nothing_told(self.rounds, clients) if self.smallest else None,
            )

    def revised(self, state: NeuralCohortState, before: object, places: Ints | None = None) -> NeuralCohortState:  # noqa: ARG002
        """Begin to remember what was told, where that is repeated from now on, or stop it."""
        with self.rounds.active():
            if not self.smallest:
                state.told = None
            elif state.told is None:
                state.told = nothing_told(self.rounds, len(state.alpha))
        return state

    def choose(self, state: NeuralCohortState, who: Ints, features: Floats, draws: Floats) -> Ints:  # noqa: ARG002
        """Return the arm of each client (lines 4 to 7)."""
        with self.rounds.active():
            self._absorb(state)
            cast, clients = self.rounds.device.cast, len(state.alpha)
            alpha = self.weight.at(state.own.turns[who] + 1, state.alpha[who])
            choice = self.rounds.choose_by_both_bounds(
                cast(features),
                rows_of(state.pooled, who, clients),
                rows_of(state.learnt.pooled_moment, who, clients),
                rows_of(self._predicting(state), who, clients),
                rows_of(state.sent, who, clients),
                cast(np.column_stack([state.heard[who], alpha])),
            )
            return self.learner.checked(choice, state.own, who)

    def learn(self, state: NeuralCohortState, who: Ints, seen: Observations) -> Sequence[Outgoing[Upload]]:
        """Take in each client's reward; ask for a communication round where enough has been learnt (lines 9 to 12)."""
        with self.rounds.active():
            self._absorb(state)
            clients = len(state.alpha)
            learnt, grown, features, rows = self.learner.observe_for_upload(
                state.own,
                who,
                seen,
                Learnt(*(rows_of(each, who, clients) for each in state.learnt)),
                rows_of(state.synced_diagonal, who, clients),
            )
            self._put(state, who, learnt)
            everyone = is_everyone(who, clients)
            state.pending = features if everyone else one_each(self.nothing, clients).at[who].set(features)
            self.exchange.grams.add(state.new, who, rows)
            if self.weight.needs_ratio:
                self._remember(state, who, seen.features)
            state.since[who] += 1
            state.unsent[who] += 1
            state.telling[who] += seen.features[np.arange(len(who)), seen.choice].any(axis=1)
            due = who if self.threshold == 0 else who[state.since[who] * plain(grown) > self.threshold]
            due = due[state.telling[due] >= self.smallest]
        return (Outgoing(due, SyncRequest(state.version[due])),) if due.size else ()

    def receive(self, state: NeuralCohortState, to: Ints, message: Call | Consensus) -> Sequence[Outgoing[Upload]]:
        """Train and upload when called (lines 14 to 16); take in what the server broadcasts (lines 17 and 18)."""
        with self.rounds.active():
            if isinstance(message, Call):
                return self._answer(state, to, message.version)
            self._take_in(state, to, message)
        return ()

    def _absorb(self, state: NeuralCohortState) -> None:
        """Bring V-bar up to date with the clients' own latest observations."""
        if state.pending is not None:
            pooled = one_each(state.pooled, len(state.alpha))
            state.pooled, state.pending = self.rounds.absorb(pooled, state.pending), None

    def _put(self, state: NeuralCohortState, who: Ints, learnt: Learnt) -> None:
        clients = len(state.alpha)
        if is_everyone(who, clients):
            state.learnt = learnt
        else:
            pairs = zip(state.learnt, learnt, strict=True)
            state.learnt = Learnt(*(one_each(all_, clients).at[who].set(rows) for all_, rows in pairs))

    def _remember(self, state: NeuralCohortState, who: Ints, features: Floats) -> None:
        offers = self.rounds.device.cast(features)
        if state.offers is None:
            state.offers = np.zeros((len(state.alpha), *offers.shape[1:]), offers.dtype)
        state.offers[who] = offers

    def _answer(self, state: NeuralCohortState, to: Ints, version: int) -> Sequence[Outgoing[Upload]]:
        """Return what clients contribute; those who have observed too few since repeat what they told, and no sums."""
        enough = state.telling[to] >= self.smallest
        outgoing = [Outgoing(to[enough], self._contribution(state, to[enough], version))] if enough.any() else []
        few = to[~enough]
        if not few.size:
            return outgoing
        assert state.told is not None, "as with every smallest upload above 1"
        by_turns = self.weight.at(state.own.turns[few] + 1, state.alpha[few])
        return [*outgoing, Outgoing(few, state.told.repeated(self.exchange, few, by_turns, version))]

    def _contribution(self, state: NeuralCohortState, who: Ints, version: int) -> Upload:
        own, clients = state.own, len(state.alpha)
        self.learner.train(own, who, rows_of(self._training(state), who, clients))
        matrix = rows_of(own.matrix, who, clients)
        if self.weight.needs_ratio and state.offers is not None:
            ratio = plain(self.rounds.ratios(matrix, state.offers[who]))
        else:
            ratio = self.rounds.device.cast(self.weight.at(own.turns[who] + 1, state.alpha[who]))
        moment, diagonal = (rows_of(each, who, clients) for each in state.learnt[1:])
        thetas, inverse = rows_of(own.thetas, who, clients), self.rounds.inverse(matrix)
        if state.told is not None:
            state.told = state.told.with_news(who, thetas, inverse, ratio)
        upload = self.exchange.contribution(
            self.exchange.grams.take(state.new, who, one_each(diagonal, len(who))),
            one_each(moment, len(who)),
            thetas,
            ratio,
            inverse,
            np.full(len(who), version),
            state.unsent[who],
        )
        state.unsent[who] = state.telling[who] = 0
        nothing = self.nothing if is_everyone(who, clients) else one_each(self.nothing, len(who))
        pooled_moment = rows_of(state.learnt.pooled_moment, who, clients)
        self._put(state, who, Learnt(pooled_moment, nothing, nothing))
        return upload

    def _take_in(self, state: NeuralCohortState, to: Ints, message: Consensus) -> None:
        clients, grams = len(state.alpha), self.exchange.grams
        news = self.exchange.read(message)
        busy = to[state.unsent[to] > 0]
        for_all = is_everyone(to, clients) and not busy.size
        state.synced = grams.synced(state.synced, news.gram, news.rows, news.version)
        state.pooled = share_row(state.pooled, to, state.synced.matrix, clients)
        moment = share_row(state.learnt.pooled_moment, to, news.moment, clients)
        if not for_all:
            moment = one_each(moment, clients).at[busy].add(one_each(state.learnt.moment, clients)[busy])
            state.pooled = one_each(state.pooled, clients)
            for client in busy:  # what was not uploaded, or after it was observed, is not in the download
                own = grams.own(news.gram, state.new, one_each(state.learnt.diagonal, clients), client)
                state.pooled = state.pooled.at[client].set(own)
            state.pending = None if state.pending is None else jnp.asarray(state.pending).at[to].set(0)
        else:
            state.pending = None
        state.learnt = Learnt(moment, *state.learnt[1:])
        state.synced_diagonal = share_row(state.synced_diagonal, to, news.gram.diagonal, clients)
        state.thetas = share_row(state.thetas, to, news.weights, clients)
        # Before the first download one inverse stands for however many there are.
        sent = jnp.broadcast_to(state.sent, (len(state.sent), *news.inverses.shape[1:]))
        state.sent = share_row(sent, to, news.inverses, clients)
        state.alpha[to] = news.ratio
        state.heard[to] = True
        state.since[to] = 0
        state.version[to] = news.version


WEIGHTS: dict[str, Callable[[NeuralCohortState], Numbers]] = {
    "average": lambda state: state.thetas,
    "own": lambda state: state.own.thetas,
}
