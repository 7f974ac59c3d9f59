"""Sums of `fldb-gd` as they are aggregated: the information of new duels, and then one gradient after the other.

The information opens a round: W_sync calls for gradients at theta_sync, and each further probe is an aggregation too. A
site that has missed where the last search ended stands at another theta_sync: it contributes nothing to the first
gradients, and goes on with the next probe.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import cast

import numpy as np

from fedbandit.algorithms.dueling.fldb_gd import FLDBGD, GradientServerState
from fedbandit.algorithms.dueling.shared.family import DuelingServer
from fedbandit.algorithms.dueling.shared.gradient_duels import GradientCohortState, Information, SharedInformation
from fedbandit.algorithms.dueling.shared.parts import InformationPart
from fedbandit.algorithms.dueling.shared.search import Gradient, Probe
from fedbandit.core.algorithm import Algorithm, Setting
from fedbandit.core.arrays import Floats, Ints
from fedbandit.core.bounds import Bounds
from fedbandit.core.interfaces import Clients
from fedbandit.core.messages import Download, Upload
from fedbandit.secure.duels import DuelingParts
from fedbandit.secure.parts import WHO, SecureCohort, SecureServerState, in_first, padded
from fedbandit.secure.rounding import Rounding


@dataclass
class SecureGradientCohort(SecureCohort):
    """A site of `fldb-gd`."""

    within: GradientCohortState
    answer: int = 0  # the number of the last answer that it has heard


@dataclass
class SecureGradientServerState(SecureServerState):
    """The coordinator of `fldb-gd`."""

    within: GradientServerState


class GradientParts(DuelingParts):
    """What sites of `fldb-gd` contribute."""

    cohort_kind, server_kind = SecureGradientCohort, SecureGradientServerState

    def __init__(self, algorithm: Algorithm, setting: Setting) -> None:
        """Take the parameters and the sizes."""
        assert isinstance(algorithm, FLDBGD)
        super().__init__(algorithm.smallest_upload, setting.dimension, setting.clients)
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

    def check_opening(
        self, server: DuelingServer, within: GradientServerState, total: Floats, rounding: Rounding, duels: int,
        bounds: Bounds,
    ) -> None:  # fmt: skip
        """Refuse information that so many duels cannot have."""
        information = rounding.lifted(self.triangle.matrix(total))
        rounding.eased(bounds, self.size).check_gram("information", information, duels)
        server.check_information(within.information, within.new_information, information)

    def opening_part(
        self, server: DuelingServer, state: SecureGradientServerState, total: Floats, senders: Ints, duels: Ints  # noqa: ARG002
    ) -> InformationPart:  # fmt: skip
        """Return information as parts of senders."""
        return InformationPart(in_first(self.triangle.matrix(total), len(senders)), duels)

    def _untold(self, cohort: SecureGradientCohort) -> int:
        return int(cohort.within.kept.length[0] - cohort.within.told[0])
