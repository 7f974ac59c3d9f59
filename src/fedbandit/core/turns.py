"""What the world shows and what it answers: turns, and the outcomes of choices.

A block of turns holds everything about the world that does not depend on the choices, so that one seed gives
every algorithm the same world. `features` is (turns, K, d), or (turns, d) where the arms of a turn share one
context. A choice is (turns,), or (turns, 2) for duels.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple, Protocol

import numpy as np

from fedbandit.core.arrays import Floats, Ints


class Outcomes(Protocol):
    """How the world answers the choices of a block of turns."""

    def feedback(self, turn: Ints | slice, choice: Ints) -> Floats:
        """Return what the clients observe: a reward, or 1 where the first of two arms won."""

    def reward(self, turn: Ints | slice, choice: Ints) -> Floats:
        """Return the reward of each choice (nan where the world pays none)."""

    def regret(self, turn: Ints | slice, choice: Ints) -> Floats:
        """Return the regret of each choice (nan where the world does not know it)."""

    def take(self, turn: Ints | slice) -> Outcomes:
        """Return the outcomes of some of the turns."""


@dataclass(frozen=True, slots=True)
class Rewards:
    """Every arm has a payoff (turns, K), of which the run reads only the chosen one, and perhaps a known mean.

    >>> world = Rewards(payoff=np.array([[0.1, 0.9]]), mean=np.array([[0.0, 1.0]]))
    >>> world.feedback(slice(None), np.array([1])), world.regret(slice(None), np.array([0]))
    (array([0.9]), array([1.]))
    """

    payoff: Floats
    mean: Floats | None = None

    def feedback(self, turn: Ints | slice, choice: Ints) -> Floats:
        """Return the chosen arms' rewards."""
        return _pick(self.payoff[turn], choice)

    def reward(self, turn: Ints | slice, choice: Ints) -> Floats:
        """Return the chosen arms' rewards."""
        return self.feedback(turn, choice)

    def regret(self, turn: Ints | slice, choice: Ints) -> Floats:
        """Return the best expected reward on offer minus the chosen arm's."""
        if self.mean is None:
            return np.full(len(choice), np.nan)
        mean = self.mean[turn]
        return np.asarray(mean.max(axis=1) - _pick(mean, choice))

    def take(self, turn: Ints | slice) -> Rewards:
        """Return the outcomes of some of the turns."""
        return Rewards(self.payoff[turn], None if self.mean is None else self.mean[turn])


@dataclass(frozen=True, slots=True)
class Duels:
    """Two arms meet; the first wins iff coin < sigmoid(utility of the first - utility of the second).

    >>> world = Duels(utility=np.array([[0.0, 2.0]]), coin=np.array([0.5]))
    >>> world.feedback(slice(None), np.array([[1, 0]])), world.regret(slice(None), np.array([[1, 0]]))
    (array([1.]), array([2.]))
    """

    utility: Floats
    coin: Floats

    def feedback(self, turn: Ints | slice, choice: Ints) -> Floats:
        """Return 1 where the first arm of the pair won, 0 where the second did."""
        utility = self.utility[turn]
        margin = _pick(utility, choice[:, 0]) - _pick(utility, choice[:, 1])
        odds_against = np.exp(np.minimum(-margin, 709.0))  # beyond, the exponential overflows
        return (self.coin[turn] < 1.0 / (1.0 + odds_against)).astype(np.float64)

    def reward(self, turn: Ints | slice, choice: Ints) -> Floats:  # noqa: ARG002
        """Return nan: a duel tells who won and pays nothing."""
        return np.full(len(choice), np.nan)

    def regret(self, turn: Ints | slice, choice: Ints) -> Floats:
        """Return 2 f(best) - f(first) - f(second)."""
        utility = self.utility[turn]
        shortfall = 2.0 * utility.max(axis=1) - _pick(utility, choice[:, 0]) - _pick(utility, choice[:, 1])
        return np.asarray(shortfall)

    def take(self, turn: Ints | slice) -> Duels:
        """Return the outcomes of some of the turns."""
        return Duels(self.utility[turn], self.coin[turn])


def _pick(table: Floats, column: Ints) -> Floats:
    return np.asarray(table[np.arange(len(column)), column])


@dataclass(frozen=True, slots=True)
class Turns:
    """A block of consecutive turns: whose turn it is, what is on offer, and how the world will answer."""

    client: Ints
    features: Floats
    outcomes: Outcomes
    draws: Floats | None = None  # (turns, m) the standard normals of each turn's choice, where the world fixes them
    epoch: Ints | None = None  # (turns,) the epoch of each turn, where the world says it

    def __len__(self) -> int:
        """Return the number of turns in the block."""
        return len(self.client)

    def take(self, turn: Ints | slice) -> Turns:
        """Return some of the turns, as views where `turn` is a slice.

        >>> block = Turns(np.arange(3), np.zeros((3, 2, 1)), Rewards(np.zeros((3, 2))))
        >>> block.take(slice(1, 3)).client
        array([1, 2])
        """
        draws = None if self.draws is None else self.draws[turn]
        epoch = None if self.epoch is None else self.epoch[turn]
        return Turns(self.client[turn], self.features[turn], self.outcomes.take(turn), draws, epoch)


@dataclass(frozen=True, slots=True)
class Observations:
    """What the acting clients learn from: the features on offer, what they chose, and what came back."""

    features: Floats
    choice: Ints
    feedback: Floats
    expected: Floats | None = None  # the reward, as `Clients.decide` said when it chose, where that was kept
    weight: Floats | None = None  # what each counts, where it is less than 1: it was chosen in an earlier epoch


class Chosen(NamedTuple):
    """The chosen arms of one turn, and their places among themselves: what an offer and a choice come down to."""

    features: Floats
    choice: Ints

    @classmethod
    def of(cls, features: Floats, choice: Ints) -> Chosen:
        """Leave out the arms of a turn that were not chosen; a context that all arms share stays as it is.

        >>> Chosen.of(np.array([[[1.0, 2.0], [3.0, 4.0]]]), np.array([1]))
        Chosen(features=array([[[3., 4.]]]), choice=array([0]))
        """
        if features.ndim == 2:
            return cls(features, choice)
        return cls(features[:, choice.ravel()], _FIRST if choice.ndim == 1 else _BOTH)


_FIRST, _BOTH = np.zeros(1, dtype=np.int64), np.array([[0, 1]])
