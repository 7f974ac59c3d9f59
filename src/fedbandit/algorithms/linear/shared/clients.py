"""Clients that keep ridge regressions, and deal with their server in one of the ways of `shared.ways`.

A client has a row once it has acted. A download is noted as the slot of a shared snapshot and taken in when the client
next acts: V_i := V_g + dV_i, where V_i - dV_i is what was last shared with it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np

from fedbandit.algorithms.linear.shared.carrying_over import carried_download, carry_cohort
from fedbandit.algorithms.linear.shared.choosing import no_errors
from fedbandit.algorithms.linear.shared.cohort import LinearCohortState
from fedbandit.algorithms.linear.shared.correspondence import Correspondents
from fedbandit.algorithms.linear.shared.exchange import begin_exchange, no_exchange
from fedbandit.algorithms.linear.shared.forgetting import add_late, age_cohort, aged_download
from fedbandit.algorithms.linear.shared.ways import Delivery, Way
from fedbandit.core.arrays import Bools, Floats, Ints
from fedbandit.core.errors import InvalidInput
from fedbandit.core.interfaces import Cadence, Outgoing, Played
from fedbandit.core.messages import Upload
from fedbandit.core.scores import ScorePart
from fedbandit.core.turns import Observations, Rewards, Turns
from fedbandit.kernels.linear import ridge_rows as kernel
from fedbandit.kernels.linear.confidence import Width, width
from fedbandit.kernels.linear.rules import Rule
from fedbandit.kernels.linear.snapshots import empty_snapshots
from fedbandit.kernels.linear.turns import (
    ASK,
    BY_DOWNLOAD,
    DONE,
    FIRST,
    NEWCOMER,
    RIDGE,
    UPLOAD,
    TurnKernels,
    reason_of_one,
)
from fedbandit.kernels.shared.rows import roomier


def score_part(model: Any, row: int, shape: Width, first: int = 0) -> ScorePart:
    """Return what a row adds to the scores of arms, by their coordinates from `first` on."""
    bonus = float(width(model.log_det[row], shape))
    return ScorePart(first, model.estimate[row].copy(), model.inverse[row].copy(), bonus)


class LinearClients(Correspondents):
    """Clients that upload when their trigger passes a threshold.

    A variant says by `scored` what scores use, by `begin` how that starts, by `ways` how turns are played, and by
    `news` what a client sends after a turn.
    """

    cadence = Cadence.TURN
    ways: ClassVar[dict[bool, dict[int, TurnKernels]]] = {True: RIDGE, False: BY_DOWNLOAD}  # by `Way.uses_own`

    def __init__(self, rule: Rule, dimension: int, thresholds: Floats, way: Way, greets: Bools) -> None:
        """Take the rule, the way to deal with the server, each client's upload threshold and whether it says hello.

        A threshold is compared with the growth log(det(V_i + ridge I) / det(V_i - dV_i + ridge I)), so it is the
        logarithm of a ratio of determinants; with a timed rule, with growth times observations.
        """
        self.explore_by(rule, dimension)
        self.ridge = rule.ridge
        self.is_timed = rule.timed
        self.kernels = self.ways[way.uses_own][rule.exploration]
        self.dimension = dimension
        self.sizes = {"d": dimension}  # of the messages: perhaps of a part of the features only
        self.thresholds = thresholds
        self.smallest = way.smallest
        self.way = way
        self.greets = greets
        self.kinds = way.downloads
        self.asks = way.welcome or way.delivery is Delivery.TURN

    def start(self, clients: int) -> LinearCohortState:
        """Return a cohort that has seen nothing; memory that no row has used yet is not taken."""
        return LinearCohortState(
            row_of=np.full(clients, -1, dtype=np.int64),
            used=np.zeros(1, dtype=np.int64),
            slot_of=np.full(clients, -1, dtype=np.int64),
            rows=kernel.empty_rows(min(clients, 64), self.dimension),
            shared=empty_snapshots(4, self.dimension),
            downloaded=None if self.way.uses_own else kernel.empty_model(min(clients, 64), self.dimension),
            exchange=no_exchange(min(clients, 64), self.dimension, clients),
            errors=no_errors(min(clients, 64)) if self.draws_lot else None,
        )

    def scored(self, state: Any) -> Any:
        """Return what scores use: all that the clients know, or their last downloads."""
        return kernel.model_of(state.rows) if self.way.uses_own else state.downloaded

    def score_parts(self, state: Any, client: int) -> Sequence[ScorePart] | None:
        """Return what the client's optimistic scores consist of; it does not choose by a sample or by lot."""
        return None if self.draws else self.parts(state, self.settle(state, client))

    def parts(self, state: Any, row: int) -> Sequence[ScorePart]:
        """Return the parts of the scores of a row."""
        return (score_part(self.scored(state), row, self.rule.width),)

    def begin(self, state: Any, row: int) -> None:
        """Prepare the row of a client that acts for the first time."""
        kernel.begin(state.rows, row, self.ridge)
        if not self.way.uses_own:
            kernel.begin(state.downloaded, row, self.ridge)
        begin_exchange(state.exchange, row, self.way.first_ask)

    def grow(self, state: Any) -> None:
        """Make room for more rows."""
        most = len(state.row_of)
        state.rows, state.exchange = roomier(state.rows, most), roomier(state.exchange, most)
        if not self.way.uses_own:
            state.downloaded = roomier(state.downloaded, most)
        if state.errors is not None:
            state.errors = roomier(state.errors, most)

    def revised(self, state: Any, before: Any, places: Ints | None = None) -> Any:  # noqa: ARG002
        """Carry sums over; begin to note errors of predictions where chances depend on them from now on, or stop it."""
        if places is not None:
            carry_cohort(state, self.ridge, places)
        if not self.draws_lot:
            state.errors = None
        elif state.errors is None:
            state.errors = no_errors(len(state.rows.fresh))
        return state

    def age(self, state: Any, weight: float) -> None:
        """Let all that the clients have observed or been told count for less, from the next turn on."""
        age_cohort(state, self.ridge, weight)

    def carried_over(self, message: Any, before: Any, places: Ints) -> Any:
        """Return a download as it is with other features or another ridge."""
        return carried_download(message, places, before.ridge)

    def aged(self, message: Any, weight: float) -> Any:
        """Return a download of an earlier epoch as it counts now; a signal is what it is."""
        return message if message.is_signal() else aged_download(message, weight, self.ridge)

    def learn(self, state: LinearCohortState, who: Ints, seen: Observations) -> Sequence[Outgoing[Upload]]:
        """Take in each client's reward; return the uploads and hellos that follow."""
        outgoing: list[Outgoing[Upload]] = []
        scratch = kernel.scratch_for(*seen.features.shape[1:])
        for each, client in enumerate(who.tolist()):
            row = self.settle(state, client)
            rows, arm = state.rows, seen.features[each, seen.choice[each]]
            self.note_error(state, row, seen, each)
            if seen.weight is None or seen.weight[each] == 1.0:
                self.kernels.observe(rows, self.scored(state), row, arm, float(seen.feedback[each]), self.rule, scratch)
            else:
                add_late(rows, row, arm, float(seen.feedback[each]), self.ridge, float(seen.weight[each]))
            news = rows.growth[row], rows.fresh[row], rows.telling[row], rows.turns[row]
            why = reason_of_one(*news, self.is_timed, self.smallest, self.thresholds[client])
            if why != DONE:
                outgoing += self.news(state, who[each : each + 1], why)
        return outgoing

    def play(self, state: LinearCohortState, turns: Turns, start: int, draws: Floats) -> Played:
        """Play turns in one compiled loop until one sends something."""
        if not isinstance(turns.outcomes, Rewards):
            raise InvalidInput("this algorithm learns from rewards, not from duels: choose another environment")
        end, scratch = len(turns), kernel.scratch_for(*turns.features.shape[1:])
        choices, turn, lots = np.empty(end, dtype=np.int64), start, self.room_for_lots(end - start)
        why = NEWCOMER if state.row_of[turns.client[start]] < 0 else DONE
        while turn < end:
            if why == NEWCOMER:
                self.settle(state, int(turns.client[turn]))
            turn, why = self.kernels.play(
                state.row_of, state.slot_of, state.rows, state.shared, self.scored_with(state, lots), self.rule,
                self.is_timed, self.smallest, self.thresholds, state.exchange.next_ask, turns.client,
                turns.features, turns.outcomes.payoff, draws, turn, choices, scratch,
            )  # fmt: skip
            outgoing: Sequence[Outgoing[Upload]] = ()
            if why == ASK:
                outgoing = self.ask(state, turns.client[turn : turn + 1])
            elif why in (FIRST, UPLOAD):
                outgoing = self.news(state, turns.client[turn - 1 : turn], why)
            if outgoing:
                likely = lots and lots.propensity[: turn - start]
                return Played(choices[start:turn], outgoing, likely, asks=why == ASK)
        return Played(choices[start:], (), lots and lots.propensity)

    def settle(self, state: LinearCohortState, client: int) -> int:
        """Return the client's row, ready to act: begun if this is its first turn, its download taken in."""
        row = int(state.row_of[client])
        if row < 0:
            row = int(state.used[0])
            if row == len(state.rows.fresh):
                self.grow(state)
            state.used[0] += 1
            state.row_of[client] = row
            self.begin(state, row)
        slot = int(state.slot_of[client])
        if slot >= 0:
            scratch = kernel.scratch_for(0, self.dimension)
            self.kernels.take_in(state.rows, self.scored(state), row, state.shared, slot, self.rule, scratch)
            state.slot_of[client] = -1
            state.shared.users[slot] -= 1
        return row
