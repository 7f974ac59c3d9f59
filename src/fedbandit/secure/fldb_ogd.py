"""Sums of `fldb-ogd` as they are aggregated: gradients at theta_hat, and W_new, of which the upper triangle is packed.

Without a smallest upload the first of them is followed by the search for theta_hat, each of whose probes is an
aggregation: the sum of the gradients of first duels. With one, the search has nothing to look at and ends where it
begins, at zero, as in a plain federation. How many rounds a site has played follows from what it has contributed.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, cast

import numpy as np

from fedbandit.algorithms.dueling.fldb_ogd import FLDBOGD, OnlineServer, OnlineServerState
from fedbandit.algorithms.dueling.shared.online_duels import OnlineCohortState, Progress
from fedbandit.algorithms.dueling.shared.parts import ProgressPart
from fedbandit.algorithms.dueling.shared.search import Gradient, Probe, check_gradient
from fedbandit.core.algorithm import Algorithm, Setting
from fedbandit.core.arrays import Floats, Ints, no_ints
from fedbandit.core.bounds import Bounds, check_length
from fedbandit.core.interfaces import Clients, Outgoing, Server
from fedbandit.core.messages import Download, Upload, one_row
from fedbandit.secure.gathering import Gathering
from fedbandit.secure.member import Member
from fedbandit.secure.parts import WHO, Parts, SecureCohort, SecureServerState, in_first, padded
from fedbandit.secure.rounding import Rounding
from fedbandit.secure.triangle import Triangle


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


class OnlineParts(Parts):
    """What sites of `fldb-ogd` contribute."""

    waits_for_all = True  # each ends its period by itself

    def __init__(self, algorithm: Algorithm, setting: Setting) -> None:
        """Take the parameters and the sizes."""
        assert isinstance(algorithm, FLDBOGD)
        self.smallest = algorithm.smallest_upload
        self.size, self.clients = setting.dimension, setting.clients
        self.triangle = Triangle(self.size)
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

    def check_sum(
        self, side: Server, state: SecureOnlineServerState, total: Floats, observations: Mapping[int, int],
        bounds: Bounds,
    ) -> None:  # fmt: skip
        """Refuse sums that so many duels cannot have, but for the rounding of each site's numbers."""
        server, duels = cast(OnlineServer, side), sum(observations.values())
        rounding = Rounding(len(observations), duels)
        gradient = rounding.shortest(total[: self.size])
        if state.gathering.step:
            questions = state.within.questions
            check_gradient(questions, Gradient(one_row(gradient), np.array([questions.number])), duels, bounds)
            return
        information = rounding.lifted(self.triangle.matrix(total[self.size :]))
        trace = rounding.eased(bounds, self.size).check_gram("information", information, duels)
        check_length("gradient", gradient, math.sqrt(duels * max(0.0, trace)))
        server.check_information(state.within.information, state.within.new_information, information)

    def merge(
        self, side: Server, state: SecureOnlineServerState, total: Floats, observations: Mapping[int, int], empty: Ints
    ) -> Sequence[Outgoing[Download]]:
        """Let the sum be the upload of one site, and nothing that of all others that took part."""
        server, within = cast(OnlineServer, side), state.within
        counted = np.array(sorted(observations))
        senders = np.concatenate([counted, empty])
        gradient = in_first(total[: self.size], len(senders))
        if state.gathering.step:
            answer = Gradient(gradient, np.full(len(senders), within.questions.number))
            return server.receive(within, senders, answer) or server.deadline(within)
        if not within.anchors and self.smallest > 1:
            self._begin_at_zero(server, within)
        state.rounds[counted] += [observations[client] for client in counted.tolist()]
        information = in_first(self.triangle.matrix(total[self.size :]), len(senders))
        within.attendance.open()
        sent = server.receive(within, senders, Progress(gradient, information, state.rounds[senders]))
        sent = sent or server.deadline(within)
        rounding = 2.0 * Rounding(self.clients, 1).of_vector(self.size)
        within.search.smallest[0] = max(within.search.smallest[0], rounding)  # a smaller gradient is nothing else
        return sent

    def _begin_at_zero(self, server: OnlineServer, within: OnlineServerState) -> None:
        """Let all have sent nothing after the first round, as they do where that has too few duels."""
        size, everyone = self.size, within.attendance.everyone
        shape, ones = (len(everyone), size), np.ones(len(everyone), dtype=np.int64)
        server.receive(within, everyone, Progress(np.zeros(shape), np.zeros((*shape, size)), ones))

    def give_up(self, side: Server, state: SecureOnlineServerState) -> Sequence[Outgoing[Download]]:
        """End a search that cannot go on where it stands."""
        return cast(OnlineServer, side).stop(state.within)

    def cohort(self, within: Any, member: Member) -> SecureCohort:
        """Return the state of a site."""
        return SecureOnlineCohort(within, member)

    def server(self, within: Any, gathering: Gathering) -> SecureServerState:
        """Return the state of the coordinator."""
        return SecureOnlineServerState(within, gathering, rounds=np.zeros(self.clients, dtype=np.int64))

    def _has_enough(self, cohort: SecureOnlineCohort) -> bool:
        state = cohort.within
        return bool(state.telling[0] >= self.smallest if self.smallest > 1 else state.turns[0] > cohort.told)
