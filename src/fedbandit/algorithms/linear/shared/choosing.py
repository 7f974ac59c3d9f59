"""How clients of the linear family choose, one at a time: by a score, by a sample, or by lot.

Chances of inverse gap weighting depend on how far off a client's predictions were, each with the estimate that chose.
In a deployment the estimate has moved on when the reward comes, so a site keeps with each decision what it expected.
"""

from __future__ import annotations

from abc import abstractmethod
from typing import Any, NamedTuple

import numpy as np

from fedbandit.core.arrays import Floats, Ints
from fedbandit.core.interfaces import Clients, Decided
from fedbandit.core.turns import Observations
from fedbandit.kernels.linear.gap_weighting import Errors, GapModel, weigh_gaps
from fedbandit.kernels.linear.ridge import dot
from fedbandit.kernels.linear.ridge_rows import Model, scratch_for
from fedbandit.kernels.linear.rules import AUTO, IGW, UCB, Rule
from fedbandit.kernels.linear.turns import TurnKernels
from fedbandit.kernels.shared.at_once import AtOnce

_dot = AtOnce(dot, lambda *call: call[0].size)
_weigh_gaps = AtOnce(weigh_gaps, lambda *call: call[0].size * call[0].shape[1])


def no_errors(rows: int) -> Errors:
    """Return the errors of clients that have predicted nothing.

    >>> no_errors(2).turns
    array([0., 0.])
    """
    return Errors(np.zeros(rows), np.zeros(rows))


class Lots(NamedTuple):
    """Where choices by lot note how likely they were, and what reward is expected of them."""

    propensity: Floats
    expected: Floats
    made: Ints  # (1,) how many have been noted


def with_lots(model: Model, errors: Errors, lots: Lots) -> GapModel:
    """Return what scores use, beside the errors and the place for lots."""
    return GapModel(
        model.gram, model.moment, model.inverse, model.estimate, model.log_det, errors.squares, errors.turns,
        lots.propensity, lots.expected, lots.made,
    )  # fmt: skip


class ChoosingClients(Clients):
    """The part of a client side that chooses. The other part says what scores use, and lets clients begin."""

    learns_from_choice = True
    kernels: TurnKernels
    rule: Any  # as the kernels of this way to play need it

    @abstractmethod
    def scored(self, state: Any) -> Any:
        """Return what scores use, one row a client."""
        raise TypeError(f"{type(self).__name__} does not say what scores use")

    @abstractmethod
    def settle(self, state: Any, client: int) -> int:
        """Return the client's row, ready to act."""
        raise TypeError(f"{type(self).__name__} does not say how a client begins")

    def explore_by(self, rule: Rule, dimension: int) -> None:
        """Take the rule, and with it how many standard normals a turn draws."""
        self.rule = rule
        self.draws_lot = rule.exploration == IGW
        self.draws = {UCB: 0, IGW: 1}.get(rule.exploration, dimension)

    def decide(self, state: Any, who: Ints, features: Floats, draws: Floats) -> Decided:
        """Return the arm of each client, and how likely it was where a lot is drawn."""
        rows = [self.settle(state, client) for client in who.tolist()]
        choices, lots = np.empty(len(rows), dtype=np.int64), self.room_for_lots(len(rows))
        scored, scratch = self.scored_with(state, lots), scratch_for(*features.shape[1:])
        for each, row in enumerate(rows):
            choices[each] = self.kernels.choose(scored, row, features[each], draws[each], self.rule, scratch)
        if lots is None:
            return Decided(choices)
        return Decided(choices, lots.propensity, lots.expected if self.rule.greed == AUTO else None)

    def choose(self, state: Any, who: Ints, features: Floats, draws: Floats) -> Ints:
        """Return the arm of each client."""
        return self.decide(state, who, features, draws).choices

    def chances(self, state: Any, who: Ints, features: Floats, draws: Floats) -> Floats:
        """Return how likely each client is to choose each arm, where a lot is drawn."""
        if not self.draws_lot:
            return super().chances(state, who, features, draws)
        rows = [self.settle(state, client) for client in who.tolist()]
        scored, scratch = self.scored(state), scratch_for(*features.shape[1:])
        chances = np.empty(features.shape[:2])
        for each, row in enumerate(rows):
            _weigh_gaps(
                features[each], scored.estimate[row], scored.inverse[row], scored.log_det[row],
                state.errors.squares[row], state.errors.turns[row], self.rule, scratch,
            )  # fmt: skip
            chances[each] = scratch[0, 0, : features.shape[1]]
        return chances

    def expected(self, state: Any, who: Ints, features: Floats, choices: Ints) -> Floats | None:
        """Return the reward that each client expects, where its chances depend on how far off that is."""
        if not self.draws_lot or self.rule.greed != AUTO:
            return None
        estimate, row_of = self.scored(state).estimate, state.row_of
        acting = enumerate(zip(who.tolist(), choices.tolist(), strict=True))
        return np.array([_dot(features[each, arm], estimate[row_of[client]]) for each, (client, arm) in acting])

    def predicted(self, state: Any, who: Ints, features: Floats, choices: Ints) -> Floats:
        """Return the mean reward that each client's estimate gives its choice."""
        estimate, row_of = self.scored(state).estimate, state.row_of
        acting = enumerate(zip(who.tolist(), choices.tolist(), strict=True))
        return np.array([features[each, arm].dot(estimate[row_of[client]]) for each, (client, arm) in acting])

    def note_error(self, state: Any, row: int, seen: Observations, each: int) -> None:
        """Add how far off a prediction was: the one made when the client chose, or else the one made now."""
        if self.draws_lot:
            arm = seen.features[each, seen.choice[each]]
            expected = _dot(arm, self.scored(state).estimate[row]) if seen.expected is None else seen.expected[each]
            error, weight = seen.feedback[each] - expected, 1.0 if seen.weight is None else seen.weight[each]
            state.errors.squares[row] += weight * (error * error)
            state.errors.turns[row] += weight

    def room_for_lots(self, choices: int) -> Lots | None:
        """Return where so many choices by lot are noted; None where no lot is drawn."""
        return Lots(np.empty(choices), np.empty(choices), np.zeros(1, dtype=np.int64)) if self.draws_lot else None

    def scored_with(self, state: Any, lots: Lots | None) -> Any:
        """Return what scores use, and beside it what lots depend on and where they are noted."""
        scored = self.scored(state)
        return scored if lots is None else with_lots(scored, state.errors, lots)
