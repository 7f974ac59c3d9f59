"""The Cholesky factor of a symmetric matrix that grows, shrinks and changes by one observation at a time.

U with U^T U = G lies in the upper triangle of the leading `size` rows and columns of a square array; what lies
elsewhere in the array is never read. Every operation costs O(size^2).
"""

from __future__ import annotations

import math

import numpy as np

from fedbandit.core.arrays import Floats
from fedbandit.kernels.shared.compiled import borrowing, compiled

NIL = 1e-12  # a pivot below this share of the diagonal counts as zero: the column depends on the others


@borrowing
def forward(upper: Floats, size: int, vector: Floats) -> None:
    """Solve U^T z = vector, in place."""
    for i in range(size):
        row = upper[i]
        value = vector[i] / row[i]
        vector[i] = value
        if value != 0.0:
            for j in range(i + 1, size):
                vector[j] -= value * row[j]


@borrowing
def backward(upper: Floats, size: int, vector: Floats) -> None:
    """Solve U x = vector, in place."""
    for i in range(size - 1, -1, -1):
        row = upper[i]
        vector[i] = (vector[i] - _dot(row[i + 1 : size], vector[i + 1 : size])) / row[i]


@borrowing
def _dot(left: Floats, right: Floats) -> float:
    """Return the inner product in four interleaved sums: a fixed order that leaves no chain of waiting adders."""
    first = second = third = fourth = 0.0
    whole = left.size - left.size % 4
    for i in range(0, whole, 4):
        first += left[i] * right[i]
        second += left[i + 1] * right[i + 1]
        third += left[i + 2] * right[i + 2]
        fourth += left[i + 3] * right[i + 3]
    for i in range(whole, left.size):
        first += left[i] * right[i]
    return (first + second) + (third + fourth)


@compiled
def append(upper: Floats, size: int, solved: Floats, pivot: float) -> None:
    """Add a row and a column to G: `solved` is U^-T of the new column, `pivot` what it leaves of the diagonal."""
    for i in range(size):
        upper[i, size] = solved[i]
    upper[size, size] = math.sqrt(pivot)


@compiled
def add_observation(upper: Floats, first: int, size: int, vector: Floats) -> None:
    """Turn the factor of G into that of G + v v^T, from row `first` on; `vector` is v and is used up."""
    for i in range(first, size):
        pushed = vector[i]
        if pushed == 0.0:
            continue
        row = upper[i]
        radius = math.hypot(row[i], pushed)
        cosine, sine = row[i] / radius, pushed / radius
        row[i] = radius
        for j in range(i + 1, size):
            kept = row[j]
            row[j] = cosine * kept + sine * vector[j]
            vector[j] = cosine * vector[j] - sine * kept


@compiled
def drop(upper: Floats, size: int, place: int) -> None:
    """Take a row and a column out of G. The factor's lost row comes back as an observation of those below it."""
    lost = np.empty(size)
    for j in range(place, size - 1):
        lost[j] = upper[place, j + 1]
    for i in range(place):
        for j in range(place, size - 1):
            upper[i, j] = upper[i, j + 1]
    for i in range(place, size - 1):
        for j in range(i, size - 1):
            upper[i, j] = upper[i + 1, j + 1]
    add_observation(upper, place, size - 1, lost)
