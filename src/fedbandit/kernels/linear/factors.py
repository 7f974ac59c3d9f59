"""Triangular factors of sums: what travels in place of a matrix where numbers are rounded."""

from __future__ import annotations

import math

import numpy as np

from fedbandit.core.arrays import Floats
from fedbandit.kernels.shared.compiled import compiled


@compiled
def trapezoid(gram: Floats, most: int, tolerance: float, upper: Floats) -> int:
    """Write R with R^T R = gram, up to what is left out, to the first rows of `upper`, which is zero; return how many.

    The largest pivots come first, so that little of what rounding left in the matrix gets into the rows. What is left
    when its trace is within `tolerance` of nothing, as a share of the whole, is left out, and so is all that does not
    fit into `most` rows. Reflections then make the rows a triangle.

    What rounding left of earlier uploads is in the matrix, too, and elimination would enlarge it, upload after upload:
    its negative directions, and where rows are few all of it. Then the rows are made of the directions in which the
    matrix is largest, which leave the rest as it is: found by one step of iteration, or as eigenvectors if that fails.
    """
    whole = 0.0
    for i in range(gram.shape[0]):
        whole += max(0.0, gram[i, i])
    rest, least = gram.copy(), tolerance * whole
    rows = _eliminate(rest, most, least, upper)
    if rows == most and _positive_trace(rest) > least:
        rest[:] = gram
        is_found = _turn_to_largest(rest, upper, rows)
    else:
        is_found = True
    if not is_found or _is_indefinite(rest, least):
        upper[:] = 0.0
        rows = _rows_of_eigenvectors(gram, most, least, upper)
    _reflect(upper, rows)
    return rows


@compiled
def _positive_trace(matrix: Floats) -> float:
    found = 0.0
    for i in range(matrix.shape[0]):
        found += max(0.0, matrix[i, i])
    return found


@compiled
def _turn_to_largest(rest: Floats, upper: Floats, rows: int) -> bool:
    """Turn rows to the directions in which a matrix is largest, and take from it what they then hold of it.

    The matrix times the rows, made orthonormal, is Q; the new rows are C^T Q with C C^T = Q rest Q^T. Return False if
    that is not positive, with nothing of use in either.
    """
    size = rest.shape[0]
    turned = np.zeros((rows, size))
    for k in range(rows):
        for i in range(size):
            weight = upper[k, i]
            for j in range(size):
                turned[k, j] += weight * rest[i, j]
        for _ in range(2):  # once more for what rounding leaves of the first time
            for before in range(k):
                along = 0.0
                for j in range(size):
                    along += turned[k, j] * turned[before, j]
                for j in range(size):
                    turned[k, j] -= along * turned[before, j]
        length = math.sqrt((turned[k] ** 2).sum())
        if length <= 0.0:
            return False
        turned[k] /= length
    image, core = np.zeros((rows, size)), np.zeros((rows, rows))
    for k in range(rows):
        for i in range(size):
            weight = turned[k, i]
            for j in range(size):
                image[k, j] += weight * rest[i, j]
        for before in range(k + 1):
            for j in range(size):
                core[k, before] += image[k, j] * turned[before, j]
    upper[:rows] = 0.0
    for k in range(rows):
        for before in range(k + 1):
            for i in range(before):
                core[k, before] -= core[k, i] * core[before, i]
            if before < k:
                core[k, before] /= core[before, before]
        if core[k, k] <= 0.0:
            return False
        core[k, k] = math.sqrt(core[k, k])
    for k in range(rows):
        for below in range(k, rows):
            upper[k] += core[below, k] * turned[below]
        for i in range(size):
            weight = upper[k, i]
            for j in range(size):
                rest[i, j] -= weight * upper[k, j]
    return True


