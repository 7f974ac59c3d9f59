"""Many rounds in one compiled loop: clients that choose, observe, train and, where they do, communicate every round.

Where both sides share a process, nothing has to leave the device between two rounds but the arms that were chosen. The
steps are those of `fedbandit.kernels.neural.steps`; a loop saves what it costs to start them one by one. The one who
uses it is the simulation's shortcut, `fedbandit.algorithms.neural.shared.shortcut`.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import NamedTuple, TypeAlias

import jax
import jax.numpy as jnp
import numpy as np

from fedbandit.kernels.neural.arrays import Array, Numbers
from fedbandit.kernels.neural.matrices import squares
from fedbandit.kernels.neural.rounds import rounds_of
from fedbandit.kernels.neural.steps import Past, Plan


class RoundSettings(NamedTuple):
    """How the clients of a federation go through a round; equal settings share what is compiled."""

    rate_bound: str  # lengths, count
    train_until: int
    trains_from: str = "own"  # own, average, initial
    predicts_with: str = "own"  # own, average
    weighs_ratio: bool = False
    all_inverses: bool = False


class Alone(NamedTuple):
    """What clients have from their own observations."""

    past: Past
    matrix: Array  # V_local
    thetas: Array
    load: Array  # (n,) the n of theorem 1's rate


class Shared(NamedTuple):
    """What all clients have from the last communication, in one row."""

    moment: Array  # (1, q) B_sync
    diagonal: Array  # (1, q) of W_sync
    average: Array  # (1, p_0) theta_sync,NN
    alpha: Array  # ()


class Matrices(NamedTuple):
    """The large part of what all have: V-bar, and the inverses that were broadcast."""

    pooled: Array  # (1, ...)
    sent: Array  # (1, number, ...)


Communicated: TypeAlias = tuple[Alone, Shared, Matrices, Array]  # and the arms that were chosen


class Offers(NamedTuple):
    """What the world has for some rounds: (SPAN, n, K, d), (SPAN, n, K), and (SPAN, n, numbers) besides."""

    arms: Array
    payoffs: Array
    own: Array  # whether anything was communicated yet, and alpha; or the directions in which a lone client looks


def squared_lengths(contexts: Numbers) -> Numbers:
    """Return max(1, |x|^2): how many contexts of length 1 have gradients as long as these together.

    >>> squared_lengths(jnp.array([[0.5, 0.0], [3.0, 4.0]])).tolist()
    [1.0, 25.0]
    """
    return (contexts**2).sum(axis=1).clip(1.0)


LOADS: dict[str, Callable[[Numbers], Numbers]] = {"lengths": squared_lengths, "count": lambda rows: np.ones(len(rows))}


class WholeRounds:
    """The compiled loops of one plan and its settings."""

    def __init__(self, plan: Plan, settings: RoundSettings) -> None:
        """Take the steps of the plan."""
        self.steps = rounds_of(plan).steps
        self.settings = settings
        self.loads = LOADS[settings.rate_bound]
        compiled = self.steps.device.compiled
        self.play_communicating = compiled(self._communicating, static=("trains",), consumed=(0, 2))
        self.play_alone = compiled(self._alone, static=("trains",), consumed=(0,))

    def _communicating(
        self, alone: Alone, shared: Shared, matrices: Matrices, offers: Offers, span: Array, *, trains: bool
    ) -> Communicated:
        """Play rounds that end with a communication each; `span` is (rounds so far, next row of features, rounds).

        Returns what the clients and the server then have, and the arms (SPAN, n).
        """
        first, slot, count = span

        def play(place: Array, state: Communicated) -> Communicated:
            alone, shared, matrices, choices = state
            arms = offers.arms[place]
            choice = self._choice(alone, shared, matrices, arms, offers.own[place])
            alone, seen, rewards = self._observe(
                alone, choice, arms, offers.payoffs[place], first + place, slot + place
            )
            if trains:
                alone = self._train(alone, shared.average, first + place + 1)
            shared, matrices = self._communicate(alone, shared, matrices, arms, seen, rewards)
            return alone, shared, matrices, choices.at[place].set(choice)

        begin = alone, shared, matrices, _no_choices(offers)
        played: Communicated = jax.lax.fori_loop(0, count, play, begin)
        return played

    def _alone(self, alone: Alone, offers: Offers, span: Array, *, trains: bool) -> tuple[Alone, Array]:
        """Play rounds of clients that never communicate."""
        first, slot, count = span

        def play(place: Array, state: tuple[Alone, Array]) -> tuple[Alone, Array]:
            alone, choices = state
            arms = offers.arms[place]
            heard = jnp.full(len(arms), first + place > 0, arms.dtype)
            choice = self.steps.choose_by_own_bound(arms, alone.matrix, alone.thetas, heard, offers.own[place])
            alone, _, _ = self._observe(alone, choice, arms, offers.payoffs[place], first + place, slot + place)
            if trains:
                alone = self._train(alone, alone.thetas, first + place + 1)
            return alone, choices.at[place].set(choice.astype(jnp.int32))

        played: tuple[Alone, Array] = jax.lax.fori_loop(0, count, play, (alone, _no_choices(offers)))
        return played

    def _choice(self, alone: Alone, shared: Shared, matrices: Matrices, arms: Array, own: Array) -> Array:
        thetas = shared.average if self.settings.predicts_with == "average" else alone.thetas
        if self.settings.weighs_ratio:
            own = own.at[:, 1].set(shared.alpha)
        choice = self.steps.choose_by_both_bounds(arms, matrices.pooled, shared.moment, thetas, matrices.sent, own)
        return choice.astype(jnp.int32)

    def _observe(
        self, alone: Alone, choice: Array, arms: Array, payoffs: Array, at: Array, slot: Array
    ) -> tuple[Alone, Array, Array]:
        """Take in what the chosen arms pay; return also their features and rewards."""
        picked = jnp.maximum(choice, 0)[:, None]
        chosen = jnp.take_along_axis(arms, picked[:, :, None], axis=1)[:, 0]
        rewards = jnp.take_along_axis(payoffs, picked, axis=1)
        at = jnp.where(at < self.settings.train_until, at, jnp.iinfo(jnp.int32).max)
        everyone = jnp.arange(len(arms), dtype=jnp.int32)
        places = jnp.stack([everyone, jnp.full_like(everyone, at), jnp.full_like(everyone, slot)])
        observed = jnp.concatenate([chosen, rewards], axis=1)
        past, matrix, seen = self.steps.observe(alone.past, alone.matrix, observed, places)
        return Alone(past, matrix, alone.thetas, alone.load + self.loads(chosen)), seen, rewards

    def _train(self, alone: Alone, average: Array, count: Array) -> Alone:
        begins = {"own": alone.thetas, "average": average, "initial": jnp.asarray(self.steps.network.initial)[None]}
        begin = begins[self.settings.trains_from].astype(alone.thetas.dtype)
        sizes = jnp.stack([jnp.full_like(alone.load, count), alone.load])
        thetas = self.steps.train(alone.thetas, begin, alone.past.contexts, alone.past.rewards, sizes)
        return alone._replace(thetas=thetas)

    def _communicate(
        self, alone: Alone, shared: Shared, matrices: Matrices, arms: Array, seen: Array, rewards: Array
    ) -> tuple[Shared, Matrices]:
        """Return what all have when everybody's news were summed up, averaged and broadcast."""
        diagonal = shared.diagonal + squares(self.steps.copies, seen).sum(axis=0, keepdims=True)
        moment, average, sent = self.steps.gather(
            shared.moment,
            rewards * seen,
            alone.thetas,
            self.steps.matrices.inverse(alone.matrix),
            averages=not self.settings.all_inverses,
        )
        alpha = self.steps.ratios(alone.matrix, arms).min() if self.settings.weighs_ratio else shared.alpha
        pooled = self.steps.grams.joined(matrices.pooled, seen, diagonal)
        return Shared(moment, diagonal, average, alpha), Matrices(pooled, sent)


def _no_choices(offers: Offers) -> Array:
    return jnp.zeros(offers.arms.shape[:2], jnp.int32)


@lru_cache(maxsize=16)
def whole_rounds_of(plan: Plan, settings: RoundSettings) -> WholeRounds:
    """Return the compiled loops of a plan and its settings, the same ones whenever they are equal."""
    return WholeRounds(plan, settings)
