"""Sums of `fldb-gd` as they are aggregated: the information of new duels, and then one gradient after the other.

The information opens a round: W_sync calls for gradients at theta_sync, and each further probe is an aggregation too. A
site that has missed where the last search ended stands at another theta_sync: it contributes nothing to the first
gradients, and goes on with the next probe.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

import numpy as np

from fedbandit.algorithms.dueling.fldb_gd import FLDBGD, GradientServer, GradientServerState
from fedbandit.algorithms.dueling.shared.gradient_duels import GradientCohortState, Information, SharedInformation
from fedbandit.algorithms.dueling.shared.parts import InformationPart
from fedbandit.algorithms.dueling.shared.search import Gradient, Probe, check_gradient
from fedbandit.core.algorithm import Algorithm, Setting
from fedbandit.core.arrays import Floats, Ints
from fedbandit.core.bounds import Bounds
from fedbandit.core.interfaces import Clients, Outgoing, Server
from fedbandit.core.messages import Download, Upload, one_row
from fedbandit.secure.gathering import Gathering
from fedbandit.secure.member import Member
from fedbandit.secure.parts import WHO, Parts, SecureCohort, SecureServerState, in_first, padded
from fedbandit.secure.rounding import Rounding
from fedbandit.secure.triangle import Triangle


@dataclass
class SecureGradientCohort(SecureCohort):
    """A site of `fldb-gd`."""

    within: GradientCohortState
    answer: int = 0  # the number of the last answer that it has heard


@dataclass
class SecureGradientServerState(SecureServerState):
    """The coordinator of `fldb-gd`."""

    within: GradientServerState


class GradientParts(Parts):
    """What sites of `fldb-gd` contribute."""

    waits_for_all = True  # each has its duel by itself

    def __init__(self, algorithm: Algorithm, setting: Setting) -> None:
        """Take the parameters and the sizes."""
        assert isinstance(algorithm, FLDBGD)
        self.smallest = algorithm.smallest_upload
        self.size, self.clients = setting.dimension, setting.clients
        self.triangle = Triangle(self.size)
        self.words = self.triangle.words

    def is_question(self, message: Download) -> bool:
        """Tell whether gradients are asked for."""
        return isinstance(message, SharedInformation) or (isinstance(message, Probe) and not message.is_answer)

    def keep(self, side: Clients, cohort: SecureGradientCohort, upload: Upload) -> bool:  # noqa: ARG002
        """Let information be untold."""
        assert isinstance(upload, Information | InformationPart)
        told = int(upload.duels[0]) if isinstance(upload, InformationPart) else int(upload.information.any())
        cohort.within.new += upload.information
        cohort.within.told -= told
        return self._untold(cohort) >= self.smallest

    def take(self, side: Clients, cohort: SecureGradientCohort, question: Download | None) -> tuple[Floats, int]:
        """Return the information of all duels that are not told, if they are enough; or a gradient."""
        state = cohort.within
        if question is not None:
            return self._gradient(side, cohort, question)
        duels = self._untold(cohort)
        if duels < self.smallest:
            return np.zeros(0), 0
        part = self.triangle.packed(state.new[0])
        state.new[:] = 0.0
        state.told += duels
        return part, duels

    def _gradient(self, side: Clients, cohort: SecureGradientCohort, question: Download) -> tuple[Floats, int]:
        state = cohort.within
        (outgoing,) = side.receive(state, WHO, question)
        if isinstance(question, SharedInformation) and question.number != cohort.answer + 1:
            return np.zeros(0), 0
        duels = state.kept.length if self.smallest == 1 else state.asked
        return padded(cast(Gradient, outgoing.message).gradient[0], self.words), int(duels[0])

    def put_back(self, side: Clients, cohort: SecureGradientCohort, part: Floats, observations: int) -> None:  # noqa: ARG002
        """Let information be untold again."""
        cohort.within.new[0] += self.triangle.matrix(part)
        cohort.within.told -= observations

    def hear(self, side: Clients, cohort: SecureGradientCohort, message: Download) -> None:
        """Take in where a search has ended."""
        super().hear(side, cohort, message)
        cohort.answer = cast(Probe, message).number

    def check_sum(
        self, side: Server, state: SecureGradientServerState, total: Floats, observations: Mapping[int, int],
        bounds: Bounds,
    ) -> None:  # fmt: skip
        """Refuse sums that so many duels cannot have, but for the rounding of each site's numbers."""
        server, within, duels = cast(GradientServer, side), state.within, sum(observations.values())
        rounding = Rounding(len(observations), duels)
        if state.gathering.step:
            gradient = one_row(rounding.shortest(total[: self.size]))
            check_gradient(within.questions, Gradient(gradient, np.array([within.questions.number])), duels, bounds)
            return
        information = rounding.lifted(self.triangle.matrix(total))
        rounding.eased(bounds, self.size).check_gram("information", information, duels)
        server.check_information(within.information, within.new_information, information)

    def merge(
        self, side: Server, state: SecureGradientServerState, total: Floats, observations: Mapping[int, int],
        empty: Ints,
    ) -> Sequence[Outgoing[Download]]:  # fmt: skip
        """Let the sum be the upload of one site, and nothing that of all others that took part."""
        server, within = cast(GradientServer, side), state.within
        counted = np.array(sorted(observations))
        senders = np.concatenate([counted, empty])
        if state.gathering.step:
            gradient = in_first(total[: self.size], len(senders))
            answer = Gradient(gradient, np.full(len(senders), within.questions.number))
            return server.receive(within, senders, answer) or server.deadline(within)
        duels = np.array([observations.get(client, 0) for client in senders.tolist()])
        information = in_first(self.triangle.matrix(total), len(senders))
        within.attendance.open()
        sent = server.receive(within, senders, InformationPart(information, duels)) or server.deadline(within)
        rounding = 2.0 * Rounding(self.clients, 1).of_vector(self.size)
        within.search.smallest[0] = max(within.search.smallest[0], rounding)  # a smaller gradient is nothing else
        return sent

    def give_up(self, side: Server, state: SecureGradientServerState) -> Sequence[Outgoing[Download]]:
        """End a search that cannot go on where it stands; who has missed the last answer hears it."""
        return cast(GradientServer, side).stop(state.within)

    def cohort(self, within: Any, member: Member) -> SecureCohort:
        """Return the state of a site."""
        return SecureGradientCohort(within, member)

    def server(self, within: Any, gathering: Gathering) -> SecureServerState:
        """Return the state of the coordinator."""
        return SecureGradientServerState(within, gathering)

    def _untold(self, cohort: SecureGradientCohort) -> int:
        return int(cohort.within.kept.length[0] - cohort.within.told[0])
