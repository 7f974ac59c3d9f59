"""The client side of FLDB-GD (algorithm 3), and what it sends and is sent before the search for the minimum."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from fedbandit.algorithms.dueling.shared.family import ArmRule, Beliefs, DuelingClients
from fedbandit.algorithms.dueling.shared.parts import InformationPart, part_of
from fedbandit.algorithms.dueling.shared.search import Gradient, Probe
from fedbandit.core.arrays import Floats, Ints, no_ints
from fedbandit.core.bounds import Bounds
from fedbandit.core.errors import ProtocolError
from fedbandit.core.former_names import formerly
from fedbandit.core.interfaces import Outgoing
from fedbandit.core.messages import Download, Layout, Upload, array, header
from fedbandit.core.turns import Observations
from fedbandit.kernels.dueling.choices import share_inverse, winner_minus_loser
from fedbandit.kernels.dueling.preference import gradients, keep_duels, outer_products
from fedbandit.kernels.glm.kept_data import Kept, nothing_kept


@dataclass(frozen=True)
class Information(Upload, kind="dueling.information"):
    """What a client's new duel tells: W_new = z z^T."""

    information: Floats = array(Layout.SYMMETRIC, shape=("d", "d"))

    def check(self, bounds: Bounds) -> None:
        """Refuse what is no z z^T: positive semi-definite, trace |z|^2 <= (2 L)^2, and sum of squares trace^2."""
        for information in self.information:
            trace = bounds.check_gram("information", information, observations=1)
            if np.square(information / (trace or 1.0)).sum() < 1.0 - 1e-6 and trace > 0.0:
                raise ProtocolError("the information is not that of one duel: it has more than one direction")


@dataclass(frozen=True)
class SharedInformation(Download, kind="dueling.shared-information"):
    """W_sync; and a call for the first gradient of the round, at theta_sync."""

    information: Floats = array(Layout.SYMMETRIC, shape=("d", "d"))
    number: int = header()  # of the question


@formerly("CohortState")
@dataclass
class GradientCohortState(Beliefs):
    """Beliefs of clients that keep their duels to themselves."""

    kept: Kept
    new: Floats = field(default_factory=lambda: np.zeros(0), kw_only=True)  # (clients, d, d) the information not told
    told: Ints = field(default_factory=no_ints, kw_only=True)  # (clients,) first duels whose it is told
    asked: Ints = field(default_factory=no_ints, kw_only=True)  # of these, those of the search under way

    def __post_init__(self) -> None:
        """Fill in what a state of 0.1.0 does not have: there every duel was told at once."""
        if len(self.told) != len(self.turns):
            self.new = np.zeros_like(self.inverse)
            self.told, self.asked = self.kept.length.copy(), self.kept.length.copy()


class GradientClients(DuelingClients):
    """Clients that answer every theta with the gradient of their own loss."""

    def __init__(self, rule: ArmRule, smallest_upload: int) -> None:
        """Take the arm rule, and how many duels information is over at least."""
        super().__init__(rule)
        self.smallest_upload = smallest_upload

    def start(self, clients: int) -> GradientCohortState:
        """Return a cohort that has seen nothing."""
        return GradientCohortState(*self.beliefs(clients), nothing_kept(clients, self.rule.dimension))

    def learn(self, state: GradientCohortState, who: Ints, seen: Observations) -> Sequence[Outgoing[Upload]]:
        """Keep each client's duel and send its information."""
        differences = winner_minus_loser(seen.features, seen.choice, seen.feedback)
        state.kept = keep_duels(state.kept, who, differences)
        state.turns[who] += 1
        information = outer_products(differences)
        if self.smallest_upload == 1:
            state.told[who] = state.kept.length[who]
            return (Outgoing(who, Information(information)),)
        state.new[who] += information
        return (Outgoing(who, self._part(state, who)),)

    def _part(self, state: GradientCohortState, who: Ints) -> InformationPart:
        """Return what clients have not told, if it is of enough duels."""
        duels = state.kept.length[who] - state.told[who]
        enough = duels >= self.smallest_upload
        part = InformationPart(part_of(enough, state.new[who]), np.where(enough, duels, 0))
        state.new[who[enough]] = 0.0
        state.told[who] += part.duels
        return part

    def receive(
        self, state: GradientCohortState, to: Ints, message: SharedInformation | Probe
    ) -> Sequence[Outgoing[Upload]]:
        """Take in W_sync, or the answer; else send the gradient that is asked for.

        With a smallest upload it is over the same duels in the whole search: the gradient of some duels, and that of
        one more, would tell the one.
        """
        if isinstance(message, SharedInformation):
            state.asked[to] = state.told[to]
            share_inverse(message.information, to, state.inverse)
            theta = state.estimate[to]
        elif message.is_answer:
            state.estimate[to] = message.theta
            return ()
        else:
            theta = np.tile(message.theta, (len(to), 1))
        stop = state.kept.length if self.smallest_upload == 1 else state.asked
        return (Outgoing(to, Gradient(gradients(state.kept, to, stop, theta), np.full(len(to), message.number))),)
