"""Many ridge regressions side by side, one row a client: what a client knows, chooses, observes and takes in.

A client gets its row when it first acts, so memory is proportional to the clients that have acted. A download is
noted as the slot of a shared snapshot and taken in when the client next acts, so a broadcast to a million
clients costs a million integers.

What happens every turn is compiled. What happens when a client begins or uploads copies whole arrays, which NumPy does
as well.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from fedbandit.core.arrays import Floats, Ints
from fedbandit.core.former_names import regrouped
from fedbandit.kernels.linear.confidence import (
    Width,
    add_optimistic_scores,
    first_best,
    perturbed_sample,
    thompson_sample,
    width,
)
from fedbandit.kernels.linear.ridge import add_observation_to_inverse, add_outer, copy_matrix, invert, multiply
from fedbandit.kernels.linear.rules import PERTURBED, THOMPSON, UCB, Rule, ScoreRule
from fedbandit.kernels.linear.snapshots import Snapshots
from fedbandit.kernels.shared.compiled import inlined, inlined_borrowing

REFRESH = 1024  # after so many rank-one updates the inverse is computed afresh


@regrouped(lambda stored: {"telling": stored["fresh"].copy()})  # which 0.1.0 did not count apart
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
    telling: Ints  # of these, those of an arm that is not zero: `smallest_upload` counts them
    updates: Ints  # rank-one updates since the inverse was last computed afresh
    turns: Ints  # turns so far


class Model(NamedTuple):
    """The regressions that scores use, one row a client: those of `RidgeRows`, or others beside them."""

    gram: Floats
    moment: Floats
    inverse: Floats
    estimate: Floats
    log_det: Floats


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
        telling=np.zeros(capacity, dtype=np.int64),
        updates=np.zeros(capacity, dtype=np.int64),
        turns=np.zeros(capacity, dtype=np.int64),
    )


def empty_model(capacity: int, dimension: int) -> Model:
    """Return regressions without content.

    >>> empty_model(2, 3).estimate.shape
    (2, 3)
    """
    rows = empty_rows(capacity, dimension)
    return model_of(rows)


def model_of(rows: RidgeRows) -> Model:
    """Return all that clients know as what scores use."""
    return Model(rows.gram, rows.moment, rows.inverse, rows.estimate, rows.log_det)


def begin(rows: RidgeRows | Model, row: int, ridge: float) -> None:
    """Prepare the row of a client that acts for the first time."""
    size = rows.gram.shape[1]
    np.fill_diagonal(rows.inverse[row], 1.0 / ridge)
    rows.log_det[row] = size * math.log(ridge)


@inlined_borrowing
def take_in(
    rows: RidgeRows,
    scored: object,  # noqa: ARG001
    row: int,
    shared: Snapshots,
    slot: int,
    rule: Rule,
    scratch: Floats,
) -> None:
    """Apply a download: V_i := V_g + dV_i, b_i := b_g + db_i.

    A client with nothing of its own to add takes the snapshot's inverse, which is computed once for all of them.
    """
    ridge, gram, moment, inverse = rule.ridge, rows.gram[row], rows.moment[row], rows.inverse[row]
    if not shared.ready[slot]:
        shared.log_det[slot] = invert(shared.gram[slot], ridge, shared.inverse[slot], scratch[0], scratch[1])
        shared.ready[slot] = True
    for i in range(moment.size):
        moment[i] = shared.moment[slot, i] + rows.new_moment[row, i]
        for j in range(moment.size):
            gram[i, j] = shared.gram[slot, i, j] + rows.new_gram[row, i, j]
    if rows.fresh[row] == 0:
        copy_matrix(shared.inverse[slot], inverse)
        rows.log_det[row] = shared.log_det[slot]
        rows.growth[row] = 0.0
    else:
        rows.log_det[row] = invert(gram, ridge, inverse, scratch[0], scratch[1])
        rows.growth[row] = rows.log_det[row] - shared.log_det[slot]
    rows.updates[row] = 0
    multiply(inverse, moment, rows.estimate[row])


@inlined_borrowing
def take_in_apart(
    rows: RidgeRows, scored: Model, row: int, shared: Snapshots, slot: int, rule: Rule, scratch: Floats
) -> None:
    """Apply a download to what a client knows, and make what its scores use the download alone."""
    take_in(rows, scored, row, shared, slot, rule, scratch)
    for i in range(rows.moment.shape[1]):
        scored.moment[row, i] = shared.moment[slot, i]
    copy_matrix(shared.gram[slot], scored.gram[row])
    copy_matrix(shared.inverse[slot], scored.inverse[row])
    scored.log_det[row] = shared.log_det[slot]
    multiply(scored.inverse[row], scored.moment[row], scored.estimate[row])


@inlined_borrowing
def add_scores(
    model: Model | RidgeRows, row: int, arms: Floats, first: int, normals: Floats, shape: Width,  # noqa: ARG001
    scores: Floats, product: Floats,
) -> None:  # fmt: skip
    """Add to each arm's score what the client of a row hopes for from its coordinates from `first` on (optimism)."""
    spread = width(model.log_det[row], shape)
    add_optimistic_scores(arms, first, model.estimate[row], model.inverse[row], spread, scores, product)


