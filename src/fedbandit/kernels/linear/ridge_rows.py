"""Many ridge regressions side by side, one row a client: what a client knows, chooses, observes and takes in.

A client gets its row when it first acts, so memory is proportional to the clients that have acted. A download is
noted as the slot of a shared snapshot and taken in when the client next acts, so a broadcast to a million
clients costs a million integers.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from fedbandit.core.arrays import Floats, Ints
from fedbandit.kernels.linear.confidence import (
    Width,
    add_optimistic_scores,
    first_best,
    perturbed_sample,
    thompson_sample,
    width,
)
from fedbandit.kernels.linear.ridge import add_observation_to_inverse, add_outer, invert, multiply
from fedbandit.kernels.linear.snapshots import Snapshots
from fedbandit.kernels.shared.compiled import compiled

UCB, THOMPSON, PERTURBED = 0, 1, 2
REFRESH = 1024  # after so many rank-one updates the inverse is computed afresh
DONE, FULL, FIRST, UPLOAD = 0, 1, 2, 3  # why `play` came back


class RidgeRows(NamedTuple):
    """What each client that has acted knows; the first axis is the row."""

    gram: Floats  # V_i: all it knows
    moment: Floats  # b_i
    new_gram: Floats  # dV_i: its own part not yet uploaded
    new_moment: Floats  # db_i
    inverse: Floats  # (V_i + ridge I)^-1
    estimate: Floats  # inverse @ moment
    log_det: Floats  # log det(V_i + ridge I)
    growth: Floats  # log(det(V_i + ridge I) / det(V_i - dV_i + ridge I))
    fresh: Ints  # observations not yet uploaded
    updates: Ints  # rank-one updates since the inverse was last computed afresh
    turns: Ints  # turns so far


class Rule(NamedTuple):
    """How rows choose and when they upload: the algorithm's parameters, as the kernels need them."""

    ridge: float
    width: Width
    exploration: int
    timed: bool  # weigh growth by the observations since the last upload (Sync-LinUCB)


def empty_rows(capacity: int, dimension: int) -> RidgeRows:
    """Return rows without content.

    >>> empty_rows(2, 3).gram.shape
    (2, 3, 3)
    """
    matrices = [np.zeros((capacity, dimension, dimension)) for _ in range(3)]
    vectors = [np.zeros((capacity, dimension)) for _ in range(3)]
    return RidgeRows(
        gram=matrices[0],
        moment=vectors[0],
        new_gram=matrices[1],
        new_moment=vectors[1],
        inverse=matrices[2],
        estimate=vectors[2],
        log_det=np.zeros(capacity),
        growth=np.zeros(capacity),
        fresh=np.zeros(capacity, dtype=np.int64),
        updates=np.zeros(capacity, dtype=np.int64),
        turns=np.zeros(capacity, dtype=np.int64),
    )


@compiled
def begin(rows: RidgeRows, row: int, ridge: float) -> None:
    """Prepare the row of a client that acts for the first time."""
    size = rows.gram.shape[1]
    for i in range(size):
        rows.inverse[row, i, i] = 1.0 / ridge
    rows.log_det[row] = size * math.log(ridge)


@compiled
def take_in(rows: RidgeRows, row: int, shared: Snapshots, slot: int, ridge: float, scratch: Floats) -> None:
    """Apply a download: V_i := V_g + dV_i, b_i := b_g + db_i.

    A client with nothing of its own to add takes the snapshot's inverse, which is computed once for all of them.
    """
    if not shared.ready[slot]:
        shared.log_det[slot] = invert(shared.gram[slot], ridge, shared.inverse[slot], scratch[0], scratch[1])
        shared.ready[slot] = True
    rows.gram[row] = shared.gram[slot]
    rows.moment[row] = shared.moment[slot]
    if rows.fresh[row] == 0:
        rows.inverse[row] = shared.inverse[slot]
        rows.log_det[row] = shared.log_det[slot]
        rows.growth[row] = 0.0
    else:
        rows.gram[row] += rows.new_gram[row]
        rows.moment[row] += rows.new_moment[row]
        rows.log_det[row] = invert(rows.gram[row], ridge, rows.inverse[row], scratch[0], scratch[1])
        rows.growth[row] = rows.log_det[row] - shared.log_det[slot]
    rows.updates[row] = 0
    multiply(rows.inverse[row], rows.moment[row], rows.estimate[row])


