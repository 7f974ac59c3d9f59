"""Generalised inverses of Gram matrices that grow by one observation at a time; eigenvalues up to CUT count as zero.

An eigenvalue decomposition a turn would do. It is needed only where an eigenvalue is near the cut: elsewhere adding
x x^T to A changes the inverse by a formula of rank one or two (Meyer 1973). With k = A^- x and h the part of x outside
the range of A,

    h = 0:    (A + x x^T)^- = A^- - k k^T / (1 + x^T k)
    h != 0:   (A + x x^T)^- = A^- - k u^T - u k^T + (1 + x^T k) u u^T,   u = h / |h|^2.

The trace of the inverse bounds the inverse of the smallest eigenvalue that counts: while it is below CALM_TRACE no
eigenvalue that counts is anywhere near the cut.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from fedbandit.core.arrays import Floats, Ints
from fedbandit.kernels.linear.ridge import add_observation_to_inverse, add_outer, dot, invert, multiply, trace_of
from fedbandit.kernels.shared.compiled import compiled

CUT = 1e-8  # eigenvalues up to this count as zero
CALM_TRACE = 1e6  # with a smaller trace of the inverse, the eigenvalues that count are above 1e-6
UNCLEAR = 1e-10  # an eigenvalue between this and the cut may yet pass it
NOTHING = 1e-16  # a squared length this small is rounding
REFRESH = 256  # after so many updates the inverse is computed afresh
STALE, DEFICIENT, FULL = 0, 1, 2  # compute afresh; may be updated, some directions left out; may be updated


class GeneralisedInverses(NamedTuple):
    """One generalised inverse a row, and what is needed to update it."""

    inverse: Floats
    outside: Floats  # the projector on the directions left out, where there are any
    state: Ints  # STALE, DEFICIENT or FULL
    updates: Ints  # since the inverse was last computed afresh


def empty_inverses(capacity: int, dimension: int) -> GeneralisedInverses:
    """Return rows without content, all of them stale.

    >>> empty_inverses(2, 3).inverse.shape
    (2, 3, 3)
    """
    return GeneralisedInverses(
        np.zeros((capacity, dimension, dimension)),
        np.zeros((capacity, dimension, dimension)),
        np.zeros(capacity, dtype=np.int64),
        np.zeros(capacity, dtype=np.int64),
    )


@compiled
def has_full_rank(gram: Floats) -> bool:
    """Tell whether every eigenvalue is above the cut.

    >>> has_full_rank(np.eye(2)), has_full_rank(np.ones((2, 2)))
    (True, False)
    """
    return bool(np.linalg.eigvalsh(gram)[0] > CUT)


@compiled
def compute(gram: Floats, inverse: Floats, outside: Floats, scratch: Floats) -> int:
    """Write the generalised inverse and the projector on what it leaves out; return how it may be updated.

    `scratch` holds two square matrices at least as large.
    """
    invert(gram, 0.0, inverse, scratch[0], scratch[1])
    if trace_of(inverse) < CALM_TRACE:  # false where a pivot was zero or negative: then it is not a number
        return FULL
    values, vectors = np.linalg.eigh(gram)
    inverse[:] = 0.0
    outside[:] = 0.0
    for place in range(values.size):
        value = values[place]
        into, scale = (inverse, 1.0 / value) if value > CUT else (outside, 1.0)
        for i in range(values.size):
            weight = scale * vectors[i, place]
            row = into[i]
            for j in range(values.size):
                row[j] += weight * vectors[j, place]
    is_calm = trace_of(inverse) < CALM_TRACE
    for value in values:
        is_calm = is_calm and not UNCLEAR < value <= CUT
    return DEFICIENT if is_calm else STALE


@compiled
def add_observation(rows: GeneralisedInverses, row: int, gram: Floats, vector: Floats, scratch: Floats) -> None:
    """Make the row the generalised inverse of gram + x x^T; unless stale, it was that of gram."""
    inverse, state = rows.inverse[row], rows.state[row]
    rows.updates[row] += 1
    if state != STALE and rows.updates[row] < REFRESH:
        if state == FULL:
            add_observation_to_inverse(inverse, vector, scratch[0, 0, : vector.size])
            return
        if widen(inverse, rows.outside[row], vector, scratch[0]):
            if trace_of(rows.outside[row]) < 0.5:  # the trace of a projector is the number of its directions
                rows.state[row] = FULL
            return
    grown = gram.copy()
    add_outer(grown, vector)
    rows.state[row] = compute(grown, inverse, rows.outside[row], scratch)
    rows.updates[row] = 0


@compiled
def widen(inverse: Floats, outside: Floats, vector: Floats, scratch: Floats) -> bool:
    """Update a deficient inverse by one observation; return False, and change nothing, where it would not be calm."""
    size = vector.size
    inner, outer = scratch[0, :size], scratch[1, :size]
    multiply(outside, vector, outer)
    square = dot(outer, outer)
    if square <= NOTHING:
        add_observation_to_inverse(inverse, vector, inner)
        return True
    multiply(inverse, vector, inner)
    stretch = 1.0 + dot(vector, inner)
    if trace_of(inverse) + stretch / square >= CALM_TRACE:
        return False
    for i in range(size):
        for j in range(size):
            change = stretch * outer[i] * outer[j] / square - inner[i] * outer[j] - outer[i] * inner[j]
            inverse[i, j] += change / square
            outside[i, j] -= outer[i] * outer[j] / square
    return True