@compiled
def _eliminate(rest: Floats, most: int, least: float, upper: Floats) -> int:
    """Move what is in a matrix to rows, the largest pivot first; return how many there are."""
    size, rows = rest.shape[0], 0
    while rows < min(most, size):
        left, pivot = 0.0, 0
        for i in range(size):
            left += max(0.0, rest[i, i])
            if rest[i, i] > rest[pivot, pivot]:
                pivot = i
        if left <= least:
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
    return rows


@compiled
def _is_indefinite(rest: Floats, tolerance: float) -> bool:
    """Tell whether an entry is larger than any matrix without negative directions can have it."""
    size = rest.shape[0]
    for i in range(size):
        for j in range(i + 1):
            room = math.sqrt(max(0.0, rest[i, i]) * max(0.0, rest[j, j]))
            if abs(rest[i, j]) > room + tolerance:
                return True
    return False


@compiled
def _rows_of_eigenvectors(gram: Floats, most: int, least: float, upper: Floats) -> int:
    """Write sqrt(eigenvalue) times eigenvector, the largest first, until `least` is left; return how many."""
    values, vectors = gram.copy(), np.eye(gram.shape[0])
    _diagonalise(values, vectors)
    rows = 0
    while rows < min(most, gram.shape[0]):
        largest = 0
        for i in range(gram.shape[0]):
            if values[i, i] > values[largest, largest]:
                largest = i
        if _positive_trace(values) <= least:
            break
        upper[rows] = math.sqrt(values[largest, largest]) * vectors[largest]
        values[largest, largest] = 0.0
        rows += 1
    return rows


@compiled
def _diagonalise(values: Floats, vectors: Floats) -> None:
    """Turn a symmetric matrix into its eigenvalues and the identity into rows of eigenvectors (Jacobi's rotations)."""
    size = values.shape[0]
    for _ in range(30):  # sweeps: far more than it takes
        off = 0.0
        for i in range(size):
            for j in range(i):
                off = max(off, abs(values[i, j]) - 1e-15 * math.sqrt(abs(values[i, i] * values[j, j])))
        if off <= 0.0:
            return
        for i in range(size):
            for j in range(i):
                if values[i, j] != 0.0:
                    _rotate(values, vectors, i, j)


@compiled
def _rotate(values: Floats, vectors: Floats, i: int, j: int) -> None:
    half = (values[j, j] - values[i, i]) / (2.0 * values[i, j])
    tangent = math.copysign(1.0, half) / (abs(half) + math.sqrt(half * half + 1.0))
    cosine = 1.0 / math.sqrt(tangent * tangent + 1.0)
    sine = tangent * cosine
    for k in range(values.shape[0]):
        one, other = values[i, k], values[j, k]
        values[i, k], values[j, k] = cosine * one - sine * other, sine * one + cosine * other
        one, other = vectors[i, k], vectors[j, k]
        vectors[i, k], vectors[j, k] = cosine * one - sine * other, sine * one + cosine * other
    for k in range(values.shape[0]):
        one, other = values[k, i], values[k, j]
        values[k, i], values[k, j] = cosine * one - sine * other, sine * one + cosine * other
    values[i, j] = values[j, i] = 0.0


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
def _multiply_out(uppers: Floats, out: Floats) -> None:
    size = uppers.shape[2]
    for each in range(uppers.shape[0]):
        for k in range(uppers.shape[1]):
            row = uppers[each, k]
            for i in range(k, size):
                weight = row[i]
                if weight != 0.0:
                    into = out[each, i]
                    for j in range(k, size):
                        into[j] += weight * row[j]


def multiplied_out(factor: Floats) -> Floats:
    """Return R^T R for an upper triangular R, or for each of several, in double precision, the same bits everywhere.

    >>> multiplied_out(np.array([[1.0, 2.0], [0.0, 3.0]]))
    array([[ 1.,  2.],
           [ 2., 13.]])
    """
    *many, rows, size = factor.shape
    out = np.zeros((*many, size, size))
    _multiply_out(factor.reshape(-1, rows, size).astype(np.float64), out.reshape(-1, size, size))
    return out
