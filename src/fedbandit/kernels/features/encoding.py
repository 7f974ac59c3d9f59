"""From coded values to feature vectors: blocks, crosses, and the length.

A coded value is a number as it is, the place of a level among those of its category (their count: an unknown level), or
where the block of a text begins in a table; NaN: it is missing. Each feature has its coordinates in one long vector
z, which begins with the constant 1. A vector's coordinate is a sum of terms +- z_i z_j, so a block that stands by
itself is a product with the constant, and a cross is one of any two features.
"""

from __future__ import annotations

import math
from typing import NamedTuple

from fedbandit.core.arrays import Floats, Ints
from fedbandit.kernels.features.logarithm import logarithm
from fedbandit.kernels.shared.at_once import AtOnce
from fedbandit.kernels.shared.compiled import compiled

NUMBER, BINS, CATEGORY, TEXT = 0, 1, 2, 3  # what a feature is
REFUSE, ZERO, MARK = 0, 1, 2  # what a missing number or an unknown level becomes; MARK: a coordinate of its own
CLIPPED, UNKNOWN, MISSING = 0, 1, 2  # what is counted


class Plan(NamedTuple):
    """How vectors of one declaration are made."""

    context: Ints  # (features, 6): kind, place in z, width, first of its numbers, how many, what else becomes
    arm: Ints  # likewise; coded values stand in this order
    numbers: Floats  # of a number: low, high, both on its scale, whether that is the logarithm; of bins: edges
    terms: Ints  # (terms, 3): coordinate, place in z, other place in z
    factors: Floats  # (terms,): sign, and the weight of the block
    hashed: Ints  # (blocks, 2): first coordinate of a hashed cross, and the one after its last
    longest: Floats  # (blocks,): its weight, beyond which it is cut
    folded: Ints  # (coordinates, 2): place and sign in the vector of `hash_to`; empty without


@compiled
def _spread(
    features: Ints, i: int, numbers: Floats, table: Floats, value: float, z: Floats, counts: Ints, count: int
) -> bool:
    """Write the coordinates of one value of feature i; return False if it is to be refused.

    Arrays are handed on whole, with a place in them: slices would cost more than the work.
    """
    kind, start, width = features[i, 0], features[i, 1], features[i, 2]
    first, many, otherwise = features[i, 3], features[i, 4], features[i, 5]
    for i in range(start, start + width):
        z[i] = 0.0
    if math.isnan(value):
        counts[count, MISSING] += 1
        if otherwise == MARK:
            z[start + width - 1] = 1.0
        return bool(otherwise != REFUSE)
    if kind == TEXT:
        begin = int(value)
        for i in range(width):
            z[start + i] = table[begin + i]
    elif kind == CATEGORY:
        level = int(value)
        if level < many:
            z[start + level] = 1.0
        else:
            counts[count, UNKNOWN] += 1
            if otherwise == MARK:
                z[start + many] = 1.0
            return bool(otherwise != REFUSE)
    elif math.isinf(value):
        return False
    elif kind == BINS:
        place = 0
        while place < many and numbers[first + place] <= value:
            place += 1
        z[start + place] = 1.0
    else:
        low, high = numbers[first], numbers[first + 1]
        if value < low or value > high:
            counts[count, CLIPPED] += 1
            value = min(max(value, low), high)
        if numbers[first + 4] != 0.0:
            value = logarithm(value)
        low, high = numbers[first + 2], numbers[first + 3]
        z[start] = (2.0 * value - low - high) / (high - low)
    return True


@compiled
def _combine(terms: Ints, factors: Floats, hashed: Ints, longest: Floats, z: Floats, is_unit: bool, x: Floats) -> None:
    """Write the vector of what stands in z."""
    for i in range(x.size):
        x[i] = 0.0
    for i in range(factors.size):
        left = z[terms[i, 1]]
        if left != 0.0:
            x[terms[i, 0]] += factors[i] * (left * z[terms[i, 2]])
    for block in range(hashed.shape[0]):
        first, last, most = hashed[block, 0], hashed[block, 1], longest[block]
        length = _length(x, first, last)
        if length > most:
            for i in range(first, last):
                x[i] *= most / length
    if is_unit:
        length = _length(x, 0, x.size)
        if length > 0.0:
            for i in range(x.size):
                x[i] /= length


@compiled
def _fold(folded: Ints, x: Floats, out: Floats) -> None:
    """Hash a whole vector into fewer coordinates."""
    for i in range(out.size):
        out[i] = 0.0
    for i in range(x.size):
        out[folded[i, 0]] += folded[i, 1] * x[i]
    length = _length(out, 0, out.size)
    if length > 1.0:
        for i in range(out.size):
            out[i] /= length


@compiled
def _length(x: Floats, first: int, last: int) -> float:
    total = 0.0
    for i in range(first, last):
        total += x[i] * x[i]
    return math.sqrt(total)


@compiled
def encode_turns(
    plan: Plan,
    is_unit: bool,
    table: Floats,
    contexts: Floats,
    arms: Floats,
    offered: Ints,
    scratch: Floats,
    out: Floats,
    counts: Ints,
) -> tuple[int, int, int]:
    """Write the vectors of the arms offered at each turn; return what is refused first.

    `offered` (T, K) has rows of `arms`, -1 for a copy of the turn's first; `out` is (T, K, d). `scratch` has room for
    z, and for a vector before it is folded. What is refused is told as turn, place of the arm (-1: the context) and
    feature; (-1, -1, -1) if nothing is.
    """
    context, arm, numbers, folded = plan.context, plan.arm, plan.numbers, plan.folded
    terms, factors, hashed, longest = plan.terms, plan.factors, plan.hashed, plan.longest
    many = context.shape[0]
    z = scratch[: scratch.size - folded.shape[0]]
    x = scratch[z.size :]
    z[0] = 1.0
    for i in range(counts.shape[0]):
        for j in range(counts.shape[1]):
            counts[i, j] = 0
    for turn in range(offered.shape[0]):
        for i in range(many):
            if not _spread(context, i, numbers, table, contexts[turn, i], z, counts, i):
                return turn, -1, i
        for place in range(offered.shape[1]):
            row = offered[turn, place]
            if row < 0:
                for i in range(out.shape[2]):
                    out[turn, place, i] = out[turn, 0, i]
                continue
            for i in range(arm.shape[0]):
                if not _spread(arm, i, numbers, table, arms[row, i], z, counts, many + i):
                    return turn, place, i
            if folded.shape[0] == 0:
                _combine(terms, factors, hashed, longest, z, is_unit, out[turn, place])
            else:
                _combine(terms, factors, hashed, longest, z, is_unit, x)
                _fold(folded, x, out[turn, place])
    return -1, -1, -1


encode_at_once = AtOnce(encode_turns, lambda *call: call[5].size * (10 * len(call[0].terms) + 40 * len(call[0].arm)))
