"""Choices mixed with uniform ones, around any algorithm that chooses one arm.

By itself an algorithm gives the arms of a turn chances p: 1 to the arm that it names (after a sample: given the
sample), or several where it draws a lot itself. With `explore` = e they become (1 - e) p + e / K, none of which is less
than e / K, and the turn's lot decides. The lot is the first standard normal of the turn; those of a sample follow it.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from statistics import NormalDist
from typing import Any

import numpy as np

from fedbandit.core.around import ClientsAround
from fedbandit.core.arrays import Floats, Ints
from fedbandit.core.forgetting import Forgets
from fedbandit.core.interfaces import Clients, Decided, Federation, Played, TurnByTurn
from fedbandit.core.lots import choices_by_lot
from fedbandit.core.turns import Turns

CAREFUL = 0.999  # of the way to where a lot may change the choice: sums of chances are rounded


class Exploring(TurnByTurn, ClientsAround):
    """A client side whose choices are mixed with uniform ones; in all else it is the side within."""

    def __init__(self, within: Clients, explore: float, arms: int) -> None:
        """Take the side, the share of uniform choices, and the number of arms where a turn offers one context."""
        super().__init__(within)
        self.arms = arms
        self.explore = explore
        self.samples = 0 if within.draws_lot else within.draws
        self.draws_lot, self.draws = True, 1 + self.samples

    def chances(self, state: Any, who: Ints, features: Floats, draws: Floats) -> Floats:
        """Return how likely each arm is before the lot is drawn; after a sample, given the sample."""
        if self.within.draws_lot:
            chances = self.within.chances(state, who, features, draws)
        else:
            chances = self.named(state, who, features, draws[:, 1:])
        return np.asarray((1.0 - self.explore) * chances + self.explore / chances.shape[1])

    def named(self, state: Any, who: Ints, features: Floats, sample: Floats) -> Floats:
        """Return 1 for the arm that the side within names, by a sample if it draws one, and 0 for all others."""
        table = np.zeros((len(who), features.shape[1] if features.ndim == 3 else self.arms))
        table[np.arange(len(who)), self.within.choose(state, who, features, sample)] = 1.0
        return table

    def decide(self, state: Any, who: Ints, features: Floats, draws: Floats) -> Decided:
        """Let the lot of each client decide."""
        decided = choices_by_lot(self.chances(state, who, features, draws), draws[:, 0])
        return decided._replace(expected=self.within.expected(state, who, features, decided.choices))

    def choose(self, state: Any, who: Ints, features: Floats, draws: Floats) -> Ints:
        """Return the arm of each client."""
        return self.decide(state, who, features, draws).choices

    def play(self, state: Any, turns: Turns, start: int, draws: Floats) -> Played:
        """Play turns: those whose lot can change nothing by the side within, at its speed, the others one at a time."""
        if self.within.draws_lot:
            return self._one_at_a_time(state, turns, start, draws)
        parts: list[Played] = []
        for part in self._parts(state, turns, start, draws):
            parts.append(part)
            if part.outgoing:
                break
        choices = np.concatenate([each.choices for each in parts])
        known = [each.propensity for each in parts if each.propensity is not None]
        return parts[-1]._replace(choices=choices, propensity=np.concatenate(known) if known else None)

    def _parts(self, state: Any, turns: Turns, start: int, draws: Floats) -> Iterator[Played]:
        """Play on, part by part, for as long as nothing is to be sent."""
        arms = turns.features.shape[1] if turns.features.ndim == 3 else self.arms
        sample = np.ascontiguousarray(draws[:, 1:])
        open_turns = start + np.flatnonzero(np.abs(draws[start:, 0]) > self._harmless(arms))
        for end in (*open_turns.tolist(), len(turns)):
            if start < end:
                played = self.within.play(state, turns.take(slice(end)), start, sample[:end])
                likely = np.full(len(played.choices), (1.0 - self.explore) + self.explore / arms)
                yield played._replace(propensity=likely if likely.size else None)
            if end < len(turns):
                yield self._one_at_a_time(state, turns.take(slice(end + 1)), end, draws[: end + 1])
            start = end + 1

    def _one_at_a_time(self, state: Any, turns: Turns, start: int, draws: Floats) -> Played:
        return super().play(state, turns, start, draws)

    def _harmless(self, arms: int) -> float:
        """Return up to how far from 0 the normal of a lot leaves the named arm, whichever that is.

        The arms before the named one have chances of (K - 1) e / K at most, and so have those after it.
        """
        others = self.explore * (arms - 1) / arms
        if others >= 0.5:
            return -1.0
        return CAREFUL * NormalDist().inv_cdf(1.0 - others) if others else math.inf


class ForgettingExploring(Exploring):
    """One around a side that forgets, as nodes have it do; of all that only some client sides can do, this is it."""

    def age(self, state: Any, weight: float) -> None:
        """Let all that was observed so far count for less."""
        self._forgets.age(state, weight)

    def aged(self, message: Any, weight: float) -> Any:
        """Return a download of an earlier epoch as it counts now."""
        return self._forgets.aged(message, weight)

    @property
    def _forgets(self) -> Forgets:
        assert isinstance(self.within, Forgets), "it is there for such sides alone"
        return self.within


def exploring(sides: Federation, explore: float, arms: int) -> Federation:
    """Return both sides with the clients' choices mixed with uniform ones; as they are where the share is 0."""
    if not explore:
        return sides
    around = ForgettingExploring if isinstance(sides.clients, Forgets) else Exploring
    return Federation(around(sides.clients, explore, arms), sides.server)
