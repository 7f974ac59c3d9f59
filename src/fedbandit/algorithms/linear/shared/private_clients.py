"""Clients that release noised sums on a fixed schedule, and choose by what they were sent.

The rule on which privacy rests: a choice depends on the client's last download, the arms on offer, fresh randomness and
counts. Never on its own sums, not even locally: else one observation would steer later arms of the same stream, and so
change more than itself. For the same reason nothing that was observed decides when a client releases.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from fedbandit.algorithms.linear.shared.private_blocks import ranks_of, until_one_acts
from fedbandit.algorithms.linear.shared.private_cohort import PrivateCohortState, nothing_observed
from fedbandit.algorithms.linear.shared.private_messages import NoisySums, Prefix, Question
from fedbandit.algorithms.linear.shared.private_model import PrivateRegression
from fedbandit.algorithms.linear.shared.private_schedule import OWN_COUNT, Schedule
from fedbandit.algorithms.linear.sync_linucb import Call
from fedbandit.core.arrays import Floats, Ints
from fedbandit.core.errors import InvalidInput
from fedbandit.core.interfaces import Cadence, Decided, Outgoing, Played, TurnByTurn
from fedbandit.core.lots import arm_by_lot, lot_of
from fedbandit.core.messages import Upload
from fedbandit.core.releases import Privacy, Releases
from fedbandit.core.scores import ScorePart
from fedbandit.core.turns import Observations, Rewards, Turns
from fedbandit.kernels.linear.confidence import optimistic_arm, thompson_sample
from fedbandit.kernels.linear.gap_weighting import gap_chances
from fedbandit.kernels.linear.ridge_rows import scratch_for
from fedbandit.kernels.privacy.noised_sums import NoisedSums
from fedbandit.kernels.shared.at_once import AtOnce
from fedbandit.kernels.shared.compiled import interpreted

SLACK = 1e-9  # relative: by which rounding may make an arm longer than it is
_optimistic_arm = AtOnce(optimistic_arm, lambda *call: call[0].size * call[0].shape[1])
_thompson_sample = interpreted(thompson_sample)  # once a turn: NumPy does it as fast
_gap_chances = AtOnce(gap_chances, lambda *call: call[0].size)


class PrivateClients(TurnByTurn):
    """The client side of `private-linucb`."""

    cadence = Cadence.TURN
    learns_from_choice = True

    def __init__(
        self, sums: NoisedSums, regression: PrivateRegression, schedule: Schedule, exploration: str, greed: float
    ) -> None:
        """Take how sums are noised, how scores are made of what comes back, and when clients release."""
        self.noised, self.regression, self.schedule = sums, regression, schedule
        self.exploration, self.greed = exploration, greed
        self.draws = {"ucb": 0, "igw": 1}.get(exploration, sums.dimension)
        self.draws_lot = exploration == "igw"
        self.noise_size = sums.size
        self.kinds = (NoisySums,) if schedule.name == OWN_COUNT else (NoisySums, Call)

    def start(self, clients: int) -> PrivateCohortState:
        """Return a cohort that has observed nothing."""
        return nothing_observed(clients, self.noised.dimension, self.noised.size)

    def lacks_noise(self, state: PrivateCohortState) -> Ints:
        """Return who has a release left and no noise for it."""
        return np.flatnonzero((state.drawn == state.releases) & (state.releases < self.noised.releases))

    def take_noise(self, state: PrivateCohortState, client: int, normals: Floats, stream: int = 0) -> None:
        """Take standard normals for a client's next release."""
        if not state.drawn[client]:
            state.stream[client] = stream
        room = state.normals.shape[1]
        if state.drawn[client] == room:
            more = min(max(4, 2 * room), self.noised.releases) - room
            state.normals = np.pad(state.normals, ((0, 0), (0, more), (0, 0)))
        state.normals[client, state.drawn[client]] = normals
        state.drawn[client] += 1

    def releases(self, state: PrivateCohortState, client: int) -> Releases:
        """Return how far a client has come."""
        told = state.stream[client], state.drawn[client], state.releases[client]
        return Releases(*map(int, told))

    def privacy(self, state: PrivateCohortState, client: int) -> Privacy | None:
        """Return what was promised and what is spent."""
        made, sums = int(state.releases[client]), self.noised
        return Privacy(sums.epsilon, sums.delta, sums.spent(made), sums.spent_mu(made), made, sums.releases - made)

    def decide(self, state: PrivateCohortState, who: Ints, features: Floats, draws: Floats) -> Decided:
        """Return the arm of each client; before its first download, one after the other in turn."""
        self._check_lengths(features)
        choices, likely = np.empty(len(who), dtype=np.int64), np.ones(len(who))
        scratch = scratch_for(*features.shape[1:])
        for each, client in enumerate(who.tolist()):
            arms = features[each]
            if not state.version[client]:
                choices[each] = state.observations[client] % len(arms)
            elif self.draws_lot:
                _gap_chances(arms, state.estimate[client], self.greed, scratch)
                chances = scratch[0, 0, : len(arms)]
                choices[each] = arm_by_lot(chances, lot_of(float(draws[each, 0])))
                likely[each] = chances[choices[each]]
            else:
                estimate, inverse, bonus = state.estimate[client], state.inverse[client], float(state.bonus[client])
                if self.draws:
                    estimate, bonus = _thompson_sample(estimate, inverse, bonus, draws[each]), 0.0
                choices[each] = _optimistic_arm(arms, estimate, inverse, bonus, scratch[0])
        return Decided(choices, likely if self.draws_lot else None)

    def choose(self, state: PrivateCohortState, who: Ints, features: Floats, draws: Floats) -> Ints:
        """Return the arm of each client."""
        return self.decide(state, who, features, draws).choices

    def chances(self, state: PrivateCohortState, who: Ints, features: Floats, draws: Floats) -> Floats:
        """Return how likely each client is to choose each arm, where a lot is drawn."""
        if not self.draws_lot:
            return super().chances(state, who, features, draws)
        self._check_lengths(features)
        found: Floats = np.zeros(features.shape[:2])
        scratch = scratch_for(*features.shape[1:])
        for each, client in enumerate(who.tolist()):
            if state.version[client]:
                _gap_chances(features[each], state.estimate[client], self.greed, scratch)
                found[each] = scratch[0, 0, : found.shape[1]]
            else:
                found[each, state.observations[client] % found.shape[1]] = 1.0
        return found

    def score_parts(self, state: PrivateCohortState, client: int) -> Sequence[ScorePart] | None:
        """Return what the client's optimistic scores consist of, once it has a download."""
        if self.draws or not state.version[client]:
            return None
        bonus = float(state.bonus[client])
        return (ScorePart(0, state.estimate[client].copy(), state.inverse[client].copy(), bonus),)

    def predicted(self, state: PrivateCohortState, who: Ints, features: Floats, choices: Ints) -> Floats | None:
        """Return the mean reward that the last download gives each choice."""
        chosen = features[np.arange(len(who)), choices]
        return np.asarray((chosen * state.estimate[who]).sum(axis=1))

    def learn(self, state: PrivateCohortState, who: Ints, seen: Observations) -> Sequence[Outgoing[Upload]]:
        """Add each client's observation to its sums; those whose count says so release."""
        arms = seen.features[np.arange(len(who)), seen.choice]
        self._check_lengths(arms)
        acting: list[int] = []
        for each, client in enumerate(who.tolist()):
            gram, moment = self.noised.products(arms[each], seen.feedback[each])
            state.gram[client] += gram
            state.moment[client] += moment
            state.observations[client] += 1
            state.fresh[client] += 1
            if state.fresh[client] >= self.schedule.due(int(state.releases[client] + state.questions[client])):
                acting.append(client)
        return self._act(state, np.array(acting, dtype=np.int64)) if acting else ()

    def play(self, state: PrivateCohortState, turns: Turns, start: int, draws: Floats) -> Played:
        """Play turns until the next client acts: who that is follows from counts, and no model changes before."""
        if self.exploration != "ucb" or not isinstance(turns.outcomes, Rewards):
            return super().play(state, turns, start, draws)
        clients = turns.client[start:]
        ranks = ranks_of(clients)
        end = until_one_acts(clients, ranks, self._left(state))
        clients, features = clients[:end], turns.features[start : start + end]
        self._check_lengths(features)
        choices = (state.observations[clients] + ranks[:end] - 1) % features.shape[1]
        scratch = scratch_for(*features.shape[1:])[0]
        for turn in np.flatnonzero(state.version[clients]).tolist():
            client = clients[turn]
            choices[turn] = optimistic_arm(
                features[turn], state.estimate[client], state.inverse[client], state.bonus[client], scratch
            )
        rewards = turns.outcomes.feedback(slice(start, start + end), choices)
        gram, moment = self.noised.products(features[np.arange(end), choices], rewards)
        for client in np.unique(clients).tolist():
            own = clients == client
            state.gram[client] += gram[own].sum(axis=0)
            state.moment[client] += moment[own].sum(axis=0)
        counts = np.bincount(clients, minlength=len(state.fresh))
        state.observations += counts
        state.fresh += counts
        acts = self._left(state)[clients[-1]] <= 0
        return Played(choices, self._act(state, clients[-1:]) if acts else ())

    def _left(self, state: PrivateCohortState) -> Ints:
        """Return how many observations each client lacks until it acts; one that never acts, very many."""
        due = np.array([self.schedule.due(done) for done in (state.releases + state.questions).tolist()])
        never = (self.schedule.name != OWN_COUNT) & (state.releases == self.noised.releases)
        return np.asarray(np.where(never, np.iinfo(np.int64).max, due - state.fresh))

    def receive(self, state: PrivateCohortState, to: Ints, message: NoisySums | Call) -> Sequence[Outgoing[Upload]]:
        """Take in a download; answer a call with the next release or, without news or a release left, the last one."""
        if isinstance(message, Call):
            for client in to[(state.fresh[to] > 0) & (state.releases[to] < self.noised.releases)].tolist():
                self._release(state, client)
            state.fresh[to] = 0
            return (Outgoing(to, self._last(state, to)),)
        model = self.regression.model(message.gram, message.moment, float(message.variance[0]))
        state.estimate[to], state.inverse[to], state.bonus[to] = model
        state.version[to] = message.version
        return ()

    def warnings(self, state: PrivateCohortState, ended: bool = False) -> Sequence[str]:  # noqa: ARG002
        """Tell of clients that have made all their releases."""
        done = int((state.releases == self.noised.releases).sum())
        if not done:
            return ()
        return (
            f"{done} of {len(state.releases)} clients have made all {self.noised.releases} releases, so that nothing "
            "that they learn from now on is shared: releases times batch should be the turns of a client",
        )

    def _act(self, state: PrivateCohortState, who: Ints) -> Sequence[Outgoing[Upload]]:
        has_left = state.releases[who] < self.noised.releases
        releasing, asking = who[has_left], who[~has_left]
        for client in releasing.tolist():
            self._release(state, client)
        sent: list[Outgoing[Upload]] = [Outgoing(releasing, self._last(state, releasing))] if releasing.size else []
        if asking.size and self.schedule.name == OWN_COUNT:
            state.questions[asking] += 1
            state.fresh[asking] = 0
            sent.append(Outgoing(asking, Question()))
        return sent

    def _release(self, state: PrivateCohortState, client: int) -> None:
        release = int(state.releases[client]) + 1
        if state.drawn[client] < release:
            raise RuntimeError(f"client {client} has no noise for release {release}: nothing leaves without")
        gram, moment = self.noised.noise(release, state.normals[client])
        state.released_gram[client] = state.gram[client] + gram
        state.released_moment[client] = state.moment[client] + moment
        state.released_observations[client] = state.observations[client]
        state.releases[client] = release
        state.fresh[client] = 0

    def _last(self, state: PrivateCohortState, who: Ints) -> Prefix:
        return Prefix(
            state.released_gram[who], state.released_moment[who], state.releases[who],
            state.released_observations[who], state.stream[who],
        )  # fmt: skip

    def _check_lengths(self, vectors: Floats) -> None:
        """Refuse arms beyond the bound on which the noise rests."""
        longest = math.sqrt(float(np.einsum("...d,...d->...", vectors, vectors).max(initial=0.0)))
        bound = self.noised.context_bound
        if not longest <= bound * (1.0 + SLACK):
            raise InvalidInput(
                f"an arm of length {longest:.6g}, but context_bound={bound:g} is the bound on which privacy rests: "
                "scale the features, or give a greater bound"
            )
