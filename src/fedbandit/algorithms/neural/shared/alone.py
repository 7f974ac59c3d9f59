"""Clients that never communicate: NeuralUCB and NeuralTS."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Never

from fedbandit.algorithms.neural.shared.directions import directions_of
from fedbandit.algorithms.neural.shared.learner import Learner, Own
from fedbandit.core.arrays import Floats, Ints
from fedbandit.core.interfaces import Cadence, Outgoing, TurnByTurn
from fedbandit.core.messages import Upload
from fedbandit.core.turns import Observations
from fedbandit.kernels.neural.cohort import rows_of


class AloneClients(TurnByTurn):
    """Clients that choose, observe and train, each for itself; with `draws` standard normals a turn they sample."""

    cadence = Cadence.ROUND
    learns_from_choice = True

    def __init__(self, learner: Learner, draws: int) -> None:
        """Take how to learn; `draws` is the number of arms for Thompson sampling, 0 for the upper bound."""
        self.learner = learner
        self.rounds = learner.rounds
        self.draws = draws

    def start(self, clients: int) -> Own:
        """Return a cohort that has seen nothing."""
        self.learner.check_memory(3 * clients, clients)
        with self.rounds.active():
            return self.learner.start(clients)

    def choose(self, state: Own, who: Ints, features: Floats, draws: Floats) -> Ints:
        """Return the arm of each client."""
        directions = directions_of(features, draws, self.draws)
        clients, cast = len(state.turns), self.rounds.device.cast
        with self.rounds.active():
            choice = self.rounds.choose_by_own_bound(
                cast(features),
                rows_of(state.matrix, who, clients),
                rows_of(state.thetas, who, clients),
                cast(state.turns[who] > 0),
                cast(directions),
            )
            return self.learner.checked(choice, state, who)

    def learn(self, state: Own, who: Ints, seen: Observations) -> Sequence[Outgoing[Upload]]:
        """Take in each client's reward and train; nothing is sent."""
        with self.rounds.active():
            self.learner.observe(state, who, seen)
            self.learner.train(state, who)
        return ()

    def receive(self, state: Own, to: Ints, message: Never) -> Sequence[Outgoing[Upload]]:  # noqa: ARG002
        """Take in nothing: nobody sends anything."""
        return ()
