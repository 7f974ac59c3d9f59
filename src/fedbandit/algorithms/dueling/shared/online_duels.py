"""The client side of FLDB-OGD (algorithm 1), and what it exchanges with the server."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from fedbandit.algorithms.dueling.shared.family import ArmRule, Beliefs, DuelingClients
from fedbandit.algorithms.dueling.shared.parts import ProgressPart, part_of
from fedbandit.algorithms.dueling.shared.search import Gradient, Probe
from fedbandit.core.arrays import Floats, Ints, no_ints
from fedbandit.core.bounds import Bounds, check_counts, check_length
from fedbandit.core.former_names import formerly
from fedbandit.core.interfaces import Outgoing
from fedbandit.core.messages import Download, Layout, Upload, array, header
from fedbandit.core.turns import Observations
from fedbandit.kernels.dueling.choices import share_inverse, winner_minus_loser
from fedbandit.kernels.dueling.preference import accumulate, gradients_of_one


@dataclass(frozen=True)
class Progress(Upload, kind="dueling.progress"):
    """A client's sums since the last communication: the gradient at theta_hat, and W_new."""

    gradient: Floats = array(shape=("d",))
    information: Floats = array(Layout.SYMMETRIC, shape=("d", "d"))
    rounds: Ints = header()  # that the client has played in all

    def check(self, bounds: Bounds) -> None:
        """Refuse what is no sum over n <= `rounds` duels: of z z^T, and of gradients -z sigmoid(-theta^T z).

        The information is positive semi-definite with trace at most n (2 L)^2, and by Cauchy and Schwarz
        |gradient|^2 <= (sum |z|)^2 <= n trace. How many duels it is at most, the server knows from the period.
        """
        check_counts(rounds=self.rounds - 1)
        for each, rounds in enumerate(self.rounds.tolist()):
            self.check_sums(bounds, each, rounds)

    def check_sums(self, bounds: Bounds, place: int, duels: int) -> None:
        """Refuse sums of the sender at a place that so many duels cannot have."""
        trace = bounds.check_gram("information", self.information[place], duels)
        check_length("gradient", self.gradient[place], math.sqrt(duels * max(0.0, trace)))

    def new_observations(self, before: int) -> int:
        """Return how many duels the client has had beyond those that it told of before."""
        return max(0, int(self.rounds.sum()) - before)


@dataclass(frozen=True)
class Synchronised(Download, kind="dueling.synchronised"):
    """What the server makes of them: theta_sync to choose by, theta_hat to take gradients at, and W_sync."""

    estimate: Floats = array(shape=("d",))
    anchor: Floats = array(shape=("d",))
    information: Floats = array(Layout.SYMMETRIC, shape=("d", "d"))
    rounds: int = header()


@formerly("CohortState")
@dataclass
class OnlineCohortState(Beliefs):
    """Beliefs, and the sums that have yet to be sent."""

    anchor: Floats  # (clients, d) theta_hat
    gradient: Floats  # (clients, d)
    information: Floats  # (clients, d, d) W_new
    first: Floats  # (clients, d) winner - loser of the first duel, for the search after round 1
    telling: Ints = field(default_factory=no_ints, kw_only=True)  # (clients,) duels in the sums that count

    def __post_init__(self) -> None:
        """Fill in what a state of 0.1.0 does not have; it has no use for it."""
        if len(self.telling) != len(self.turns):
            self.telling = np.zeros_like(self.turns)


class OnlineClients(DuelingClients):
    """Clients that add up gradients for a period, and then send them."""

    def __init__(self, rule: ArmRule, period: int, smallest_upload: int) -> None:
        """Take the arm rule, the rounds between two communications, and how many duels sums are over at least."""
        super().__init__(rule)
        self.period = period
        self.smallest_upload = smallest_upload

    def start(self, clients: int) -> OnlineCohortState:
        """Return a cohort that has seen nothing."""
        size = self.rule.dimension
        vectors = [np.zeros((clients, size)) for _ in range(3)]
        return OnlineCohortState(
            *self.beliefs(clients),
            anchor=vectors[0],
            gradient=vectors[1],
            information=np.zeros((clients, size, size)),
            first=vectors[2],
        )

    def learn(self, state: OnlineCohortState, who: Ints, seen: Observations) -> Sequence[Outgoing[Upload]]:
        """Add each client's duel to its sums; send them where the period ends."""
        differences = winner_minus_loser(seen.features, seen.choice, seen.feedback)
        accumulate(state.anchor, state.gradient, state.information, who, differences)
        state.turns[who] += 1
        rounds = state.turns[who]
        is_first = rounds == 1
        if self.smallest_upload == 1:
            state.first[who[is_first]] = differences[is_first]
        state.telling[who] += differences.any(axis=1)
        due = who[is_first | (rounds % self.period == 0)]
        if not due.size:
            return ()
        if self.smallest_upload == 1:
            message: Upload = Progress(state.gradient[due], state.information[due], state.turns[due])
            told = due
        else:
            enough, duels = state.telling[due] >= self.smallest_upload, state.telling[due]
            gradient, information = (part_of(enough, each[due]) for each in (state.gradient, state.information))
            message = ProgressPart(gradient, information, state.turns[due], np.where(enough, duels, 0))
            told = due[enough]
        state.gradient[told] = 0.0
        state.information[told] = 0.0
        state.telling[told] = 0
        return (Outgoing(due, message),)

    def receive(self, state: OnlineCohortState, to: Ints, message: Synchronised | Probe) -> Sequence[Outgoing[Upload]]:
        """Take in what the server made of the sums, or send the gradient of the first duel where it asks."""
        if isinstance(message, Probe):
            gradients = gradients_of_one(state.first[to], message.theta)
            return (Outgoing(to, Gradient(gradients, np.full(len(to), message.number))),)
        state.estimate[to] = message.estimate
        state.anchor[to] = message.anchor
        share_inverse(message.information, to, state.inverse)
        return ()
