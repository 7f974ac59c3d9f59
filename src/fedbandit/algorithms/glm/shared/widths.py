"""The widths of the lemmas, in the part that global updates change.

A width rule says how a row's `base` and `offline` (see `fedbandit.kernels.glm.width`) follow from a global update over
n observations with sub-optimality eps, statistics `gram` = sum x x^T and model theta; n = 0 stands for the beginning.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from fedbandit.core.arrays import Floats
from fedbandit.kernels.glm.width import GIVEN, LIKELIHOOD, PREDICTIONS, Model, Width, likelihood_width
from fedbandit.kernels.linear.ridge import factorise


class WidthRule(Protocol):
    """How wide a client's confidence ellipsoid is."""

    @property
    def shape(self) -> Width:
        """Return what the kernels need to know."""

    def at_update(self, observations: int, suboptimality: float, gram: Floats, model: Floats) -> tuple[float, float]:
        """Return the rows' `base` and `offline` after a global update."""


@dataclass(frozen=True)
class FixedWidth:
    """The same width always.

    >>> FixedWidth(2.0).at_update(0, 0.0, np.zeros((1, 1)), np.zeros(1))
    (2.0, 0.0)
    """

    alpha: float
    shape = Width(GIVEN, 1.0, 0.0)

    def at_update(self, observations: int, suboptimality: float, gram: Floats, model: Floats) -> tuple[float, float]:  # noqa: ARG002
        """Return the width."""
        return self.alpha, 0.0


@dataclass(frozen=True)
class OwnLikelihoodWidth:
    """Lemma 9 with eps = 0 and the client's own count of observations (UCB-GLM)."""

    model: Model
    scale: float

    @property
    def shape(self) -> Width:
        """Return a width that the kernels compute alone."""
        return Width(LIKELIHOOD, self.scale, 0.0)

    def at_update(self, observations: int, suboptimality: float, gram: Floats, model: Floats) -> tuple[float, float]:  # noqa: ARG002
        """Return nothing: there are no global updates."""
        return 0.0, 0.0


@dataclass(frozen=True)
class LikelihoodWidth:
    """Lemma 9 at the last global update (algorithm 4)."""

    model: Model
    scale: float
    shape = Width(GIVEN, 1.0, 0.0)

    def at_update(self, observations: int, suboptimality: float, gram: Floats, model: Floats) -> tuple[float, float]:  # noqa: ARG002
        """Return alpha of lemma 9."""
        return self.scale * likelihood_width(self.model, observations, suboptimality), 0.0


@dataclass(frozen=True)
class OfflineOnlineWidth:
    """Lemma 2, with n_last for N t_last and S for |theta_star| (algorithms 1 and 5)."""

    model: Model
    scale: float

    @property
    def shape(self) -> Width:
        """Weigh the online sum by 1 / (2 c_mu), as in B_2."""
        return Width(PREDICTIONS, self.scale, 1.0 / (2.0 * self.model.curvature))

    def at_update(self, observations: int, suboptimality: float, gram: Floats, model: Floats) -> tuple[float, float]:
        """Return the terms of alpha^2 without B_2, and the part of B_2 that the update sets (appendix B)."""
        the = self.model
        c, noise = the.curvature, the.noise_bound / the.curvature
        first = observations * suboptimality + the.ridge / 2.0 * the.radius**2  # B_1
        log_det = factorise(gram, 1.0, np.empty_like(gram))
        volume = math.log(1.0 / the.delta) + 0.5 * log_det
        length = float(np.linalg.norm(model)) + the.radius + math.sqrt(first)
        base = 8.0 * noise**2 * volume + first + 4.0 * noise * math.sqrt(2.0 * volume) * length
        offline = c / 2.0 * likelihood_width(the, observations, suboptimality) ** 2
        return base + the.ridge / c * the.radius**2, offline


@dataclass(frozen=True)
class OnlineWidth:
    """Lemma 14, with the bound B_P of lemma 12 for the learning rate gamma (algorithm 6)."""

    model: Model
    scale: float
    gamma: float

    @property
    def shape(self) -> Width:
        """Weigh the online sum by 1 / (2 gamma), as in B_P."""
        return Width(PREDICTIONS, self.scale, 1.0 / (2.0 * self.gamma))

    def at_update(self, observations: int, suboptimality: float, gram: Floats, model: Floats) -> tuple[float, float]:  # noqa: ARG002
        """Return constants: what updates change stands in the online sum."""
        square = self.model.ridge * self.model.radius**2
        return square, 2.0 * self.gamma * square