@compiled
def add_scores(
    rows: RidgeRows, row: int, arms: Floats, first: int, normals: Floats, rule: Rule, scores: Floats, product: Floats
) -> None:
    """Add to each arm's score what the client of a row expects of its coordinates from `first` on."""
    spread = width(rows.log_det[row], rule.width)
    inverse, estimate = rows.inverse[row], rows.estimate[row]
    if rule.exploration == THOMPSON:
        estimate, spread = thompson_sample(estimate, inverse, spread, normals), 0.0
    elif rule.exploration == PERTURBED:
        estimate, spread = perturbed_sample(rows.moment[row], rows.gram[row], inverse, spread, normals), 0.0
    add_optimistic_scores(arms, first, estimate, inverse, spread, scores, product)


@compiled
def choose(rows: RidgeRows, row: int, arms: Floats, normals: Floats, rule: Rule, scratch: Floats) -> int:
    """Return the arm that the client of a row prefers."""
    scores = scratch[0, 1, : arms.shape[0]]
    scores[:] = 0.0
    add_scores(rows, row, arms, 0, normals, rule, scores, scratch[0, 0])
    return first_best(scores)


@compiled
def observe(rows: RidgeRows, row: int, arm: Floats, reward: float, ridge: float, scratch: Floats) -> None:
    """Add one observation to what the client knows and to what it has yet to upload."""
    add_outer(rows.gram[row], arm)
    add_outer(rows.new_gram[row], arm)
    for i in range(arm.size):
        rows.moment[row, i] += reward * arm[i]
        rows.new_moment[row, i] += reward * arm[i]
    stretch = add_observation_to_inverse(rows.inverse[row], arm, scratch[0, 0, : arm.size])
    rows.growth[row] += stretch
    rows.log_det[row] += stretch
    rows.fresh[row] += 1
    rows.turns[row] += 1
    rows.updates[row] += 1
    if rows.updates[row] == REFRESH:
        rows.updates[row] = 0
        before = rows.log_det[row]
        rows.log_det[row] = invert(rows.gram[row], ridge, rows.inverse[row], scratch[0], scratch[1])
        rows.growth[row] += rows.log_det[row] - before
    multiply(rows.inverse[row], rows.moment[row], rows.estimate[row])


@compiled
def is_due(rows: RidgeRows, row: int, rule: Rule, threshold: float) -> bool:
    """Tell whether the client's own news are worth an upload."""
    weight = float(rows.fresh[row]) if rule.timed else 1.0
    return bool(weight * rows.growth[row] > threshold)


@compiled
def settle(
    client: int, row_of: Ints, used: Ints, slot_of: Ints, rows: RidgeRows, shared: Snapshots, rule: Rule,
    scratch: Floats,
) -> int:  # fmt: skip
    """Return the client's row, ready to act: begun if this is its first turn, its download taken in."""
    row = int(row_of[client])
    if row < 0:
        row = int(used[0])
        used[0] += 1
        row_of[client] = row
        begin(rows, row, rule.ridge)
    slot = slot_of[client]
    if slot >= 0:
        take_in(rows, row, shared, slot, rule.ridge, scratch)
        slot_of[client] = -1
        shared.users[slot] -= 1
    return row


@compiled
def scratch_for(arms: int, dimension: int) -> Floats:
    """Return working space for one call: two square matrices, each row long enough for the scores."""
    size = max(arms, dimension, 2)
    return np.empty((2, size, size))


@compiled
def take_turn(
    rows: RidgeRows, row: int, arm: Floats, reward: float, rule: Rule, threshold: float, scratch: Floats
) -> int:
    """Add a turn's observation; return UPLOAD if the client is due, FIRST at its first turn, else DONE."""
    observe(rows, row, arm, reward, rule.ridge, scratch)
    if is_due(rows, row, rule, threshold):
        return UPLOAD
    return FIRST if rows.turns[row] == 1 else DONE


@compiled
def flush_each(rows: RidgeRows, row_of: Ints, who: Ints) -> tuple[Floats, Floats, Ints]:
    """Empty the upload buffers of clients that have acted; return dV, db and the number of observations."""
    size = rows.moment.shape[1]
    gram, moment = np.empty((who.size, size, size)), np.empty((who.size, size))
    observations = np.empty(who.size, dtype=np.int64)
    for each in range(who.size):
        row = row_of[who[each]]
        gram[each] = rows.new_gram[row]
        moment[each] = rows.new_moment[row]
        observations[each] = rows.fresh[row]
        rows.new_gram[row] = 0.0
        rows.new_moment[row] = 0.0
        rows.growth[row] = 0.0
        rows.fresh[row] = 0
    return gram, moment, observations
