"""Clients that upload by the growth of their own data, whatever they have downloaded (Clustered-LinUCB).

Beside what a client knows stands O_i, the sum of x x^T over all its own observations, and its inverse. `growth` of its
row is then log(det(O_i + ridge I) / det(O_i - dV_i + ridge I)), and a download leaves it as it is.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from fedbandit.core.arrays import Floats, Ints
from fedbandit.kernels.linear.ridge import add_observation_to_inverse, add_outer, factorise, invert
from fedbandit.kernels.linear.ridge_rows import REFRESH, RidgeRows
from fedbandit.kernels.linear.ridge_rows import observe as observe_row
from fedbandit.kernels.linear.ridge_rows import take_in as take_in_row
from fedbandit.kernels.linear.rules import Rule
from fedbandit.kernels.linear.snapshots import Snapshots
from fedbandit.kernels.linear.turns import for_ridge
from fedbandit.kernels.shared.compiled import inlined_borrowing


class OwnRows(NamedTuple):
    """Each client's own data; the first axis is the row."""

    gram: Floats  # O_i
    inverse: Floats  # (O_i + ridge I)^-1


class KnownAndOwn(NamedTuple):
    """What scores use, all that clients know, and beside it what is their own."""

    gram: Floats
    moment: Floats
    inverse: Floats
    estimate: Floats
    log_det: Floats
    own_gram: Floats
    own_inverse: Floats


class KnownOwnAndLots(NamedTuple):
    """The same, and what lots depend on and where they are noted: see `gap_weighting.GapModel`."""

    gram: Floats
    moment: Floats
    inverse: Floats
    estimate: Floats
    log_det: Floats
    squares: Floats
    turns: Floats
    propensity: Floats
    expected: Floats
    made: Ints
    own_gram: Floats
    own_inverse: Floats


def empty_own_rows(capacity: int, dimension: int) -> OwnRows:
    """Return rows without content.

    >>> empty_own_rows(2, 3).inverse.shape
    (2, 3, 3)
    """
    return OwnRows(np.zeros((capacity, dimension, dimension)), np.zeros((capacity, dimension, dimension)))


@inlined_borrowing
def take_in(
    rows: RidgeRows, scored: KnownAndOwn, row: int, shared: Snapshots, slot: int, rule: Rule, scratch: Floats
) -> None:
    """Apply a download: V_i := G_i + dV_i. What is the client's own has not grown by it."""
    growth = rows.growth[row]
    take_in_row(rows, scored, row, shared, slot, rule, scratch)
    rows.growth[row] = growth


@inlined_borrowing
def observe(
    rows: RidgeRows,
    scored: KnownAndOwn | KnownOwnAndLots,
    row: int,
    arm: Floats,
    reward: float,
    rule: Rule,
    scratch: Floats,
) -> None:
    """Add one observation to what the client knows, to what it has yet to upload and to what is its own."""
    growth = rows.growth[row]
    observe_row(rows, scored, row, arm, reward, rule, scratch)
    own, inverse = scored.own_gram[row], scored.own_inverse[row]
    add_outer(own, arm)
    growth += add_observation_to_inverse(inverse, arm, scratch[0, 0, : arm.size])
    if rows.turns[row] % REFRESH == 0:  # rank-one updates have added up their rounding
        growth = invert(own, rule.ridge, inverse, scratch[0], scratch[1])
        for i in range(arm.size):
            for j in range(arm.size):
                scratch[1, i, j] = own[i, j] - rows.new_gram[row, i, j]
        growth -= factorise(scratch[1, : arm.size, : arm.size], rule.ridge, scratch[0])
    rows.growth[row] = growth


BY_OWN_GROWTH = for_ridge("own", take_in, observe)
