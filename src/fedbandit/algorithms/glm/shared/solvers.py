"""Two ways to find the global model by questions and answers: accelerated gradients, and damped Newton steps.

The objective over the n observations of all clients is F(theta) = (1/n) (sum of losses + (ridge/2) |theta|^2), which is
(ridge/n)-strongly convex. A solver looks at the gradient of F at its iterate and says where to look next.

Accelerated (Li and Wang 2022, algorithm 3; Nesterov): v_0 = 0, v_j = (1 + sqrt(1 + 4 v_{j-1}^2)) / 2, and
    place^(j+1) = theta^(j) - gradient / (k_mu arm_bound^2 + ridge/n)
    theta^(j+1) = (1 - gamma_j) place^(j+1) + gamma_j place^(j),   gamma_j = (1 - v_j) / v_{j+1}.

Newton (beyond the paper): clients send the Hessian too, d^2 more scalars, and a few steps do. They are damped as in
`fedbandit.kernels.glm.refit`, so that the first, far from the minimum, cannot overshoot.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar, NamedTuple, Protocol

import numpy as np

from fedbandit.algorithms.glm.shared.messages import Curvature, Gradient, Probe
from fedbandit.core.arrays import Floats, Ints
from fedbandit.core.messages import Upload
from fedbandit.kernels.glm.kept_data import Kept, curvature_of_each, gradient_of_each
from fedbandit.kernels.glm.refit import damping
from fedbandit.kernels.glm.width import Model


class Search(NamedTuple):
    """Where a solver stands: the iterate whose gradient is asked for, and what acceleration remembers."""

    iterate: Floats  # theta^(j)
    place: Floats  # place^(j)
    momentum: float  # v_j


class Answers(NamedTuple):
    """What clients have answered, one row each: the order of arrival does not matter."""

    gram: Floats
    gradient: Floats
    curvature: Floats
    observations: Ints

    def total(self) -> int:
        """Return n, the observations of all who answered; 1 if there are none, so that means of nothing are 0."""
        return max(1, int(self.observations.sum()))


class Solver(Protocol):
    """The two halves of a way to minimise the global objective."""

    answers: ClassVar[type[Upload]]  # the message that answers a probe

    def answer(self, kept: Kept, to: Ints, stop: Ints, probe: Probe, link: int) -> Gradient | Curvature:
        """Return what the clients `to` say of the iterate, from their observations before `stop`."""

    def move(self, search: Search, gradient: Floats, answers: Answers) -> Search:
        """Return where to look next, given the gradient of F at the iterate, and the answers of all."""


def _gradients(kept: Kept, to: Ints, stop: Ints, model: Floats, link: int) -> Floats:
    models = np.empty((len(to), len(model)))
    models[:] = model
    return gradient_of_each(kept, to, np.zeros_like(stop), stop, models, link)


@dataclass(frozen=True)
class Accelerated:
    """Nesterov's accelerated gradient."""

    model: Model
    arm_bound: float
    answers: ClassVar[type[Upload]] = Gradient

    def answer(self, kept: Kept, to: Ints, stop: Ints, probe: Probe, link: int) -> Gradient:
        """Return the gradients."""
        return Gradient(
            _gradients(kept, to, stop, probe.model, link),
            version=np.full(len(to), probe.version),
            step=np.full(len(to), probe.step),
        )

    def move(self, search: Search, gradient: Floats, answers: Answers) -> Search:
        """Step along the gradient, and on by the momentum."""
        n = answers.total()
        smoothness = self.model.smoothness * self.arm_bound**2 + self.model.ridge / n
        momentum = (1.0 + math.sqrt(1.0 + 4.0 * search.momentum**2)) / 2.0
        gamma = (1.0 - search.momentum) / momentum
        place = search.iterate - gradient / smoothness
        return Search((1.0 - gamma) * place + gamma * search.place, place, momentum)


@dataclass(frozen=True)
class DampedNewton:
    """Newton's method, damped for generalised self-concordant losses."""

    model: Model
    arm_bound: float
    answers: ClassVar[type[Upload]] = Curvature

    def answer(self, kept: Kept, to: Ints, stop: Ints, probe: Probe, link: int) -> Curvature:
        """Return the gradients and the Hessians."""
        return Curvature(
            _gradients(kept, to, stop, probe.model, link),
            curvature_of_each(kept, to, stop, probe.model, link),
            version=np.full(len(to), probe.version),
            step=np.full(len(to), probe.step),
        )

    def move(self, search: Search, gradient: Floats, answers: Answers) -> Search:
        """Step to the minimum of the quadratic model, or part of the way."""
        n = answers.total()
        curvature = answers.curvature.sum(axis=0) + self.model.ridge * np.eye(len(gradient))
        step = np.linalg.solve(curvature, n * gradient)
        factor = damping(self.arm_bound * float(np.linalg.norm(step)))
        return search._replace(iterate=search.iterate - factor * step)
