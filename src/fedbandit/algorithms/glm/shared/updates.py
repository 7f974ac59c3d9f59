"""The global updates: what the server asks, and what it does when the whole roster has answered.

An update is a sequence of questions to all clients. Step 0 asks for statistics (`Call`); a regression then asks for
gradients at one iterate after another (`Probe`). Nothing of the server's own statistics changes before the last answer
of the last question, so an update that stands still halfway has done no harm.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from fedbandit.algorithms.glm.shared.messages import Batch, Call, Curvature, Gradient, Probe, Statistics
from fedbandit.algorithms.glm.shared.solvers import Answers, Search, Solver
from fedbandit.core.arrays import Bools, Floats, Ints
from fedbandit.core.errors import InvalidInput
from fedbandit.core.former_names import formerly
from fedbandit.core.messages import Upload
from fedbandit.kernels.glm.kept_data import Kept, gradient_of_each, gram_of_each
from fedbandit.kernels.glm.projection import project_to_ball
from fedbandit.kernels.glm.width import Model
from fedbandit.kernels.linear.ridge import invert

IDLE, CALLED = -1, 0
MOST_STEPS = 100_000


@formerly("ServerState")
@dataclass
class GlmServerState:
    """What the server knows after the last finished update, and how far the next one is."""

    gram: Floats  # sum x x^T: A or V without its ridge
    moment: Floats  # b
    model: Floats  # theta
    metric: Floats  # A without its ridge, where it is not the gram (algorithm 6)
    observations: int  # n
    version: int  # updates so far
    round: int  # t_last
    calling_round: int  # t, of the update under way
    step: int  # IDLE, CALLED, or the number of the iterate asked about
    roster: Bools  # who takes part in the update under way
    answered: Bools
    answers: Answers
    taken: Ints  # (clients,) observations of each that the gram speaks of
    missed: Ints  # (clients,) updates that went on without them
    iterate: Floats  # theta^(j)
    place: Floats  # what acceleration remembers (see `solvers`)
    momentum: float


class GlobalUpdate(Protocol):
    """How a new global model comes about."""

    @property
    def link(self) -> int:
        """Return the code of the link, which says how large gradients can be."""

    @property
    def uploads(self) -> tuple[type[Upload], ...]:
        """Return the kinds of answers that are asked for."""

    def suboptimality(self, observations: int) -> float:
        """Return eps, how far above its minimum the objective may stay."""

    def statistics(self, kept: Kept, to: Ints, start: Ints, stop: Ints, last: Floats, call: Call) -> Upload:
        """Return what clients answer to a call, of their observations from `start` to `stop`.

        `last` holds theta_last of each of them.
        """

    def gradients(self, kept: Kept, to: Ints, stop: Ints, probe: Probe) -> Upload:
        """Return what clients answer to a probe."""

    def question(self, state: GlmServerState) -> Call | Probe:
        """Return what is asked at this step."""

    def expected(self, step: int) -> type[Upload]:
        """Return the kind of message that answers the question of a step."""

    def advance(self, state: GlmServerState) -> bool:
        """Use the answers of all: go on to the next question, or finish the update and return True."""


def nothing_learnt(clients: int, dimension: int) -> GlmServerState:
    """Return the state of a server that has heard nothing.

    >>> nothing_learnt(3, 2).step == IDLE
    True
    """
    square = (dimension, dimension)
    vectors = [np.zeros(dimension) for _ in range(4)]
    return GlmServerState(
        gram=np.zeros(square),
        moment=vectors[0],
        model=vectors[1],
        metric=np.zeros(square),
        observations=0,
        version=0,
        round=0,
        calling_round=0,
        step=IDLE,
        roster=np.ones(clients, dtype=np.bool_),
        answered=np.zeros(clients, dtype=np.bool_),
        answers=Answers(
            np.zeros((clients, *square)),
            np.zeros((clients, dimension)),
            np.zeros((clients, *square)),
            np.zeros(clients, dtype=np.int64),
        ),
        taken=np.zeros(clients, dtype=np.int64),
        missed=np.zeros(clients, dtype=np.int64),
        iterate=vectors[2],
        place=vectors[3],
        momentum=1.0,
    )


def _finish(state: GlmServerState, model: Floats, predictor: Floats) -> None:
    """Take the new statistics and the new model over; the new part of b is predicted by `predictor`."""
    fresh = state.answers.gram.sum(axis=0)
    state.gram = state.gram + fresh
    state.moment = state.moment + fresh @ predictor
    state.model = model.copy()  # the search may still hold it
    state.observations = int(state.answers.observations.sum())
    state.taken[state.roster] = state.answers.observations[state.roster]
    state.version += 1
    state.round = state.calling_round


@dataclass(frozen=True)
class Regression:
    """The ridge maximum likelihood over everyone's data, to sub-optimality eps (algorithm 1, lines 11 to 14).

    It stops at the first iterate whose gradient is at most sqrt(2 (ridge/n) eps): by strong convexity F is then
    within eps of its minimum.
    """

    solver: Solver
    model: Model
    link: int
    constant: float | None = None  # eps, where it is not 1 / n^2

    @property
    def uploads(self) -> tuple[type[Upload], ...]:
        """Return statistics, and what the solver asks for."""
        return Statistics, self.solver.answers

    def suboptimality(self, observations: int) -> float:
        """Return 1 / n^2, or the constant."""
        return 1.0 / max(1, observations) ** 2 if self.constant is None else self.constant

    def statistics(self, kept: Kept, to: Ints, start: Ints, stop: Ints, last: Floats, call: Call) -> Statistics:  # noqa: ARG002
        """Return dA."""
        zeros = np.zeros_like(to)
        return Statistics(gram_of_each(kept, to, start, stop), zeros + call.version, zeros, stop[to], start[to])

    def gradients(self, kept: Kept, to: Ints, stop: Ints, probe: Probe) -> Gradient | Curvature:
        """Return what the solver needs."""
        return self.solver.answer(kept, to, stop, probe, self.link)

    def question(self, state: GlmServerState) -> Call | Probe:
        """Call for statistics first, then probe iterates."""
        if state.step == CALLED:
            return Call(state.version + 1, since=-1)
        return Probe(state.iterate, state.version + 1, state.step)

    def expected(self, step: int) -> type[Upload]:
        """Expect statistics first, then what the solver needs."""
        return Statistics if step == CALLED else self.solver.answers

    def advance(self, state: GlmServerState) -> bool:
        """Begin at the last global model, and move until the gradient is small enough."""
        if state.step == CALLED:
            state.iterate, state.place, state.momentum = state.model, state.model, 1.0
            state.step += 1
            return False
        n, ridge = state.answers.total(), self.model.ridge
        gradient = (state.answers.gradient.sum(axis=0) + ridge * state.iterate) / n
        length = math.sqrt(gradient @ gradient)
        if length <= math.sqrt(2.0 * ridge / n * self.suboptimality(n)):
            _finish(state, state.iterate, predictor=state.iterate)
            return True
        if not math.isfinite(length) or state.step >= MOST_STEPS:
            raise InvalidInput(
                f"the global regression over n={n} observations did not converge in {state.step} steps: set arm_bound "
                "to the length of the longest arm, take solver=newton, or allow a larger suboptimality"
            )
        search = Search(state.iterate, state.place, state.momentum)
        state.iterate, state.place, state.momentum = self.solver.move(search, gradient, state.answers)
        state.step += 1
        return False


@dataclass(frozen=True)
class OneStep:
    """One online Newton step on the batch of everyone's new data (algorithm 6, lines 13 and 14)."""

    model: Model
    link: int
    gamma: float

    @property
    def uploads(self) -> tuple[type[Upload], ...]:
        """Return batches."""
        return (Batch,)

    def suboptimality(self, observations: int) -> float:  # noqa: ARG002
        """Return 0: nothing is minimised."""
        return 0.0

    def statistics(self, kept: Kept, to: Ints, start: Ints, stop: Ints, last: Floats, call: Call) -> Batch:
        """Return dV, and the gradient at the last global model."""
        zeros = np.zeros_like(to)
        gradient = gradient_of_each(kept, to, start, stop, last, self.link)
        return Batch(gram_of_each(kept, to, start, stop), gradient, zeros + call.version, zeros, stop[to], start[to])

    def gradients(self, kept: Kept, to: Ints, stop: Ints, probe: Probe) -> Upload:  # noqa: ARG002
        """Refuse: this update asks once."""
        raise InvalidInput(f"step {probe.step} of an update by one Newton step: the server runs another algorithm")

    def question(self, state: GlmServerState) -> Call:
        """Call once."""
        return Call(state.version + 1, since=-1)

    def expected(self, step: int) -> type[Upload]:  # noqa: ARG002
        """Expect batches."""
        return Batch

    def advance(self, state: GlmServerState) -> bool:
        """Add the outer product of the gradient to A, step in its norm, and project."""
        size = len(state.model)
        gradient = state.answers.gradient.sum(axis=0)
        state.metric = state.metric + np.outer(gradient, gradient)
        inverse, scratch = np.empty((size, size)), np.empty((2, size + 2, size + 2))
        invert(state.metric, self.model.ridge, inverse, scratch[0], scratch[1])
        model = state.model - inverse @ gradient / self.gamma
        project_to_ball(state.metric, self.model.ridge, model, self.model.radius, scratch[0])
        _finish(state, model, predictor=state.model)
        return True
