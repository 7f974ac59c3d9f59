"""The simulation's shortcut (`core.shortcuts.RoundsShortcut`) for the neural family: many rounds in one loop.

A GPU takes longer to be told of a round's small steps, one after the other, than to compute them: message by message
the runs of `python -m benchmarks.neural_gpu` miss their limits, in one compiled loop they keep them. Every round
exchanges the same kinds and sizes, so one round of messages, made of what is known in the end, says what each counts.

Choices, ledger, and what both sides know afterwards are those of the message path. A test compares them for every
parameter that the algorithms declare: `tests/algorithms/neural/test_shortcut.py`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TypeAlias

import jax.numpy as jnp
import numpy as np
import numpy.typing as npt

from fedbandit.algorithms.neural.shared.cohort import NeuralCohortState
from fedbandit.algorithms.neural.shared.directions import directions_of
from fedbandit.algorithms.neural.shared.exchange import Exchange
from fedbandit.algorithms.neural.shared.learner import Learner, Own
from fedbandit.algorithms.neural.shared.messages import Call, SyncRequest
from fedbandit.algorithms.neural.shared.server import NeuralServerState
from fedbandit.algorithms.neural.shared.weights import Weight
from fedbandit.algorithms.random_choice import NoState
from fedbandit.core.arrays import Floats, Ints
from fedbandit.core.interfaces import Outgoing
from fedbandit.core.messages import Message
from fedbandit.core.shortcuts import SimulatedRounds
from fedbandit.core.turns import Turns
from fedbandit.kernels.neural.arrays import Array
from fedbandit.kernels.neural.cohort import one_each
from fedbandit.kernels.neural.device import plain
from fedbandit.kernels.neural.grams import SPAN, Gram, Synced
from fedbandit.kernels.neural.steps import Learnt
from fedbandit.kernels.neural.whole_rounds import Alone, Matrices, Offers, RoundSettings, Shared, whole_rounds_of

Int32s: TypeAlias = npt.NDArray[np.int32]


class RoundsInSpans:
    """What lone clients and communicating ones have in common: a block of rounds, cut into spans."""

    def __init__(self, learner: Learner, settings: RoundSettings) -> None:
        """Take how clients learn, and their settings."""
        self.learner = learner
        self.rounds = learner.rounds
        self.loops = whole_rounds_of(learner.rounds.plan, settings)

    def spans(self, own: Own, turns: Turns, most: Callable[[], int]) -> Iterator[tuple[slice, bool]]:
        """Yield rounds to play at once, and whether networks are trained in them.

        A span ends where inverses are to be computed afresh (`most` says for how many rounds that can wait), or where
        the training ends.
        """
        done, whole = 0, len(turns) // len(own.turns)
        while done < whole:
            length, trains = self.learner.span(own, min(most(), whole - done))
            yield slice(done, done + length), trains
            done += length

    def offers(self, turns: Turns, clients: int, rounds: slice, needed: Floats) -> Offers:
        """Return what the world has for these rounds, with as much room as the compiled loop has."""
        now = slice(rounds.start * clients, rounds.stop * clients)
        features, outcomes = turns.features[now], turns.outcomes.take(now)
        arms = np.arange(features.shape[1])
        payoffs = [outcomes.feedback(slice(None), np.full(len(features), arm)) for arm in arms]
        parts = (features, np.stack(payoffs, axis=1), needed)
        return Offers(*(self._with_room_for_all(each, clients) for each in parts))

    def _with_room_for_all(self, values: Floats, clients: int) -> Floats:
        whole = np.zeros((SPAN, clients, *values.shape[1:]), self.rounds.device.dtype)
        whole[: len(values) // clients] = values.reshape(-1, clients, *values.shape[1:])
        return whole

    def begin(self, own: Own, rounds: slice) -> tuple[Alone, Int32s]:
        """Return what the device needs of the clients, and the numbers of the span."""
        length = rounds.stop - rounds.start
        own.past = self.learner.room_for(own, int(own.turns[0]) + length - 1)
        span = np.array([own.turns[0], own.used[0], length], dtype=np.int32)
        return Alone(own.past, own.matrix, own.thetas, self.rounds.device.cast(own.load)), span

    def end(self, own: Own, after: Alone, arms: Array, turns: Turns, rounds: slice) -> Ints:
        """Take back what the device made of the clients; return the arms of all turns of the span."""
        clients, length = len(own.turns), rounds.stop - rounds.start
        choices = self.learner.checked_rounds(plain(arms)[:length].astype(np.int64), own)
        now = np.arange(rounds.start * clients, rounds.stop * clients)
        chosen = turns.features[now, choices.ravel()]
        own.past, own.matrix, own.thetas = after.past, after.matrix, after.thetas
        own.turns += length
        own.used += length
        own.load += self.learner.loads(chosen).reshape(length, clients).sum(axis=0)
        return choices.ravel()


class LoneShortcut(RoundsInSpans):
    """Lone clients."""

    def simulate_rounds(self, clients: Own, server: NoState, turns: Turns, draws: Floats) -> SimulatedRounds:  # noqa: ARG002
        """Play a block of rounds; `draws` are the directions of samples, if there are any."""
        count = len(clients.turns)
        looks = directions_of(turns.features, draws, draws.shape[1])
        choices = []
        with self.rounds.active():
            for rounds, trains in self.spans(clients, turns, lambda: SPAN):
                now = slice(rounds.start * count, rounds.stop * count)
                offers = self.offers(turns, count, rounds, looks[now])
                alone, span = self.begin(clients, rounds)
                after, arms = self.loops.play_alone(alone, offers, span, trains=trains)
                choices.append(self.end(clients, after, arms, turns, rounds))
                self.learner.refresh(clients)
        return SimulatedRounds(np.concatenate(choices), ())


class FNUCBShortcut(RoundsInSpans):
    """Clients that communicate after every round (D = 0)."""

    def __init__(self, learner: Learner, settings: RoundSettings, exchange: Exchange, weight: Weight) -> None:
        """Take besides how messages are made, and how much the network's bound counts."""
        super().__init__(learner, settings)
        self.exchange = exchange
        self.weight = weight

    def simulate_rounds(
        self,
        clients: NeuralCohortState,
        server: NeuralServerState,
        turns: Turns,
        draws: Floats,  # noqa: ARG002
    ) -> SimulatedRounds:
        """Play a block of rounds; nothing is under way before or after it."""
        choices = []
        with self.rounds.active():
            for rounds, trains in self.spans(clients.own, turns, lambda: self._until_afresh(clients, server)):
                choices.append(self._play(clients, server, turns, rounds, trains))
            exchange = tuple(self._exchange(clients, server))
        return SimulatedRounds(np.concatenate(choices), exchange)

    def _until_afresh(self, state: NeuralCohortState, server: NeuralServerState) -> int:
        """Return for how many rounds the pooled inverse can be updated; computed afresh if for none."""
        grams, count = self.exchange.grams, len(state.alpha)
        if not grams.rounds_left(state.synced.updates, count):
            state.pooled = grams.afresh(server.whole.gram)
            state.synced = Synced(state.pooled, server.version, 0)
        left: int = grams.rounds_left(state.synced.updates, count)
        return max(1, left)

    def _play(
        self, state: NeuralCohortState, server: NeuralServerState, turns: Turns, rounds: slice, trains: bool
    ) -> Ints:
        own, count, grams = state.own, len(state.alpha), self.exchange.grams
        length = rounds.stop - rounds.start
        offers = self.offers(turns, count, rounds, self._standing(state, length))
        alone, span = self.begin(own, rounds)
        number = count if self.exchange.all_inverses else 1
        sent = state.sent if state.sent.shape[1] == number else jnp.repeat(state.sent, number, axis=1)
        alpha = self.rounds.device.cast(state.alpha.min())
        before = Shared(state.learnt.pooled_moment, state.synced_diagonal, state.thetas, alpha)
        alone, shared, matrices, arms = self.loops.play_communicating(
            alone, before, Matrices(state.pooled, sent), offers, span, trains=trains
        )
        choices = self.end(own, alone, arms, turns, rounds)
        server.whole = grams.summed(server.whole, shared.diagonal, own.past.features, int(span[1]))
        server.moment = shared.moment
        server.version += length
        self.learner.refresh(own)
        state.pooled, state.sent = matrices
        state.synced = Synced(state.pooled, server.version, state.synced.updates + count * length)
        state.learnt = Learnt(shared.moment, *state.learnt[1:])
        state.synced_diagonal = shared.diagonal
        state.thetas = shared.average
        state.alpha[:] = self.weight.at(own.turns + 1, np.full(count, float(plain(shared.alpha)))).min()
        state.heard[:] = True
        state.version[:] = server.version
        if self.weight.needs_ratio:
            state.offers = offers.arms[length - 1]
        return choices

    def _standing(self, state: NeuralCohortState, length: int) -> Floats:
        """Return for each turn whether anything was communicated before it, and its alpha if it is known."""
        count = len(state.alpha)
        heard = np.ones((length, count))
        heard[0] = state.heard
        alpha = [self.weight.at(state.own.turns + ahead, state.alpha) for ahead in range(1, length + 1)]
        return np.stack([heard.ravel(), np.concatenate(alpha)], axis=1)

    def _exchange(self, state: NeuralCohortState, server: NeuralServerState) -> Iterator[Outgoing[Message]]:
        """Yield what each of the rounds exchanged, as far as a ledger counts it: kinds, recipients and sizes."""
        count, make = len(state.alpha), self.exchange
        everyone = np.arange(count)
        nothing = one_each(state.learnt.moment, count)
        news = Gram(nothing, None, nothing[:, None])
        inverses = self.rounds.inverse(state.own.matrix)
        yield Outgoing(everyone, SyncRequest(state.version))
        yield Outgoing(everyone, Call(server.version))
        alpha = self.rounds.device.cast(state.alpha)
        count_each = np.ones(count, dtype=np.int64)
        yield Outgoing(
            everyone,
            make.contribution(news, nothing, state.own.thetas, alpha, inverses, state.version, count_each),
        )
        yield Outgoing(
            everyone, make.consensus(server.whole, server.moment, state.thetas, alpha[0], state.sent, server.version)
        )
