"""Finding the minimum of a sum whose terms stay with the clients: theta goes down, gradients come up.

The server side of the search is a state machine over messages: it takes in the sum of the gradients at the theta that
it sent last, and says where theta goes next. How it moves is a strategy.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np

from fedbandit.algorithms.dueling.shared.family import Inbox, empty_inbox, put
from fedbandit.core.arrays import Bools, Floats, Ints
from fedbandit.core.bounds import Bounds, check_counts, check_length, check_not_ahead
from fedbandit.core.interfaces import Outgoing
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


@dataclass
class Questions:
    """A part of the state of a server that asks all clients for gradients, one question after the other."""

    is_open: bool
    number: int  # of the last question
    answers: Inbox  # to it

    def ask(self) -> int:
        """Open the next question and return its number."""
        self.is_open = True
        self.number += 1
        return self.number

    def take_in(self, senders: Ints, message: Gradient) -> bool:
        """Keep answers to the open question; return whether the last of all clients' is among them."""
        fits = message.number == self.number
        if not self.is_open or not fits.any():
            return False
        put(self.answers, senders[fits], message.gradient[fits])
        return bool(self.answers.counts.all())

    def check(self, message: Gradient, duels: int, bounds: Bounds) -> None:
        """Refuse an answer that is far ahead, or longer than the gradient of so many duels: |g| <= sum |z| <= n 2 L.

        A duel's gradient is -z sigmoid(-theta^T z). An answer to another question than the open one changes nothing.
        """
        check_not_ahead("question", int(message.number[0]), self.number)
        if self.is_open and message.number[0] == self.number:
            check_length("gradient", message.gradient[0], duels * bounds.context if duels else 0.0)

    def silent(self) -> Bools:
        """Tell of each client whether it has not answered the last question."""
        return np.asarray(self.answers.counts == 0)

    def to_all(self, message: Download) -> Outgoing[Download]:
        """Address a message to every client."""
        return Outgoing(np.arange(len(self.answers.counts)), message)


def no_questions(clients: int, dimension: int) -> Questions:
    """Return the state of a server that has asked nothing.

    >>> no_questions(clients=3, dimension=2).ask()
    1
    """
    return Questions(False, 0, empty_inbox(clients, dimension))


class Solver(Protocol):
    """How theta moves. Its place, its memory and its count of steps stand in a `Search`."""

    def begin(self, search: Search, gram: Floats, duels: int) -> None:
        """Begin to minimise the loss of so many duels, whose sum z z^T is `gram`, at `search.trial`."""

    def advance(self, search: Search, gradient: Floats) -> bool:
        """Take in the gradient of all clients' losses at `search.trial`, move it, and tell if it is the answer."""


@dataclass(frozen=True)
class Lbfgs:
    """L-BFGS to the precision of the arithmetic, with what earlier searches taught it of the Hessian."""

    ridge: float

    def begin(self, search: Search, gram: Floats, duels: int) -> None:
        """Bound the Hessian of the losses by gram / 4."""
        descent.begin(search, gram, duels, self.ridge)

    def advance(self, search: Search, gradient: Floats) -> bool:
        """Take one quasi-Newton step, or cut the last one short."""
        return descent.advance(search, gradient, self.ridge)


@dataclass(frozen=True)
class GradientSteps:
    """Plain gradient descent: a fixed number of steps of a fixed length.

    >>> import numpy as np
    >>> search = descent.new_search(1)
    >>> solver = GradientSteps(ridge=1.0, inner_steps=2, step=0.5)
    >>> [(solver.advance(search, np.array([-1.0])), float(search.trial[0])) for _ in range(2)]
    [(False, 0.5), (True, 0.75)]
    """

    ridge: float
    inner_steps: int
    step: float

    def begin(self, search: Search, gram: Floats, duels: int) -> None:  # noqa: ARG002
        """Begin to count."""
        search.evaluations[0] = 0

    def advance(self, search: Search, gradient: Floats) -> bool:
        """Take one step."""
        search.evaluations[0] += 1
        search.trial[:] -= self.step * (gradient + self.ridge * search.trial)
        return bool(search.evaluations[0] >= self.inner_steps)
