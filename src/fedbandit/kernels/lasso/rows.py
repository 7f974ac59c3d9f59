"""Many Lasso regressions side by side, one for each row (a client) and arm: choose, observe and refit."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from fedbandit.core.arrays import Floats, Ints
from fedbandit.kernels.lasso.path import refit
from fedbandit.kernels.lasso.sums import PENDING, Fit, observe
from fedbandit.kernels.linear.confidence import TIE
from fedbandit.kernels.linear.ridge import dot
from fedbandit.kernels.shared.compiled import compiled


class LassoRows(NamedTuple):
    """The regressions of a cohort, by row and arm; the fields are those of `Fit`."""

    gram: Floats
    pending: Floats
    waiting: Ints
    diagonal: Floats
    moment: Floats
    samples: Ints
    estimate: Floats
    support: Ints
    size: Ints
    factor: Floats


def empty_rows(rows: int, arms: int, dimension: int) -> LassoRows:
    """Return regressions on no data. The system gives memory to a matrix only as it is filled.

    >>> empty_rows(2, 3, 4).estimate.shape
    (2, 3, 4)
    """
    each = rows, arms
    return LassoRows(
        gram=np.zeros((*each, dimension, dimension)),
        pending=np.zeros((*each, PENDING, dimension)),
        waiting=np.zeros(each, dtype=np.int64),
        diagonal=np.zeros((*each, dimension)),
        moment=np.zeros((*each, dimension)),
        samples=np.zeros(each, dtype=np.int64),
        estimate=np.zeros((*each, dimension)),
        support=np.zeros((*each, dimension), dtype=np.int64),
        size=np.zeros(each, dtype=np.int64),
        factor=np.zeros((*each, dimension, dimension)),
    )


@compiled
def fit_of(rows: LassoRows, row: int, arm: int) -> Fit:
    """Return one regression, as views."""
    return Fit(
        rows.gram[row, arm],
        rows.pending[row, arm],
        rows.waiting[row, arm : arm + 1],
        rows.diagonal[row, arm],
        rows.moment[row, arm],
        rows.samples[row, arm : arm + 1],
        rows.estimate[row, arm],
        rows.support[row, arm],
        rows.size[row, arm : arm + 1],
        rows.factor[row, arm],
    )


@compiled
def observe_each(rows: LassoRows, row: Ints, arm: Ints, context: Floats, reward: Floats) -> None:
    """Add one observation to each of the named regressions."""
    for each in range(row.size):
        observe(fit_of(rows, row[each], arm[each]), context[each], reward[each])


@compiled
def refit_each(rows: LassoRows, row: Ints, arm: Ints, penalty: Floats, tolerance: float) -> None:
    """Bring each of the named regressions to the minimiser at its penalty."""
    for each in range(row.size):
        refit(fit_of(rows, row[each], arm[each]), penalty[each], tolerance)


@compiled
def screened_arm(context: Floats, screening: Floats, private: Floats, gap: float) -> int:
    """Return the arm that the private estimates like best among those the screening estimates let pass.

    The screen, within gap / 2 of the best, is exact; among the arms that pass, ties go to the lowest index.
    """
    arms = screening.shape[0]
    scores = np.empty(arms)
    for k in range(arms):
        scores[k] = dot(context, screening[k])
    enough = scores.max() - 0.5 * gap
    best = -np.inf
    for k in range(arms):
        if scores[k] >= enough:
            scores[k] = dot(context, private[k])
            best = max(best, scores[k])
        else:
            scores[k] = -np.inf
    enough = best - TIE * max(1.0, abs(best))
    for k in range(arms):
        if scores[k] >= enough:
            return k
    return 0


@compiled
def choose_each(context: Floats, row: Ints, told: Ints, screening: Floats, private: Floats, gap: float) -> Ints:
    """Return each client's arm: the one it is told to play, or where that is -1 the one it likes best."""
    choice = told.copy()
    for each in range(row.size):
        if told[each] < 0:
            choice[each] = screened_arm(context[each], screening[row[each]], private[row[each]], gap)
    return choice
