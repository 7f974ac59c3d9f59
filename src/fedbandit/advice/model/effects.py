"""Sites that differ around a common parameter: random effects, from sums by site alone.

    r = x^T theta_i + noise,   theta_i = theta_0 + u_i,   u_i ~ N(0, diag tau^2),   theta_0 ~ N(0, prior I)

with noise of variance sigma^2. Given tau and sigma all is jointly Gaussian. With S = diag tau and G_i, h_i the sums of
x x^T and x r at site i:

    C_i = S (I + S G_i S / sigma^2)^-1 S                             the variance of u_i given theta_0
    theta_0 has the precision   sum_i (G_i - G_i C_i G_i / sigma^2) / sigma^2 + I / prior,
    and the mean that solves it for   sum_i (h_i - G_i C_i h_i / sigma^2) / sigma^2
    u_i given theta_0 has the mean   C_i (h_i - G_i theta_0) / sigma^2

tau is never inverted, so coordinates in which sites do not differ have tau = 0. With tau = 0 throughout this is the one
model of all sites.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from fedbandit.advice.model.sums import Sums
from fedbandit.core.arrays import Floats

MOST_STEPS = 200
LEAST_MOVE = 1e-7
NO_EFFECT = 0.05  # tau^2 below this part of sigma^2 / (mean of G_i,jj), the variance of what one site alone says, is 0


@dataclass(frozen=True)
class Scales:
    """How far sites differ in each coordinate, how noisy rewards are, and how large theta_0 may be: variances."""

    between: Floats  # (d,): tau^2
    noise: float  # sigma^2
    prior: float


@dataclass(frozen=True)
class Posterior:
    """What the sums say of theta_0 and of each u_i, given the scales."""

    middle: Floats  # (d,): the mean of theta_0
    middle_variance: Floats  # (d, d)
    variance: Floats  # (N, d, d): C_i
    factor: Floats  # (N, d, d): F with F F^T = C_i
    pull: Floats  # (N, d): C_i h_i / sigma^2
    shrink: Floats  # (N, d, d): C_i G_i / sigma^2

    def effects(self, middle: Floats) -> Floats:
        """Return the mean of each u_i given theta_0 (N, d)."""
        return self.pull - self.shrink @ middle

    def expected(self) -> Floats:
        """Return the mean of each theta_i (N, d)."""
        return self.middle + self.effects(self.middle)

    def draw(self, normals: Floats) -> Floats:
        """Return a draw of all theta_i (N, d), made of standard normals (N + 1, d): first theta_0, then each u_i."""
        middle = self.middle + np.linalg.cholesky(self.middle_variance) @ normals[0]
        own: Floats = np.einsum("nij,nj->ni", self.factor, normals[1:])
        return np.asarray(middle + self.effects(middle) + own)


def posterior_of(sums: Sums, scales: Scales) -> Posterior:
    """Return what the sums say, given the scales."""
    tau = np.sqrt(scales.between)
    identity = np.eye(sums.dimension)
    scaled = sums.gram / scales.noise
    lower = np.linalg.cholesky(identity + tau[:, np.newaxis] * scaled * tau)
    factor = tau[:, np.newaxis] * np.swapaxes(np.linalg.inv(lower), 1, 2)
    variance = factor @ np.swapaxes(factor, 1, 2)
    shrink = variance @ scaled
    pull: Floats = np.einsum("nij,nj->ni", variance, sums.moment) / scales.noise
    precision = (scaled - scaled @ shrink).sum(axis=0) + identity / scales.prior
    said = (sums.moment / scales.noise - np.einsum("nij,nj->ni", scaled, pull)).sum(axis=0)
    middle_variance = np.linalg.inv(precision)
    middle_variance = (middle_variance + middle_variance.T) / 2
    return Posterior(middle_variance @ said, middle_variance, variance, factor, pull, shrink)


def scales_of(sums: Sums, start: Scales) -> Scales:
    """Return the scales by expectation maximisation, with those that cannot be told from 0 set to 0."""
    scales = start
    for _ in range(MOST_STEPS):
        last, scales = scales, improved(sums, scales)
        if max(np.abs(scales.between - last.between).max(), abs(scales.noise - last.noise)) < LEAST_MOVE:
            break
    mean = np.einsum("njj->j", sums.gram) / sums.sites
    alone = np.divide(scales.noise, mean, out=np.full_like(mean, np.inf), where=mean > 0)
    return Scales(np.where(scales.between < NO_EFFECT * alone, 0.0, scales.between), scales.noise, scales.prior)


def improved(sums: Sums, scales: Scales) -> Scales:
    """Return the scales after one step of expectation maximisation.

    tau^2 is the mean over sites of E[u_i^2], sigma^2 the mean over rows of E[(r - x^T theta_i)^2].
    """
    known = posterior_of(sums, scales)
    effects = known.effects(known.middle)
    spread = known.variance + known.shrink @ known.middle_variance @ np.swapaxes(known.shrink, 1, 2)
    between = (effects**2 + np.einsum("njj->nj", spread)).mean(axis=0)
    theta = known.middle + effects
    rest = np.eye(sums.dimension) - known.shrink
    doubt = known.variance + rest @ known.middle_variance @ np.swapaxes(rest, 1, 2)
    missed = (
        sums.square - 2 * (sums.moment * theta).sum(axis=1) + np.einsum("ni,nij,nj->n", theta, sums.gram, theta)
        + np.einsum("nij,nji->n", sums.gram, doubt)
    )  # fmt: skip
    return Scales(between, float(missed.sum()) / float(sums.rows.sum()), scales.prior)
