"""Ridge regression on small matrices: factorise, invert, and add one observation at a time.

Matrices are symmetric and row-major; every inner loop runs along a row and is not a reduction, so that it is
vectorised without changing the order of any sum.
"""

from __future__ import annotations

import math

from fedbandit.core.arrays import Floats
from fedbandit.kernels.shared.compiled import borrowing, inlined_borrowing


@borrowing
def dot(left: Floats, right: Floats) -> float:
    """Return the inner product, summed from the first coordinate to the last."""
    total = 0.0
    for i in range(left.size):
        total += left[i] * right[i]
    return total


@borrowing
def trace_of(matrix: Floats) -> float:
    """Return the sum of the diagonal."""
    total = 0.0
    for i in range(matrix.shape[0]):
        total += matrix[i, i]
    return total


@borrowing
def multiply(matrix: Floats, vector: Floats, out: Floats) -> None:
    """Write the product of a symmetric matrix and a vector to `out`."""
    for i in range(out.size):
        out[i] = 0.0
    for j in range(vector.size):
        weight = vector[j]
        row = matrix[j]
        for i in range(out.size):
            out[i] += row[i] * weight


@borrowing
def factorise(gram: Floats, ridge: float, upper: Floats, least: float = -math.inf) -> float:
    """Write U with U^T U = gram + ridge I to the upper triangle of `upper`; return the log-determinant.

    A pivot that is less than `least` counts as that. Without it, the log-determinant of what is not positive definite
    is not a number.
    """
    size = gram.shape[0]
    for i in range(size):
        for j in range(i, size):
            upper[i, j] = gram[i, j]
        upper[i, i] += ridge
    log_det = 0.0
    for k in range(size):
        pivot = upper[k]
        if pivot[k] < least:
            pivot[k] = least
        log_det += math.log(pivot[k])
        scale = 1.0 / math.sqrt(pivot[k])
        for j in range(k, size):
            pivot[j] *= scale
        for i in range(k + 1, size):
            weight = pivot[i]
            row = upper[i]
            for j in range(i, size):
                row[j] -= weight * pivot[j]
    return log_det


@borrowing
def invert(gram: Floats, ridge: float, inverse: Floats, upper: Floats, lower: Floats) -> float:
    """Write (gram + ridge I)^-1 to `inverse`; return the log-determinant. `upper` and `lower` are scratch.

    No pivot of a positive semi-definite gram matrix is below the ridge: where rounding has made one less than half of
    it, it counts as half.
    """
    log_det = factorise(gram, ridge, upper, 0.5 * ridge)
    invert_factor(upper, inverse, lower)
    return log_det


@inlined_borrowing
def invert_factor(upper: Floats, inverse: Floats, lower: Floats) -> None:
    """Write (U^T U)^-1 to `inverse`, where U is the upper triangle of `upper`; `lower` is scratch."""
    size = inverse.shape[0]
    for i in range(size):  # lower = U^-T, by forward substitution
        row = lower[i]
        for j in range(i):
            row[j] = 0.0
        row[i] = 1.0
        for k in range(i):
            weight = upper[k, i]
            above = lower[k]
            for j in range(k + 1):
                row[j] -= weight * above[j]
        scale = 1.0 / upper[i, i]
        for j in range(i + 1):
            row[j] *= scale
        for j in range(size):
            inverse[i, j] = 0.0
    for k in range(size):  # the inverse is lower^T lower
        row = lower[k]
        for i in range(k + 1):
            weight = row[i]
            into = inverse[i]
            for j in range(i + 1):
                into[j] += weight * row[j]
    for i in range(size):
        for j in range(i):
            inverse[j, i] = inverse[i, j]


@inlined_borrowing
def copy_matrix(source: Floats, into: Floats) -> None:
    """Copy a square matrix."""
    for i in range(source.shape[0]):
        for j in range(source.shape[0]):
            into[i, j] = source[i, j]


@borrowing
def add_outer(matrix: Floats, vector: Floats) -> None:
    """Add vector vector^T to a symmetric matrix."""
    for i in range(vector.size):
        weight = vector[i]
        row = matrix[i]
        for j in range(vector.size):
            row[j] += weight * vector[j]


@inlined_borrowing
def add_observation_to_inverse(inverse: Floats, vector: Floats, product: Floats) -> float:
    """Turn A^-1 into (A + x x^T)^-1; return log(det(A + x x^T) / det A). `product` is scratch.

    With u = A^-1 x: A^-1 - u u^T / (1 + x^T u). The root of the denominator goes into both factors, which keeps
    the matrix symmetric to the last bit.
    """
    multiply(inverse, vector, product)
    stretch = dot(vector, product)
    scale = 1.0 / math.sqrt(1.0 + stretch)
    for i in range(vector.size):
        product[i] *= scale
    for i in range(vector.size):
        weight = product[i]
        row = inverse[i]
        for j in range(vector.size):
            row[j] -= weight * product[j]
    return math.log1p(stretch)
