"""Two ways to find the global model by questions and answers: accelerated gradients, and damped Newton steps.

The objective over the n observations of all clients is F(theta) = (1/n) (sum of losses + (ridge/2) |theta|^2), which is
(ridge/n)-strongly convex. A solver looks at the gradient of F at its iterate and says where to look next. It stops at
the first iterate whose gradient is at most sqrt(2 (ridge/n) eps): by strong convexity F is then within eps of its
minimum.

Accelerated (Li and Wang 2022, algorithm 3; Nesterov): v_0 = 0, v_j = (1 + sqrt(1 + 4 v_{j-1}^2)) / 2, and
    place^(j+1) = theta^(j) - gradient / (k_mu arm_bound^2 + ridge/n)
    theta^(j+1) = (1 - gamma_j) place^(j+1) + gamma_j place^(j),   gamma_j = (1 - v_j) / v_{j+1}.

Newton (beyond the paper): clients send the Hessian too, d^2 more scalars, and a few steps do. They are damped as in
`fedbandit.kernels.glm.refit`, so that the first, far from the minimum, cannot overshoot.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np

from fedbandit.algorithms.glm.shared.messages import Curvature, Gradient, Probe
from fedbandit.core.arrays import Floats, Ints
from fedbandit.core.errors import InvalidInput
from fedbandit.core.messages import Upload
from fedbandit.kernels.glm.kept_data import Kept, curvature_of_each, gradient_of_each
from fedbandit.kernels.glm.refit import damping
from fedbandit.kernels.glm.width import Model

MOST_STEPS = 100_000


@dataclass
class Search:
    """Where a solver stands: the iterate whose gradient is asked for, and what acceleration remembers."""

    iterate: Floats  # theta^(j)
    place: Floats  # place^(j)
    momentum: float = 1.0  # v_j
    steps: int = 0  # gradients seen in this search


class Answers(NamedTuple):
    """What clients have answered, one row each: the order of arrival does not matter."""

    gram: Floats
    gradient: Floats
    curvature: Floats
    observations: Ints

    def total(self) -> int:
        """Return n, the observations of all who answered; 1 if there are none, so that means of nothing are 0."""
        return max(1, int(self.observations.sum()))


@dataclass(frozen=True)
class RegressionSolver(ABC):
    """The two halves of a way to minimise the global objective: what clients answer, and how the iterate moves."""

    model: Model
    arm_bound: float
    constant: float | None = None  # eps, where it is not 1 / n^2
    answers: ClassVar[type[Upload]]  # the message that answers a probe

    @abstractmethod
    def answer(self, kept: Kept, to: Ints, stop: Ints, probe: Probe, link: int) -> Gradient | Curvature:
        """Return what the clients `to` say of the iterate, from their observations before `stop`."""

    @abstractmethod
    def move(self, search: Search, gradient: Floats, answers: Answers) -> None:
        """Look elsewhere, given the gradient of F at the iterate, and the answers of all."""

    def suboptimality(self, observations: int) -> float:
        """Return eps, how far above its minimum F may stay: 1 / n^2, or the constant."""
        return 1.0 / max(1, observations) ** 2 if self.constant is None else self.constant

    def begin(self, search: Search, gram: Floats, observations: int) -> None:  # noqa: ARG002
        """Forget what acceleration remembers: another sum is minimised from here on."""
        search.place, search.momentum = search.iterate, 1.0

    def smallest_gradient(self, observations: int) -> float:
        """Return the length of the gradient of F at which a search stops."""
        return math.sqrt(2.0 * self.model.ridge / observations * self.suboptimality(observations))

    def advance(self, search: Search, answers: Answers) -> bool:
        """Stop at an iterate whose gradient is small enough, or move on."""
        if self.moves_on(search, answers.gradient.sum(axis=0), answers):
            return False
        search.steps += 1
        return True

    def moves_on(self, search: Search, total: Floats, answers: Answers) -> bool:
        """Look elsewhere, and return True, unless the gradient of F is small enough where the search stands.

        `total` is the gradient there of the losses of all.
        """
        n = answers.total()
        gradient = (total + self.model.ridge * search.iterate) / n
        length = math.sqrt(gradient @ gradient)
        if length <= self.smallest_gradient(n):
            return False
        search.steps += 1
        if not math.isfinite(length) or search.steps >= MOST_STEPS:
            raise InvalidInput(
                f"the global regression over n={n} observations did not converge in {search.steps} steps: set "
                "arm_bound to the length of the longest arm, take solver=newton, or allow a larger suboptimality"
            )
        self.move(search, gradient, answers)
        return True


def _gradients(kept: Kept, to: Ints, stop: Ints, model: Floats, link: int) -> Floats:
    models = np.empty((len(to), len(model)))
    models[:] = model
    return gradient_of_each(kept, to, np.zeros_like(stop), stop, models, link)


@dataclass(frozen=True)
class Accelerated(RegressionSolver):
    """Nesterov's accelerated gradient."""

    answers: ClassVar[type[Upload]] = Gradient

    def answer(self, kept: Kept, to: Ints, stop: Ints, probe: Probe, link: int) -> Gradient:
        """Return the gradients."""
        return Gradient(_gradients(kept, to, stop, probe.model, link), **probe.named(len(to)))

    def move(self, search: Search, gradient: Floats, answers: Answers) -> None:
        """Step along the gradient, and on by the momentum."""
        n = answers.total()
        smoothness = self.model.smoothness * self.arm_bound**2 + self.model.ridge / n
        momentum = (1.0 + math.sqrt(1.0 + 4.0 * search.momentum**2)) / 2.0
        gamma = (1.0 - search.momentum) / momentum
        place = search.iterate - gradient / smoothness
        search.iterate = (1.0 - gamma) * place + gamma * search.place
        search.place, search.momentum = place, momentum


@dataclass(frozen=True)
class DampedNewton(RegressionSolver):
    """Newton's method, damped for generalised self-concordant losses."""

    answers: ClassVar[type[Upload]] = Curvature

    def answer(self, kept: Kept, to: Ints, stop: Ints, probe: Probe, link: int) -> Curvature:
        """Return the gradients and the Hessians."""
        return Curvature(
            _gradients(kept, to, stop, probe.model, link),
            curvature_of_each(kept, to, stop, probe.model, link),
            **probe.named(len(to)),
        )

    def move(self, search: Search, gradient: Floats, answers: Answers) -> None:
        """Step to the minimum of the quadratic model, or part of the way."""
        n = answers.total()
        curvature = answers.curvature.sum(axis=0) + self.model.ridge * np.eye(len(gradient))
        step = np.linalg.solve(curvature, n * gradient)
        factor = damping(self.arm_bound * float(np.linalg.norm(step)))
        search.iterate = search.iterate - factor * step