@inlined
def add_thompson_scores(
    model: Model | RidgeRows, row: int, arms: Floats, first: int, normals: Floats, shape: Width, scores: Floats,
    product: Floats,
) -> None:  # fmt: skip
    """Add to each arm's score what a draw of the estimate expects."""
    inverse = model.inverse[row]
    sample = thompson_sample(model.estimate[row], inverse, width(model.log_det[row], shape), normals)
    add_optimistic_scores(arms, first, sample, inverse, 0.0, scores, product)


@inlined
def add_perturbed_scores(
    model: Model | RidgeRows, row: int, arms: Floats, first: int, normals: Floats, shape: Width, scores: Floats,
    product: Floats,
) -> None:  # fmt: skip
    """Add to each arm's score what an estimate from perturbed rewards expects."""
    inverse = model.inverse[row]
    spread = width(model.log_det[row], shape)
    sample = perturbed_sample(model.moment[row], model.gram[row], inverse, spread, normals)
    add_optimistic_scores(arms, first, sample, inverse, 0.0, scores, product)


ADD_SCORES = {UCB: add_scores, THOMPSON: add_thompson_scores, PERTURBED: add_perturbed_scores}


@inlined_borrowing
def choose(model: Model, row: int, arms: Floats, normals: Floats, rule: ScoreRule, scratch: Floats) -> int:
    """Return the arm that the client of a row prefers."""
    scores = scratch[0, 1, : arms.shape[0]]
    for k in range(scores.size):
        scores[k] = 0.0
    add_scores(model, row, arms, 0, normals, rule.width, scores, scratch[0, 0])
    return first_best(scores)


@inlined_borrowing
def observe(
    rows: RidgeRows,
    scored: object,  # noqa: ARG001
    row: int,
    arm: Floats,
    reward: float,
    rule: Rule,
    scratch: Floats,
) -> None:
    """Add one observation to what the client knows and to what it has yet to upload, whatever scores use."""
    inverse, moment, new_moment = rows.inverse[row], rows.moment[row], rows.new_moment[row]
    add_outer(rows.gram[row], arm)
    add_outer(rows.new_gram[row], arm)
    for i in range(arm.size):
        moment[i] += reward * arm[i]
        new_moment[i] += reward * arm[i]
    stretch = add_observation_to_inverse(inverse, arm, scratch[0, 0, : arm.size])
    rows.growth[row] += stretch
    rows.log_det[row] += stretch
    rows.fresh[row] += 1
    rows.telling[row] += stretch > 0.0  # a zero arm stretches nothing
    rows.turns[row] += 1
    rows.updates[row] += 1
    if rows.updates[row] == REFRESH:
        rows.updates[row] = 0
        before = rows.log_det[row]
        rows.log_det[row] = invert(rows.gram[row], rule.ridge, inverse, scratch[0], scratch[1])
        rows.growth[row] += rows.log_det[row] - before
    multiply(inverse, moment, rows.estimate[row])


def scratch_for(arms: int, dimension: int) -> Floats:
    """Return working space for one call: two square matrices, each row long enough for the scores."""
    size = max(arms, dimension, 2)
    return np.empty((2, size, size))


def flush(rows: RidgeRows, row: Ints) -> tuple[Floats, Floats, Ints]:
    """Empty the upload buffers of some rows; return dV, db and the number of observations."""
    place = slice(int(row[0]), int(row[0]) + 1) if row.size == 1 else row  # one row, the usual case, is quicker so
    news = rows.new_gram[place].copy(), rows.new_moment[place].copy(), rows.fresh[place].copy()
    for each in (rows.new_gram, rows.new_moment, rows.growth, rows.fresh, rows.telling):
        each[place] = 0
    return news
