"""Optimistic choice: scores, the tie rule, and the ways to explore."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from fedbandit.core.arrays import Floats
from fedbandit.kernels.linear.ridge import dot, multiply
from fedbandit.kernels.shared.compiled import borrowing, compiled, inlined_borrowing

TIE = 1e-9  # scores this close to the best, relative to max(1, |best|), count as equal


class Width(NamedTuple):
    """The width of a confidence ellipsoid: base + scale * sqrt(log det + offset). A fixed width has scale 0."""

    base: float
    scale: float
    offset: float


@inlined_borrowing
def width(log_det: float, shape: Width) -> float:
    """Return the width at a log-determinant."""
    return shape.base + shape.scale * math.sqrt(max(0.0, log_det + shape.offset))


@inlined_borrowing
def first_best(scores: Floats) -> int:
    """Return the lowest index among the scores that tie with the best."""
    best = scores[0]
    for k in range(1, scores.size):
        best = max(best, scores[k])
    enough = best - TIE * max(1.0, abs(best))
    for k in range(scores.size):
        if scores[k] >= enough:
            return k
    return 0


@inlined_borrowing
def add_optimistic_scores(
    arms: Floats, first: int, estimate: Floats, inverse: Floats, bonus: float, scores: Floats, product: Floats
) -> None:
    """Add x^T estimate + bonus * sqrt(x^T inverse x) to the score of each arm.

    x is the part of the arm from coordinate `first` on that is as long as the estimate. `product` is scratch.
    """
    size = estimate.size
    for k in range(arms.shape[0]):
        arm = arms[k][first : first + size]
        score = dot(arm, estimate)
        if bonus != 0.0:
            multiply(inverse, arm, product[:size])
            score += bonus * math.sqrt(max(0.0, dot(arm, product[:size])))
        scores[k] += score


@borrowing
def optimistic_arm(arms: Floats, estimate: Floats, inverse: Floats, bonus: float, scratch: Floats) -> int:
    """Return argmax x^T estimate + bonus * sqrt(x^T inverse x) over the rows of `arms`.

    `scratch` has two rows at least as long as an arm and as the number of arms.
    """
    scores = scratch[1, : arms.shape[0]]
    scores[:] = 0.0
    add_optimistic_scores(arms, 0, estimate, inverse, bonus, scores, scratch[0])
    return first_best(scores)


@compiled
def thompson_sample(estimate: Floats, inverse: Floats, spread: float, normals: Floats) -> Floats:
    """Return a draw from N(estimate, spread^2 inverse): estimate + spread * L normals, with L L^T = inverse."""
    return estimate + spread * (np.linalg.cholesky(inverse) @ normals)


@compiled
def perturbed_sample(moment: Floats, gram: Floats, inverse: Floats, spread: float, normals: Floats) -> Floats:
    """Return inverse (moment + spread * gram^(1/2) normals), with the symmetric square root."""
    values, vectors = np.linalg.eigh(gram)
    roots = np.sqrt(np.maximum(values, 0.0))
    history = vectors @ (roots * (vectors.T @ normals))
    sample: Floats = inverse @ (moment + spread * history)
    return sample
