"""The global updates: what the server asks, and what it does when the whole roster has answered.

An update is a sequence of questions to all clients. Step 0 asks for statistics (`Call`); a regression then asks for
gradients at one iterate after another (`Probe`). Nothing of the server's own statistics changes before the last answer
of the last question, so an update that stands still halfway has done no harm.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from fedbandit.algorithms.federated_minimum import Questions, no_questions
from fedbandit.algorithms.glm.shared.messages import Batch, Call, Curvature, Gradient, Probe, Statistics
from fedbandit.algorithms.glm.shared.solvers import Answers, RegressionSolver, Search
from fedbandit.core.arrays import Floats, Ints
from fedbandit.core.errors import InvalidInput
from fedbandit.core.former_names import formerly, regrouped
from fedbandit.core.messages import Upload
from fedbandit.kernels.glm.kept_data import Kept, gradient_of_each, gram_of_each
from fedbandit.kernels.glm.projection import project_to_ball
from fedbandit.kernels.glm.width import Model
from fedbandit.kernels.linear.ridge import invert

IDLE, CALLED = -1, 0  # numbers of questions: between updates, and the first of one


def _once_apart(stored: dict[str, Any]) -> dict[str, Any]:
    """Return the fields of a record of 0.1, which had those of its questions and of its search beside its own."""
    answered, step = stored["answered"], stored["step"]
    return {
        "questions": Questions(
            answered, np.zeros_like(answered), stored["missed"], step != IDLE, stored["roster"],
            number=step, rows=stored["answers"],
        ),
        "search": Search(stored["iterate"], stored["place"], stored["momentum"], max(0, step - 1)),
    }  # fmt: skip


@regrouped(_once_apart)
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
    questions: Questions[Answers]  # of the update under way: 0 calls for statistics, j asks about theta^(j)
    taken: Ints  # (clients,) observations of each that the gram speaks of
    search: Search


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

    def begin_search(self, state: GlmServerState) -> None:
        """Begin to minimise the loss of those who take part; a deadline has made them fewer."""

    def advance(self, state: GlmServerState) -> bool:
        """Use the answers of all: prepare the next question, or finish the update and return True."""


def nothing_learnt(clients: int, dimension: int) -> GlmServerState:
    """Return the state of a server that has heard nothing.

    >>> nothing_learnt(3, 2).questions.number == IDLE
    True
    """
    square = (dimension, dimension)
    vectors = [np.zeros(dimension) for _ in range(4)]
    rows = Answers(
        np.zeros((clients, *square)),
        np.zeros((clients, dimension)),
        np.zeros((clients, *square)),
        np.zeros(clients, dtype=np.int64),
    )
    return GlmServerState(
        gram=np.zeros(square),
        moment=vectors[0],
        model=vectors[1],
        metric=np.zeros(square),
        observations=0,
        version=0,
        round=0,
        calling_round=0,
        questions=no_questions(clients, rows, number=IDLE),
        taken=np.zeros(clients, dtype=np.int64),
        search=Search(vectors[2], vectors[3]),
    )


def _finish(state: GlmServerState, model: Floats, predictor: Floats) -> None:
    """Take the new statistics and the new model over; the new part of b is predicted by `predictor`."""
    roster, answers = state.questions.roster, state.questions.rows
    fresh = answers.gram.sum(axis=0)
    state.gram = state.gram + fresh
    state.moment = state.moment + fresh @ predictor
    state.model = model.copy()  # the search may still hold it
    state.observations = int(answers.observations.sum())
    state.taken[roster] = answers.observations[roster]
    state.version += 1
    state.round = state.calling_round


@dataclass(frozen=True)
class Regression:
    """The ridge maximum likelihood over everyone's data, to sub-optimality eps (algorithm 1, lines 11 to 14)."""

    solver: RegressionSolver
    link: int

    @property
    def uploads(self) -> tuple[type[Upload], ...]:
        """Return statistics, and what the solver asks for."""
        return Statistics, self.solver.answers

    def suboptimality(self, observations: int) -> float:
        """Return that of the solver."""
        return self.solver.suboptimality(observations)

    def statistics(self, kept: Kept, to: Ints, start: Ints, stop: Ints, last: Floats, call: Call) -> Statistics:  # noqa: ARG002
        """Return dA."""
        zeros = np.zeros_like(to)
        return Statistics(gram_of_each(kept, to, start, stop), zeros + call.version, zeros, stop[to], start[to])

    def gradients(self, kept: Kept, to: Ints, stop: Ints, probe: Probe) -> Gradient | Curvature:
        """Return what the solver needs."""
        return self.solver.answer(kept, to, stop, probe, self.link)

    def question(self, state: GlmServerState) -> Call | Probe:
        """Call for statistics first, then probe iterates."""
        if state.questions.number == CALLED:
            return Call(state.version + 1, since=-1)
        return Probe(state.search.iterate, state.version + 1, state.questions.number)

    def expected(self, step: int) -> type[Upload]:
        """Expect statistics first, then what the solver needs."""
        return Statistics if step == CALLED else self.solver.answers

    def advance(self, state: GlmServerState) -> bool:
        """Begin at the last global model, and move until the gradient is small enough."""
        search = state.search
        if state.questions.number == CALLED:
            search.iterate, search.steps = state.model, 0
            self.begin_search(state)
            return False
        if not self.solver.advance(search, state.questions.rows):
            return False
        _finish(state, search.iterate, predictor=search.iterate)
        return True

    def begin_search(self, state: GlmServerState) -> None:
        """Begin to minimise the loss of those who take part, where the search stands."""
        answers = state.questions.rows
        self.solver.begin(state.search, state.gram + answers.gram.sum(axis=0), answers.total())


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

    def begin_search(self, state: GlmServerState) -> None:
        """Do nothing: nothing is minimised."""

    def advance(self, state: GlmServerState) -> bool:
        """Add the outer product of the gradient to A, step in its norm, and project."""
        size = len(state.model)
        gradient = state.questions.rows.gradient.sum(axis=0)
        state.metric = state.metric + np.outer(gradient, gradient)
        inverse, scratch = np.empty((size, size)), np.empty((2, size + 2, size + 2))
        invert(state.metric, self.model.ridge, inverse, scratch[0], scratch[1])
        model = state.model - inverse @ gradient / self.gamma
        project_to_ball(state.metric, self.model.ridge, model, self.model.radius, scratch[0])
        _finish(state, model, predictor=state.model)
        return True
