"""Sums of `fedglb-ucb` and its variants as they are aggregated: dA of new observations, then gradients at each iterate.

A site contributes the observations since its last part that was counted, and answers probes over all that it has told
of (m_i of `smallest_upload`). One that has nothing new takes no part in the first sum, and answers the probes. One that
has missed the last model waits for the next.

What sites have told in the first sum of an update they have told for good, though the update may end without a model:
it then counts in the next. A site that is lost between two probes takes no more part in the update, and the search goes
on at once with the sum over the others.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import assert_never, cast

import numpy as np

from fedbandit.algorithms.glm.shared.clients import GlmClients, GlmCohortState
from fedbandit.algorithms.glm.shared.family import GlmAlgorithm
from fedbandit.algorithms.glm.shared.messages import (
    Answer,
    Batch,
    Behind,
    Call,
    Curvature,
    Due,
    Gradient,
    Probe,
    Statistics,
)
from fedbandit.algorithms.glm.shared.server import GlmServer
from fedbandit.algorithms.glm.shared.updates import GlmServerState
from fedbandit.core.algorithm import Algorithm, Setting
from fedbandit.core.arrays import Floats, Ints
from fedbandit.core.bounds import Bounds
from fedbandit.core.errors import ProtocolError
from fedbandit.core.interfaces import Clients, Outgoing, Server
from fedbandit.core.messages import Download, Upload, one_row
from fedbandit.kernels.glm.kept_data import telling_of_each
from fedbandit.secure.gathering import Gathering
from fedbandit.secure.parts import WHO, Parts, SecureCohort, SecureServerState, in_first
from fedbandit.secure.ring import largest
from fedbandit.secure.rounding import Rounding
from fedbandit.secure.triangle import Triangle


@dataclass
class SecureGlmCohort(SecureCohort):
    """A site of the generalised linear family."""

    within: GlmCohortState


@dataclass
class SecureGlmServerState(SecureServerState):
    """The coordinator of the generalised linear family."""

    within: GlmServerState
    pending: Floats = field(default_factory=lambda: np.zeros((0, 0)))  # sum x x^T that sites have told, in no model yet


class GlmParts(Parts):
    """What sites of the family contribute: a matrix, a vector, or a vector and a matrix."""

    cohort_kind = SecureGlmCohort
    waits_for_all = False  # the schedule of one calls all

    def __init__(self, algorithm: Algorithm, setting: Setting) -> None:
        """Take the parameters and the sizes."""
        assert isinstance(algorithm, GlmAlgorithm)
        self.ridge, self.size, self.clients = algorithm.ridge, setting.dimension, setting.clients
        self.triangle = Triangle(self.size)
        self.words = self.size + self.triangle.words

    def opening(self, side: Server, state: SecureGlmServerState) -> Download:  # noqa: ARG002
        """Call for the update after the last one that was finished."""
        return Call(state.within.version + 1, since=-1)

    def is_question(self, message: Download) -> bool:
        """Tell whether gradients are asked for."""
        return isinstance(message, Probe)

    def keep(self, side: Clients, cohort: SecureGlmCohort, upload: Upload) -> bool:  # noqa: ARG002
        """Ask for an update; observations are with the site until one asks for them."""
        assert isinstance(upload, Due)
        return True

    def take(self, side: Clients, cohort: SecureGlmCohort, question: Download | None) -> tuple[Floats, int]:
        """Return the sums over what is new, or the answer to a probe over all that is told."""
        shared = cohort.within.shared
        if isinstance(question, Call):
            shared.calling[0] = min(shared.calling[0], question.version - 1)  # one that did not end is called again
        sent = side.receive(cohort.within, WHO, question)
        message = sent[0].message if sent else None
        if message is None or isinstance(message, Behind):
            return np.zeros(0), 0
        observations = int(message.told()[0]) if isinstance(message, Statistics | Batch) else int(shared.called[0])
        return self._words(cast(Answer, message)), observations

    def _words(self, message: Answer) -> Floats:
        """Return the sums of a message as they are masked: a vector, then a matrix, zeros where it has none."""
        match message:
            case Statistics(gram=gram):
                sums = np.zeros(self.size), self.triangle.packed(gram[0])
            case Batch(gradient=gradient, gram=gram):
                sums = gradient[0], self.triangle.packed(gram[0])
            case Gradient(gradient=gradient):
                sums = gradient[0], np.zeros(self.triangle.words)
            case Curvature(gradient=gradient, curvature=curvature):
                sums = gradient[0], self.triangle.packed(curvature[0])
            case _:
                assert_never(message)
        return np.concatenate(sums)

    def put_back(self, side: Clients, cohort: SecureGlmCohort, part: Floats, observations: int) -> None:  # noqa: ARG002
        """Let observations be new again."""
        state = cohort.within
        state.shared.called[0] -= observations
        if cast(GlmClients, side).smallest:
            state.rows.telling[0] = telling_of_each(state.kept, WHO, state.shared.called, state.kept.length)[0]

    def check_sum(
        self, side: Server, state: SecureGlmServerState, total: Floats, observations: Mapping[int, int], bounds: Bounds
    ) -> None:  # fmt: skip
        """Refuse sums that so many observations cannot have, but for the rounding of each site's numbers."""
        server, n = cast(GlmServer, side), sum(observations.values())
        if state.gathering.step and np.abs(total).max() >= largest(self.clients):
            raise ProtocolError(
                f"a gradient over {n} observations is as large as numbers under masks can be: the regression does not "
                "converge, so set arm_bound to the length of the longest arm, or take solver=newton"
            )
        rounding = Rounding(len(observations), n)
        gradient, matrix = rounding.shortest(total[: self.size]), self.triangle.matrix(total[self.size :])
        message = self._message(server, state, gradient, rounding.lifted(matrix), np.array([n]), np.array([0]))
        message.check(rounding.eased(bounds, self.size))
        if not isinstance(message, Statistics):
            server.check_size(state.within, message, n, rounding.eased(bounds, self.size))

    def merge(
        self, side: Server, state: SecureGlmServerState, total: Floats, observations: Mapping[int, int], empty: Ints
    ) -> Sequence[Outgoing[Download]]:
        """Let the sum be the upload of one site, and nothing that of all others that took part."""
        server, within, version = cast(GlmServer, side), state.within, state.within.version
        counted = np.array(sorted(observations))
        told = np.array([observations[client] for client in counted.tolist()])
        gradient, matrix = total[: self.size], self.triangle.matrix(total[self.size :])
        if state.gathering.step:
            sent = self._take_answer(server, state, gradient, matrix, counted, told, empty)
        else:
            sent = self._take_opening(server, state, gradient, matrix, counted, told, empty)
        if within.version > version:
            state.pending = np.zeros_like(state.pending)
        return sent

    def _take_opening(
        self, server: GlmServer, state: SecureGlmServerState, gradient: Floats, matrix: Floats, counted: Ints,
        told: Ints, empty: Ints,
    ) -> Sequence[Outgoing[Download]]:  # fmt: skip
        """Begin an update by what is new; who has nothing new is asked for gradients too."""
        within, senders = state.within, np.concatenate([counted, empty])
        since, now = within.taken.copy(), within.taken.copy()
        now[counted] += told
        server.receive(within, counted[:1], Due(np.array([within.version + 1]), now[counted].max(keepdims=True)))
        state.pending = state.pending + matrix
        rows = in_first(gradient, len(senders)), in_first(state.pending, len(senders))
        message = self._message(server, state, *rows, now[senders], since[senders])
        sent = server.receive(within, senders, message) or server.go_on_without_silent(within)
        within.taken[counted] = now[counted]
        return sent

    def _take_answer(
        self, server: GlmServer, state: SecureGlmServerState, gradient: Floats, matrix: Floats, counted: Ints,
        told: Ints, empty: Ints,
    ) -> Sequence[Outgoing[Download]]:  # fmt: skip
        """Go on with the search; who has told of observations, and does not answer for them, is lost to it."""
        within, answers = state.within, state.within.questions.rows
        senders = np.concatenate([counted, empty[answers.observations[empty] == 0]])
        answers.observations[counted] = told
        answers.gram[:] = 0.0
        answers.gram[counted[0]] = state.pending
        rows = in_first(self._unless_rounding(within, gradient), len(senders)), in_first(matrix, len(senders))
        message = self._message(server, state, *rows, answers.observations[senders], answers.observations[senders])
        return server.receive(within, senders, message) or server.go_on_without_silent(within)

    def _message(
        self, server: GlmServer, state: SecureGlmServerState, gradient: Floats, matrix: Floats, now: Ints, since: Ints
    ) -> Answer:
        """Return sums as clients would send them, who have so many observations now and told of some before."""
        within, update = state.within, server.update
        assert update is not None, "else nothing is asked"
        gradient, matrix = (one_row(gradient), one_row(matrix)) if gradient.ndim == 1 else (gradient, matrix)
        version, step = np.full(len(now), within.version + 1), max(0, within.questions.number) + np.zeros_like(now)
        kind = update.expected(0 if not state.gathering.step else within.questions.number)
        if kind is Statistics:
            return Statistics(matrix, version, np.zeros_like(now), now, since)
        if kind is Batch:
            return Batch(matrix, gradient, version, np.zeros_like(now), now, since)
        return Gradient(gradient, version, step) if kind is Gradient else Curvature(gradient, matrix, version, step)

    def _unless_rounding(self, within: GlmServerState, gradient: Floats) -> Floats:
        """Return the gradient of the losses; where all else is rounding, that with which the objective is flat."""
        slope = gradient + self.ridge * within.search.iterate
        rounding = 2.0 * Rounding(self.clients, 1).of_vector(self.size)
        return gradient if math.sqrt(float(slope @ slope)) > rounding else -self.ridge * within.search.iterate

    def give_up(self, side: Server, state: SecureGlmServerState) -> Sequence[Outgoing[Download]]:
        """End an update that cannot go on; who has missed the last model hears it."""
        return cast(GlmServer, side).stop(state.within)

    def server(self, within: GlmServerState, gathering: Gathering) -> SecureServerState:
        """Return the state of the coordinator, to which no site has told anything."""
        return SecureGlmServerState(within, gathering, pending=np.zeros((self.size, self.size)))
