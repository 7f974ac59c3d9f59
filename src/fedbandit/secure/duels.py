"""What sums over duels have in common: sums of new duels open a round, and then come gradients, probe after probe."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any, cast

import numpy as np

from fedbandit.algorithms.dueling.shared.family import DuelingServer
from fedbandit.algorithms.dueling.shared.search import Gradient, check_gradient
from fedbandit.core.arrays import Floats, Ints
from fedbandit.core.bounds import Bounds
from fedbandit.core.interfaces import Outgoing, Server
from fedbandit.core.messages import Download, Upload, one_row
from fedbandit.secure.parts import Parts, SecureServerState, in_first
from fedbandit.secure.rounding import Rounding
from fedbandit.secure.triangle import Triangle


class DuelingParts(Parts):
    """What sites of the dueling family contribute."""

    waits_for_all = True  # each has its duels by itself

    def __init__(self, smallest: int, size: int, clients: int) -> None:
        """Take over how many duels an upload is at least, the dimension, and how many sites there are."""
        self.smallest, self.size, self.clients = smallest, size, clients
        self.triangle = Triangle(size)

    @abstractmethod
    def check_opening(
        self, server: DuelingServer, within: Any, total: Floats, rounding: Rounding, duels: int, bounds: Bounds
    ) -> None:
        """Refuse sums that open a round and that so many duels cannot have."""

    @abstractmethod
    def opening_part(
        self, server: DuelingServer, state: Any, total: Floats, senders: Ints, duels: Ints
    ) -> Upload:  # fmt: skip
        """Return sums that open a round as uploads of senders, who tell of so many duels: the first has all of it."""

    def check_sum(
        self, side: Server, state: SecureServerState, total: Floats, observations: Mapping[int, int], bounds: Bounds
    ) -> None:  # fmt: skip
        """Refuse sums that so many duels cannot have, but for the rounding of each site's numbers."""
        within, duels = state.within, sum(observations.values())
        rounding = Rounding(len(observations), duels)
        if not state.gathering.step:
            self.check_opening(cast(DuelingServer, side), within, total, rounding, duels, bounds)
            return
        gradient = one_row(rounding.shortest(total[: self.size]))
        check_gradient(within.questions, Gradient(gradient, np.array([within.questions.number])), duels, bounds)

    def merge(
        self, side: Server, state: SecureServerState, total: Floats, observations: Mapping[int, int], empty: Ints
    ) -> Sequence[Outgoing[Download]]:
        """Let the sum be the upload of one site, and nothing that of all others that took part."""
        server, within = cast(DuelingServer, side), state.within
        senders = np.concatenate([np.array(sorted(observations)), empty])
        if state.gathering.step:
            gradient = in_first(total[: self.size], len(senders))
            answer = Gradient(gradient, np.full(len(senders), within.questions.number))
            return server.receive(within, senders, answer) or server.deadline(within)
        duels = np.array([observations.get(client, 0) for client in senders.tolist()])
        part = self.opening_part(server, state, total, senders, duels)
        within.attendance.open()
        sent = server.receive(within, senders, part) or server.deadline(within)
        rounding = 2.0 * Rounding(self.clients, 1).of_vector(self.size)
        within.search.smallest[0] = max(within.search.smallest[0], rounding)  # a smaller gradient is nothing else
        return sent

    def give_up(self, side: Server, state: SecureServerState) -> Sequence[Outgoing[Download]]:
        """End a search that cannot go on where it stands; return what sites should know of it."""
        return cast(DuelingServer, side).stop(state.within)
