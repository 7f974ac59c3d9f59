"""The Gaussian mechanism: how much noise an (epsilon, delta) promise needs, and what an amount of noise promises.

Balle and Wang 2018, theorem 8: normal noise of deviation s times the sensitivity is (epsilon, delta)-private iff

    Phi(1 / (2 s) - epsilon s) - exp(epsilon) Phi(-1 / (2 s) - epsilon s) <= delta.

mu = 1 / s is what adds up: mechanisms of mu_1 and mu_2 on the same data are one of sqrt(mu_1^2 + mu_2^2).
"""

from __future__ import annotations

import math
from collections.abc import Callable

import scipy


def failure(deviation: float, epsilon: float) -> float:
    """Return the least delta with which noise of a deviation, in units of the sensitivity, keeps an epsilon.

    >>> round(failure(4.224678889, epsilon=1.0), 12)
    1e-06
    """
    half, shift = 0.5 / deviation, epsilon * deviation
    return float(scipy.special.ndtr(half - shift) - math.exp(epsilon + scipy.special.log_ndtr(-half - shift)))


def deviation_for(epsilon: float, delta: float) -> float:
    """Return sigma: the least deviation of the noise, in units of the sensitivity, that keeps (epsilon, delta).

    >>> round(deviation_for(1.0, 1e-6), 9)
    4.224678889
    """
    low = high = 1.0
    while failure(low, epsilon) <= delta:
        low *= 0.5
    while failure(high, epsilon) > delta:
        high *= 2.0
    return _root(lambda each: failure(each, epsilon) - delta, low, high)


def epsilon_for(mu: float, delta: float) -> float:
    """Return the least epsilon that a mechanism of mu = 1 / sigma keeps with a delta; 0 if nothing was told.

    >>> round(epsilon_for(1 / 4.224678889, 1e-6), 6), epsilon_for(0.0, 1e-6)
    (1.0, 0.0)
    """
    if mu == 0.0 or failure(1.0 / mu, 0.0) <= delta:
        return 0.0
    high = 1.0
    while failure(1.0 / mu, high) > delta:
        high *= 2.0
    return _root(lambda each: failure(1.0 / mu, each) - delta, 0.0, high)


def _root(excess: Callable[[float], float], low: float, high: float) -> float:
    return float(scipy.optimize.brentq(excess, low, high, xtol=1e-15, rtol=8.9e-16, maxiter=500))
