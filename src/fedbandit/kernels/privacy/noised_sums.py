"""Noised sums of x x^T and x y: what one observation can change in them, and the noise that hides it.

With |x| <= L, |y| <= R and c = L / R, an observation has the coordinates (x_i^2; sqrt2 x_i x_j for i < j; c x_i y),
whose Euclidean length is the Frobenius length of (x x^T, c x y). Each entry is rounded to a multiple of GRAIN before
it is summed, so that sums are exact in any order, and what leaves is on the grid whatever the low bits of the noise
(Mironov 2012). Replacing an observation by another moves the sums by at most

    Delta = sqrt2 (L^2 + c^2 R^2 / 2) + GRAIN sqrt(d^2 + c^2 d).

Release k is the sum of the batches 1 .. k plus the rounded sum_j left[k, j] z_j, z_j normal with deviation
nu = sigma Delta max_j |right[:, j]| in these coordinates: a matrix entry (i, i) gets z, (i, j) and (j, i) the same
z / sqrt2, the moment z / c.
"""

from __future__ import annotations

import math

import numpy as np

from fedbandit.core.arrays import Floats
from fedbandit.kernels.privacy.gaussian import deviation_for, epsilon_for
from fedbandit.kernels.privacy.prefix_sums import factorisation

GRAIN = 2.0**-20


def on_grid(values: Floats) -> Floats:
    """Return values rounded to multiples of GRAIN.

    >>> float(on_grid(np.array([0.3]))[0] * 2**20)
    314573.0
    """
    return np.asarray(np.rint(values * (1.0 / GRAIN)) * GRAIN)


def sensitivity(dimension: int, context_bound: float, reward_bound: float) -> float:
    """Return Delta.

    >>> round(sensitivity(5, 1.0, 1.0), 6)
    2.121326
    """
    scale = context_bound / reward_bound
    rounding = GRAIN * math.sqrt(dimension**2 + scale**2 * dimension)
    return math.sqrt(2.0) * (context_bound**2 + (scale * reward_bound) ** 2 / 2.0) + rounding


class NoisedSums:
    """The releases of one stream of observations, under one promise for all of them.

    >>> sums = NoisedSums("toeplitz", 64, 5, epsilon=1.0, delta=1e-6)
    >>> round(sums.deviation, 6), round(sums.spent(64), 9)
    (13.851452, 1.0)
    """

    def __init__(
        self, mechanism: str, releases: int, dimension: int, *, epsilon: float, delta: float,
        context_bound: float = 1.0, reward_bound: float = 1.0,
    ) -> None:  # fmt: skip
        """Take the promise, the number of releases, and what bounds arms and rewards."""
        self.releases, self.dimension, self.epsilon, self.delta = releases, dimension, epsilon, delta
        self.context_bound, self.reward_bound = context_bound, reward_bound
        self.scale = context_bound / reward_bound  # c
        self.factors = factorisation(mechanism, releases)
        self.mu = 1.0 / deviation_for(epsilon, delta)
        self._exposure = self.factors.exposure(releases)
        reach = sensitivity(dimension, context_bound, reward_bound) * math.sqrt(self._exposure)
        self.deviation = reach / self.mu  # nu
        self._upper = np.triu_indices(dimension)
        self.size = len(self._upper[0]) + dimension  # standard normals of a release

    def products(self, arm: Floats, reward: float | Floats) -> tuple[Floats, Floats]:
        """Return x x^T and x y as they are summed: on the grid, of a reward within its bound.

        Of several observations at once, (n, d) and (n,), it is one of each for each.
        """
        within = np.clip(reward, -self.reward_bound, self.reward_bound)
        return on_grid(arm[..., np.newaxis] * arm[..., np.newaxis, :]), on_grid(arm * within[..., np.newaxis])

    def noise(self, release: int, normals: Floats) -> tuple[Floats, Floats]:
        """Return what release k adds to both sums; row j - 1 of the standard normals is z_j / nu."""
        total = self.deviation * (self.factors.weights(release) @ normals[:release])
        pairs = len(self._upper[0])
        above = np.zeros((self.dimension, self.dimension))
        above[self._upper] = total[:pairs] / math.sqrt(2.0)
        gram = above + above.T
        gram[np.diag_indices(self.dimension)] = np.diagonal(above) * math.sqrt(2.0)
        return on_grid(gram), on_grid(total[pairs:] / self.scale)

    def variance(self, release: int) -> float:
        """Return v: the variance of the noise of release k in a coordinate; 0 before the first."""
        return self.deviation**2 * self.factors.variance(release)

    def spent_mu(self, releases: int) -> float:
        """Return mu of the first k releases: of all of them it is that of the promise."""
        return self.mu * math.sqrt(self.factors.exposure(releases) / self._exposure)

    def spent(self, releases: int) -> float:
        """Return the epsilon of the first k releases."""
        return epsilon_for(self.spent_mu(releases), self.delta)
