"""The client side of the generalised linear family: turns in one compiled loop, and answers from the kept data."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from fedbandit.algorithms.glm.shared.messages import Behind, Call, Due, NewModel, Probe
from fedbandit.algorithms.glm.shared.steps import NoSteps, Shared, nothing_shared
from fedbandit.algorithms.glm.shared.updates import GlobalUpdate
from fedbandit.algorithms.glm.shared.widths import WidthRule
from fedbandit.core.arrays import Floats, Ints
from fedbandit.core.errors import InvalidInput
from fedbandit.core.former_names import formerly
from fedbandit.core.interfaces import Cadence, Clients, Outgoing, Played
from fedbandit.core.messages import Upload
from fedbandit.core.turns import Observations, Rewards, Turns
from fedbandit.kernels.glm import play as kernel
from fedbandit.kernels.glm.kept_data import Kept, is_full, nothing_kept, telling_of_each, with_more_room
from fedbandit.kernels.glm.links import mean
from fedbandit.kernels.glm.rows import GlmRows, Rule, empty_rows


@formerly("CohortState")
@dataclass
class GlmCohortState:
    """What the clients know, what they remember of global updates, and the observations that they keep."""

    rows: GlmRows
    shared: Shared
    kept: Kept
    turns: Ints  # (1,) turns of the whole cohort


class GlmClients(Clients):
    """Clients that keep their data, call for global updates on a schedule, and answer the server's questions."""

    cadence = Cadence.TURN
    draws = 0
    learns_from_choice = True

    def __init__(
        self, rule: Rule, update: GlobalUpdate | None, local: NoSteps, width: WidthRule, dimension: int
    ) -> None:
        """Take the kernels' rule and the strategies; without a global update the clients are alone."""
        self.rule = rule
        self.update = update
        self.local = local
        self.width = width
        self.dimension = dimension
        self.smallest = rule.schedule.smallest

    def start(self, clients: int) -> GlmCohortState:
        """Return a cohort that has seen nothing."""
        size, ridge = self.dimension, self.local.ridge
        rows = empty_rows(clients, size, ridge, self.rule.model.ridge, clients if self.local.has_metric else 0)
        rows.base[:], rows.offline[:] = self.width.at_update(0, 0.0, np.zeros((size, size)), np.zeros(size))
        shared = nothing_shared(clients, size, ridge)
        return GlmCohortState(rows, shared, nothing_kept(clients, size), np.zeros(1, dtype=np.int64))

    def choose(self, state: GlmCohortState, who: Ints, features: Floats, draws: Floats) -> Ints:  # noqa: ARG002
        """Return the arm of each client."""
        return kernel.choose_each(state.rows, who, features, self.rule)

    def predicted(self, state: GlmCohortState, who: Ints, features: Floats, choices: Ints) -> Floats:
        """Return the mean reward that each client's model gives its choice."""
        margins = (features[np.arange(len(who)), choices] * state.rows.estimate[who]).sum(axis=1)
        return np.array([mean(self.rule.link, margin) for margin in margins.tolist()])

    def learn(self, state: GlmCohortState, who: Ints, seen: Observations) -> Sequence[Outgoing[Upload]]:
        """Take in each client's reward; return the calls for an update that follow."""
        while any(is_full(state.kept, client) for client in who):
            state.kept = with_more_room(state.kept)
        due = kernel.learn_each(
            state.rows, state.kept, state.turns, self.rule, who, seen.features, seen.choice, seen.feedback
        )
        return [outgoing for client in who[due] for outgoing in self._call(state, np.array([client]))]

    def play(self, state: GlmCohortState, turns: Turns, start: int, draws: Floats) -> Played:  # noqa: ARG002
        """Play turns in one compiled loop until one calls for an update."""
        if not isinstance(turns.outcomes, Rewards):
            raise InvalidInput("this algorithm learns from rewards, not from duels: choose another environment")
        choices = np.empty(len(turns), dtype=np.int64)
        turn = start
        while True:
            turn, why = kernel.play(
                state.rows, state.kept, state.turns, self.rule, turns.client, turns.features, turns.outcomes.payoff,
                turn, choices,
            )  # fmt: skip
            if why == kernel.DUE:
                return Played(choices[start:turn], self._call(state, turns.client[turn - 1 : turn]))
            if why == kernel.DONE:
                return Played(choices[start:], ())
            state.kept = with_more_room(state.kept)

    def receive(self, state: GlmCohortState, to: Ints, message: Call | Probe | NewModel) -> Sequence[Outgoing[Upload]]:
        """Answer a call or a probe; take in the end of an update."""
        if self.update is None:
            return ()
        if isinstance(message, Call):
            return self._answer_call(state, to, message)
        if isinstance(message, Probe):
            to = to[state.shared.calling[to] == message.version]
            answer = self.update.gradients(state.kept, to, state.shared.called, message)
            return (Outgoing(to, answer),) if to.size else ()
        self._take_in(state, to[state.rows.version[to] < message.version], message)
        return ()

    def _call(self, state: GlmCohortState, client: Ints) -> Sequence[Outgoing[Upload]]:
        return (Outgoing(client, Due(state.rows.version[client] + 1, state.rows.turns[client])),)

    def _answer_call(self, state: GlmCohortState, to: Ints, call: Call) -> Sequence[Outgoing[Upload]]:
        assert self.update is not None
        rows, shared, kept = state.rows, state.shared, state.kept
        behind, ready = to[rows.version[to] < call.version - 1], to[rows.version[to] == call.version - 1]
        new = ready[shared.calling[ready] < call.version]  # a repeated call finds the same observations
        shared.before[new] = shared.called[new]
        self._take_part(state, new)
        shared.calling[new] = call.version
        if call.since >= 0:
            shared.before[ready] = call.since
            self._leave_out_few(state, ready)
        outgoing: list[Outgoing[Upload]] = []
        if ready.size:
            last = shared.model[ready]
            answer = self.update.statistics(kept, ready, shared.before, shared.called, last, call)
            outgoing.append(Outgoing(ready, answer))
        if behind.size:
            outgoing.append(Outgoing(behind, Behind(rows.version[behind])))
        return outgoing

    def _take_part(self, state: GlmCohortState, who: Ints) -> None:
        """Let clients take part in an update with all that they have observed, or as in the last, if that is too few.

        The number is fixed for the whole update: the gradient of some observations, and that of one more, would tell
        the one.
        """
        part = who[state.rows.telling[who] >= self.smallest]
        state.shared.called[part] = state.kept.length[part]
        state.rows.telling[part] = 0

    def _leave_out_few(self, state: GlmCohortState, who: Ints) -> None:
        """Let clients that are told from which observation on to answer tell nothing if too few have come since."""
        if not self.smallest:
            return
        shared, kept = state.shared, state.kept
        few = who[telling_of_each(kept, who, shared.before, shared.called) < self.smallest]
        few = few[shared.called[few] > shared.before[few]]
        shared.called[few] = shared.before[few]
        state.rows.telling[few] = telling_of_each(kept, few, shared.called, kept.length)

    def _take_in(self, state: GlmCohortState, to: Ints, message: NewModel) -> None:
        """Set what the update brings, then take in anew what was observed after the call for it."""
        if not to.size:
            return
        assert self.update is not None
        n = message.observations
        self.local.take_in(state.rows, state.shared, to, message)
        eps = self.update.suboptimality(n)
        state.rows.base[to], state.rows.offline[to] = self.width.at_update(n, eps, message.gram, message.model)
        kernel.catch_up(state.rows, state.kept, to, state.shared.called, self.rule)
