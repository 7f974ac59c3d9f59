"""Triangular factors of sums: what travels in place of a matrix where numbers are rounded."""

from __future__ import annotations

import math

import numpy as np

from fedbandit.core.arrays import Floats
from fedbandit.kernels.shared.compiled import compiled


@compiled
def trapezoid(gram: Floats, most: int, tolerance: float, upper: Floats) -> int:
    """Write R with R^T R = gram, all but, to the first rows of `upper`, which is zero; return how many there are.

    The largest pivots come first, so that little of what rounding left in the matrix gets into the rows. What is left
    when its trace is within `tolerance` of nothing, as a share of the whole, is left out, and so is all that does not
    fit into `most` rows. Reflections then make the rows a triangle.
    """
    size = gram.shape[0]
    rest = gram.copy()
    whole = 0.0
    for i in range(size):
        whole += max(0.0, gram[i, i])
    rows = 0
    while rows < min(most, size):
        left, pivot = 0.0, 0
        for i in range(size):
            left += max(0.0, rest[i, i])
            if rest[i, i] > rest[pivot, pivot]:
                pivot = i
        if left <= tolerance * whole:
            break
        scale = 1.0 / math.sqrt(rest[pivot, pivot])
        row = upper[rows]
        for j in range(size):
            row[j] = rest[pivot, j] * scale
        for i in range(size):
            weight = row[i]
            into = rest[i]
            for j in range(size):
                into[j] -= weight * row[j]
        for i in range(size):
            rest[pivot, i] = rest[i, pivot] = 0.0
        rows += 1
    _reflect(upper, rows)
    return rows


@compiled
def _reflect(upper: Floats, rows: int) -> None:
    """Turn rows G into a triangle R with R^T R = G^T G, by one reflection a column (Householder)."""
    size = upper.shape[1]
    normal, along = np.empty(rows), np.empty(size)
    for k in range(rows - 1):
        square = 0.0
        for i in range(k, rows):
            normal[i] = upper[i, k]
            square += normal[i] * normal[i]
        below = square - normal[k] * normal[k]
        if below <= 0.0:
            continue
        first = normal[k]
        normal[k] = first + math.copysign(math.sqrt(square), first)
        scale = 2.0 / (below + normal[k] * normal[k])
        along[k:] = 0.0
        for i in range(k, rows):
            for j in range(k, size):
                along[j] += normal[i] * upper[i, j]
        for i in range(k, rows):
            weight = scale * normal[i]
            for j in range(k, size):
                upper[i, j] -= weight * along[j]
        for i in range(k + 1, rows):
            upper[i, k] = 0.0


@compiled
def _multiply_out(upper: Floats, out: Floats) -> None:
    size = upper.shape[1]
    for k in range(upper.shape[0]):
        row = upper[k]
        for i in range(k, size):
            weight = row[i]
            if weight != 0.0:
                into = out[i]
                for j in range(k, size):
                    into[j] += weight * row[j]


def multiplied_out(factor: Floats) -> Floats:
    """Return R^T R for an upper triangular R, in double precision, with the same bits everywhere.

    >>> multiplied_out(np.array([[1.0, 2.0], [0.0, 3.0]]))
    array([[ 1.,  2.],
           [ 2., 13.]])
    """
    out = np.zeros((factor.shape[1], factor.shape[1]))
    _multiply_out(factor.astype(np.float64), out)
    return out
