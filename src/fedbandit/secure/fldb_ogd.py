"""Sums of `fldb-ogd` as they are aggregated: gradients at theta_hat, and W_new, of which the upper triangle is packed.

Without a smallest upload the first of them is followed by the search for theta_hat, each of whose probes is an
aggregation: the sum of the gradients of first duels. With one, the search has nothing to look at and ends where it
begins, at zero, as in a plain federation. How many rounds a site has played follows from what it has contributed.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import cast

import numpy as np

from fedbandit.algorithms.dueling.fldb_ogd import FLDBOGD, OnlineServerState
from fedbandit.algorithms.dueling.shared.family import DuelingServer
from fedbandit.algorithms.dueling.shared.online_duels import OnlineCohortState, Progress
from fedbandit.algorithms.dueling.shared.parts import ProgressPart
from fedbandit.algorithms.dueling.shared.search import Gradient, Probe
from fedbandit.core.algorithm import Algorithm, Setting
from fedbandit.core.arrays import Floats, Ints, no_ints
from fedbandit.core.bounds import Bounds, check_length
from fedbandit.core.interfaces import Clients
from fedbandit.core.messages import Download, Upload
from fedbandit.secure.duels import DuelingParts
from fedbandit.secure.gathering import Gathering
from fedbandit.secure.parts import WHO, SecureCohort, SecureServerState, in_first, padded
from fedbandit.secure.rounding import Rounding


@dataclass
class SecureOnlineCohort(SecureCohort):
    """A site of `fldb-ogd`."""

    within: OnlineCohortState
    told: int = 0  # duels that it has contributed, or is about to


@dataclass
class SecureOnlineServerState(SecureServerState):
    """The coordinator of `fldb-ogd`."""

    within: OnlineServerState
    rounds: Ints = field(default_factory=no_ints)  # (clients,) that each site's sums have told of


class OnlineParts(DuelingParts):
    """What sites of `fldb-ogd` contribute."""

    cohort_kind = SecureOnlineCohort

    def __init__(self, algorithm: Algorithm, setting: Setting) -> None:
        """Take the parameters and the sizes."""
        assert isinstance(algorithm, FLDBOGD)
        super().__init__(algorithm.smallest_upload, setting.dimension, setting.clients)
        self.words = self.size + self.triangle.words

    def is_question(self, message: Download) -> bool:
        """Tell whether gradients are asked for."""
        return isinstance(message, Probe)

    def keep(self, side: Clients, cohort: SecureOnlineCohort, upload: Upload) -> bool:  # noqa: ARG002
        """Put sums back to where they were taken from."""
        assert isinstance(upload, Progress | ProgressPart)
        state = cohort.within
        state.gradient += upload.gradient
        state.information += upload.information
        if isinstance(upload, ProgressPart):
            state.telling += upload.duels
        return self._has_enough(cohort)

    def take(self, side: Clients, cohort: SecureOnlineCohort, question: Download | None) -> tuple[Floats, int]:
        """Return all sums, if they are over enough duels; or the gradient of the first duel."""
        state = cohort.within
        if question is not None:
            (outgoing,) = side.receive(state, WHO, question)
            return padded(cast(Gradient, outgoing.message).gradient[0], self.words), int(state.first[0].any())
        if not self._has_enough(cohort):
            return np.zeros(0), 0
        part = np.concatenate([state.gradient[0], self.triangle.packed(state.information[0])])
        duels, cohort.told = int(state.turns[0]) - cohort.told, int(state.turns[0])
        state.gradient[:], state.information[:], state.telling[:] = 0.0, 0.0, 0
        return part, duels

    def put_back(self, side: Clients, cohort: SecureOnlineCohort, part: Floats, observations: int) -> None:  # noqa: ARG002
        """Add sums to those that have come since."""
        state = cohort.within
        state.gradient[0] += part[: self.size]
        state.information[0] += self.triangle.matrix(part[self.size :])
        state.telling[0] += self.smallest  # so many tell at least: with fewer they would not have been taken
        cohort.told -= observations

    def check_opening(
        self, server: DuelingServer, within: OnlineServerState, total: Floats, rounding: Rounding, duels: int,
        bounds: Bounds,
    ) -> None:  # fmt: skip
        """Refuse gradients and information that so many duels cannot have."""
        information = rounding.lifted(self.triangle.matrix(total[self.size :]))
        trace = rounding.eased(bounds, self.size).check_gram("information", information, duels)
        gradient = rounding.shortest(total[: self.size])
        check_length("gradient", gradient, math.sqrt(duels * max(0.0, trace)))
        server.check_information(within.information, within.new_information, information)

    def opening_part(
        self, server: DuelingServer, state: SecureOnlineServerState, total: Floats, senders: Ints, duels: Ints
    ) -> Progress:
        """Return gradients and information as those of senders."""
        if not state.within.anchors and self.smallest > 1:
            self._begin_at_zero(server, state.within)
        state.rounds[senders] += duels
        gradient, packed = total[: self.size], total[self.size :]
        sites = len(senders)
        information = in_first(self.triangle.matrix(packed), sites)
        return Progress(in_first(gradient, sites), information, state.rounds[senders])

    def _begin_at_zero(self, server: DuelingServer, within: OnlineServerState) -> None:
        """Let all have sent nothing after the first round, as they do where that has too few duels."""
        size, everyone = self.size, within.attendance.everyone
        shape, ones = (len(everyone), size), np.ones(len(everyone), dtype=np.int64)
        server.receive(within, everyone, Progress(np.zeros(shape), np.zeros((*shape, size)), ones))

    def server(self, within: OnlineServerState, gathering: Gathering) -> SecureServerState:
        """Return the state of the coordinator, to which no site has told of any round."""
        return SecureOnlineServerState(within, gathering, rounds=np.zeros(self.clients, dtype=np.int64))

    def _has_enough(self, cohort: SecureOnlineCohort) -> bool:
        state = cohort.within
        return bool(state.telling[0] >= self.smallest if self.smallest > 1 else state.turns[0] > cohort.told)
