"""Widths of the confidence ellipsoids of generalised linear bandits (Li and Wang 2022).

Around a maximum-likelihood model over n observations (lemma 9):

    alpha = n sqrt(2 k / (ridge c) + 2 / (n c)) sqrt(eps) + (R / c) sqrt(d log(1 + n c / (d ridge)) + 2 log(1 / delta))
            + sqrt(ridge / c) S.

Around the ridge centre theta_hat = A^-1 b of the predictions z (lemmas 2 and 14), with B the bound on the online loss:

    alpha^2 = base + 1 + 4 B / c + (8 R^2 / c^2) log((N / delta) sqrt(4 + 8 B / c + 16 R^4 / (c^4 delta^2)))
              + theta_hat^T b - |z|^2,

where B = offline + weight * online, online = sum |gradient|^2 in the norm of the inverse matrix of the Newton step, and
base and offline change only at global updates.
"""

from __future__ import annotations

import math
from typing import NamedTuple

from fedbandit.kernels.shared.compiled import compiled


class Model(NamedTuple):
    """The constants of a generalised linear bandit that the lemmas speak of."""

    dimension: int
    clients: int  # N
    ridge: float  # lambda
    radius: float  # S
    noise_bound: float  # R_max
    delta: float
    curvature: float  # c_mu: the least slope of the link within the radius
    smoothness: float  # k_mu: the greatest


GIVEN, LIKELIHOOD, PREDICTIONS = 0, 1, 2


class Width(NamedTuple):
    """How a row's width follows from its numbers.

    GIVEN: it is the row's `base`. LIKELIHOOD: lemma 9 for an exact model of the row's own observations. PREDICTIONS:
    lemmas 2 and 14.
    """

    kind: int
    scale: float
    weight: float  # of the online sum in B: 1 / (2 c_mu), or 1 / (2 gamma)


@compiled
def likelihood_width(model: Model, observations: int, suboptimality: float) -> float:
    """Return alpha of lemma 9; without observations its first term is 0."""
    n, c, size = float(observations), model.curvature, float(model.dimension)
    inexact = 0.0
    if observations:
        inexact = n * math.sqrt(2.0 * model.smoothness / (model.ridge * c) + 2.0 / (n * c)) * math.sqrt(suboptimality)
    spread = size * math.log(1.0 + n * c / (size * model.ridge)) + 2.0 * math.log(1.0 / model.delta)
    return inexact + model.noise_bound / c * math.sqrt(spread) + math.sqrt(model.ridge / c) * model.radius


@compiled
def prediction_width(model: Model, base: float, loss: float, fit: float) -> float:
    """Return alpha of lemmas 2 and 14 for B = `loss` and theta_hat^T b - |z|^2 = `fit`."""
    c = model.curvature
    noise = model.noise_bound * model.noise_bound / (c * c)  # R^2 / c^2
    inner = 4.0 + 8.0 * loss / c + 16.0 * noise * noise / (model.delta * model.delta)
    spread = 8.0 * noise * (math.log(model.clients / model.delta) + 0.5 * math.log(inner))
    return math.sqrt(max(0.0, base + 1.0 + 4.0 * loss / c + spread + fit))
