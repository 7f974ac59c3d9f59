"""How clients choose by noised sums: the regression of `private-linucb`, and its width.

tau^2 is the variance of the noise in the sums, s = sqrt(2 log(2 / beta)) with beta = delta / (3 N B_max). With
probability 1 - beta the noise of V has a spectral norm of at most Upsilon = tau (sqrt(2 d) + s) (its mean is at most
tau sqrt(2 d) by Gaussian comparison, and it is tau-Lipschitz), and that of b is at most Gamma = (tau / c) (sqrt d + s).

    A = sum_i P_i + (ridge + 2 Upsilon) I,   theta = A^-1 sum_i p_i
    alpha = noise sqrt(log det A - d log(ridge + Upsilon) + 2 log(2 / delta))
            + sqrt(ridge + 3 Upsilon) + Gamma / sqrt(ridge + Upsilon)

Half of delta is for the noise of rewards, half for that of privacy over all versions; |theta*| <= 1. The noise with the
shift has its eigenvalues in [ridge + Upsilon, ridge + 3 Upsilon]; should the smallest eigenvalue of A be below that, A
gets the difference on its diagonal. Shift and width are derived in the manner of Shariff and Sheffet 2018. The bound
wants one fixed regulariser, while Upsilon changes with the version: a union over versions would add 2 log(N B_max)
under the root. It is left out, being small beside the rest.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from fedbandit.core.arrays import Floats


class PrivateModel(NamedTuple):
    """What scores use: theta, A^-1 and alpha."""

    estimate: Floats
    inverse: Floats
    bonus: float


@dataclass(frozen=True)
class PrivateRegression:
    """The parameters of the regression."""

    ridge: float
    noise: float
    delta: float
    alpha: float | None  # a fixed width
    scale: float  # c
    versions: int  # N B_max

    def model(self, gram: Floats, moment: Floats, variance: float) -> PrivateModel:
        """Return what scores use after a download."""
        size, spread = len(moment), math.sqrt(variance)
        far = math.sqrt(2.0 * math.log(2.0 / (self.delta / (3.0 * self.versions))))
        upsilon = spread * (math.sqrt(2.0 * size) + far)
        least = self.ridge + upsilon
        values, vectors = np.linalg.eigh(gram)
        values += self.ridge + 2.0 * upsilon
        values += max(0.0, least - float(values[0]))
        inverse = (vectors / values) @ vectors.T
        bonus = self.alpha
        if bonus is None:
            gamma = spread / self.scale * (math.sqrt(size) + far)
            log_det = float(np.log(values).sum())
            rewards = log_det - size * math.log(least) + 2.0 * math.log(2.0 / self.delta)
            bonus = self.noise * math.sqrt(max(0.0, rewards)) + math.sqrt(self.ridge + 3.0 * upsilon)
            bonus += gamma / math.sqrt(least)
        return PrivateModel(inverse @ moment, inverse, bonus)
