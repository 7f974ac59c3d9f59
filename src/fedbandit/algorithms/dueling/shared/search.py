"""The search for a minimum in the dueling family: its messages, and how theta moves.

The exchange itself is that of `fedbandit.algorithms.federated_minimum`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from fedbandit.algorithms.federated_minimum import Gradients, Questions, Solver
from fedbandit.core.arrays import Floats, Ints
from fedbandit.core.bounds import Bounds, check_counts, check_length, check_not_ahead
from fedbandit.core.messages import Download, Upload, array, header
from fedbandit.kernels.glm import descent
from fedbandit.kernels.glm.descent import Search


@dataclass(frozen=True)
class Probe(Download, kind="dueling.probe"):
    """An estimate on its way: the next gradient is asked for here, or it is the answer."""

    theta: Floats = array(shape=("d",))
    is_answer: int = header()
    number: int = header()  # of the question


@dataclass(frozen=True)
class Gradient(Upload, kind="dueling.gradient"):
    """The gradient of a client's own loss, where the server asked for it."""

    gradient: Floats = array(shape=("d",))
    number: Ints = header()  # of the question that it answers: a late answer is to none that is open

    def check(self, bounds: Bounds) -> None:  # noqa: ARG002
        """Refuse a number that no question has; how long a gradient can be, the server knows."""
        check_counts(number=self.number - 1)

    def new_observations(self, before: int) -> int:  # noqa: ARG002
        """Return 0: the information has told of the duels."""
        return 0

    def rests_on(self, told: int) -> int:
        """Return all duels that the information has told of: it is over the same."""
        return told


def check_gradient(questions: Questions[Gradients], message: Gradient, duels: int, bounds: Bounds) -> None:
    """Refuse an answer that is far ahead, or longer than the gradient of so many duels: |g| <= sum |z| <= n 2 L.

    A duel's gradient is -z sigmoid(-theta^T z). An answer to another question than the open one changes nothing.
    """
    check_not_ahead("question", int(message.number[0]), questions.number)
    if questions.is_open and message.number[0] == questions.number:
        check_length("gradient", message.gradient[0], duels * bounds.context if duels else 0.0)


class DuelingSolver(Solver[Search, Gradients], Protocol):
    """A way in which theta moves, that can be stopped before it has arrived."""

    def retreat(self, search: Search) -> None:
        """Let the search stand at the best place that is known."""


@dataclass(frozen=True)
class Lbfgs(DuelingSolver):
    """L-BFGS to the precision of the arithmetic, with what earlier searches taught it of the Hessian."""

    ridge: float

    def begin(self, search: Search, gram: Floats, observations: int) -> None:
        """Bound the Hessian of the losses by gram / 4."""
        descent.begin(search, gram, observations, self.ridge)

    def advance(self, search: Search, answers: Gradients) -> bool:
        """Take one quasi-Newton step, or cut the last one short."""
        return descent.advance(search, answers.gradient.sum(axis=0), self.ridge)

    def retreat(self, search: Search) -> None:
        """Go back to the last place to which the way certainly fell; before the first gradient it is there."""
        if search.evaluations[0]:
            search.trial[:] = search.point


@dataclass(frozen=True)
class GradientSteps(DuelingSolver):
    """Plain gradient descent: a fixed number of steps of a fixed length.

    >>> import numpy as np
    >>> search, answers = descent.new_search(1), Gradients(np.array([[-1.5], [0.5]]))
    >>> solver = GradientSteps(ridge=1.0, inner_steps=2, step=0.5)
    >>> [(solver.advance(search, answers), float(search.trial[0])) for _ in range(2)]
    [(False, 0.5), (True, 0.75)]
    """

    ridge: float
    inner_steps: int
    step: float

    def begin(self, search: Search, gram: Floats, observations: int) -> None:  # noqa: ARG002
        """Begin to count."""
        search.evaluations[0] = 0

    def advance(self, search: Search, answers: Gradients) -> bool:
        """Take one step."""
        search.evaluations[0] += 1
        search.trial[:] -= self.step * (answers.gradient.sum(axis=0) + self.ridge * search.trial)
        return bool(search.evaluations[0] >= self.inner_steps)

    def retreat(self, search: Search) -> None:
        """Stay: every step is taken for good."""
