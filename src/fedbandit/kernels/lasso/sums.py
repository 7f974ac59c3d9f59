"""What a Lasso regression keeps of its data: sums that grow by one observation at a time, and what is read off them."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from fedbandit.core.arrays import Floats, Ints
from fedbandit.kernels.shared import cholesky
from fedbandit.kernels.shared.compiled import compiled

PENDING = 8  # dense contexts wait until they are so many: one pass over a large G then serves all of them


class Fit(NamedTuple):
    """One regression: its sums, its estimate, and the factor of the sums on the estimate's support."""

    gram: Floats  # (d, d) G, but for the contexts that are pending
    pending: Floats  # (PENDING, d)
    waiting: Ints  # (1,) how many are
    diagonal: Floats  # (d,) of all of G
    moment: Floats  # (d,) q
    samples: Ints  # (1,) n
    estimate: Floats  # (d,) b
    support: Ints  # (d,) the coordinates that are not zero, in the factor's order
    size: Ints  # (1,) how many they are
    factor: Floats  # (d, d) U with U^T U = G on the support


@compiled
def observe(fit: Fit, context: Floats, reward: float) -> None:
    """Add one observation to the sums and to the factor; zeros of a sparse context cost nothing.

    >>> from fedbandit.kernels.lasso.rows import empty_rows, fit_of
    >>> fit = fit_of(empty_rows(1, 1, 2), 0, 0)
    >>> observe(fit, np.array([1.0, 2.0]), 3.0)
    >>> fit.moment, fit.diagonal
    (array([3., 6.]), array([1., 4.]))
    """
    places = np.flatnonzero(context)
    for i in places:
        fit.moment[i] += reward * context[i]
        fit.diagonal[i] += context[i] * context[i]
    fit.samples[0] += 1
    size = fit.size[0]
    cholesky.add_observation(fit.factor, 0, size, context[fit.support[:size]])
    if 4 * places.size < context.size:
        for i in places:
            weight, row = context[i], fit.gram[i]
            for k in places:
                row[k] += weight * context[k]
        return
    fit.pending[fit.waiting[0]] = context
    fit.waiting[0] += 1
    if fit.waiting[0] == PENDING:
        fold(fit)


@compiled
def fold(fit: Fit) -> None:
    """Add the pending contexts, all PENDING of them, to G: row by row, four contexts at a time."""
    for i in range(fit.moment.size):
        row = fit.gram[i]
        for p in range(0, PENDING, 4):
            first, second, third, fourth = fit.pending[p], fit.pending[p + 1], fit.pending[p + 2], fit.pending[p + 3]
            one, two, three, four = first[i], second[i], third[i], fourth[i]
            for j in range(row.size):
                row[j] += (one * first[j] + two * second[j]) + (three * third[j] + four * fourth[j])
    fit.waiting[0] = 0


@compiled
def column_on_support(fit: Fit, feature: int, size: int) -> Floats:
    """Return G_Aj, one column of G on the first `size` coordinates of the support."""
    active = fit.support[:size]
    column: Floats = fit.gram[feature][active]
    for p in range(fit.waiting[0]):
        context = fit.pending[p]
        for i in range(size):
            column[i] += context[feature] * context[active[i]]
    return column


@compiled
def correlate(fit: Fit, correlation: Floats) -> None:
    """Write q - G b to `correlation`."""
    correlation[:] = fit.moment
    for i in range(fit.size[0]):
        active = fit.support[i]
        weight = fit.estimate[active]
        row = fit.gram[active]
        for j in range(correlation.size):
            correlation[j] -= weight * row[j]
    for p in range(fit.waiting[0]):
        context = fit.pending[p]
        guess = 0.0
        for i in range(fit.size[0]):
            guess += context[fit.support[i]] * fit.estimate[fit.support[i]]
        for j in range(correlation.size):
            correlation[j] -= guess * context[j]
