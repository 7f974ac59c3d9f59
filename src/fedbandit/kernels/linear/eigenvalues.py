"""A bound of the largest eigenvalue of a small matrix, from a few products."""

from __future__ import annotations

import math

from fedbandit.core.arrays import Floats
from fedbandit.kernels.linear.ridge import dot
from fedbandit.kernels.shared.compiled import borrowing

ROUNDING = 1e-9  # far more than that of a few products


@borrowing
def most_of_eigenvalues(matrix: Floats, square: Floats, fourth: Floats) -> float:
    """Return an upper bound of the largest eigenvalue of a positive definite matrix, not far above it.

    It is the eighth root of the sum of the eighth powers of all d eigenvalues, at most d^(1/8) times the largest. What
    is squared has trace 1, so that no power is too small to tell. `square` and `fourth` are scratch.
    """
    size, trace = matrix.shape[0], 0.0
    for i in range(size):
        trace += matrix[i, i]
    square_of(matrix, 1.0 / trace, square)
    square_of(square[:size, :size], 1.0, fourth)
    total = 0.0
    for i in range(size):
        total += dot(fourth[i, :size], fourth[i, :size])
    return trace * math.sqrt(math.sqrt(math.sqrt(total))) * (1.0 + ROUNDING)


@borrowing
def square_of(matrix: Floats, scale: float, out: Floats) -> None:
    """Write the square of a symmetric matrix times a scale to `out`."""
    for i in range(matrix.shape[0]):
        into = out[i]
        for j in range(matrix.shape[0]):
            into[j] = 0.0
        for k in range(matrix.shape[0]):
            weight, row = matrix[i, k] * scale * scale, matrix[k]
            for j in range(matrix.shape[0]):
                into[j] += weight * row[j]
