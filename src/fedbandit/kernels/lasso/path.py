"""Lasso regressions that follow their data: one observation in, a few exact steps, and the estimate is right again.

Definition 1.1 of Wang, Li and Lin 2023 has no 1/2 in the square:

    minimise |Y - X b|^2 / n + penalty |b|_1      or, the same,   |Y - X b|^2 / 2 + level |b|_1,  level = n penalty / 2

(scikit-learn's alpha is penalty / 2). With G = X^T X, q = X^T Y and the correlations c = q - G b, the estimate is the
minimiser iff c_j = level sign(b_j) on its support A and |c_j| <= level off it. A refit starts from the last estimate,
whose support and factor of G_AA it has kept up to date, and repeats until no coordinate-descent step would move any
coordinate by more than `tolerance`:

* balance: solve G_AA step = c_A - level sign(b_A), walk there, and let go of each coordinate that meets zero;
* enter: take in a coordinate with |c_j| > level, the largest first, the others following so that they stay in balance.

Both walk downhill and end after finitely many steps (the active-set method for this quadratic programme, as in the
feature-sign search of Lee et al. 2006). Coordinate descent would need thousands of sweeps where |A| comes near n.
"""

from __future__ import annotations

import numpy as np

from fedbandit.core.arrays import Bools, Floats
from fedbandit.kernels.lasso.sums import Fit, column_on_support, correlate
from fedbandit.kernels.shared import cholesky
from fedbandit.kernels.shared.compiled import compiled

REFINEMENTS = 4  # balancing this often in a row without success makes the factor be computed afresh


@compiled
def refit(fit: Fit, penalty: float, tolerance: float) -> int:
    """Bring the estimate to the minimiser at a penalty; return the number of steps that it took.

    >>> from fedbandit.kernels.lasso.rows import empty_rows, fit_of
    >>> from fedbandit.kernels.lasso.sums import observe
    >>> fit = fit_of(empty_rows(1, 1, 2), 0, 0)
    >>> observe(fit, np.array([1.0, 0.0]), 3.0)
    >>> int(refit(fit, 2.0, 1e-10)) > 0, fit.estimate
    (True, array([2., 0.]))
    """
    size = fit.moment.size
    level = 0.5 * fit.samples[0] * penalty
    correlation = np.empty(size)
    refused = np.zeros(size, dtype=np.bool_)
    attempts = 0
    most = 100 + 20 * size  # never met: it bounds the time where rounding alone is left to decide
    for step in range(most):
        correlate(fit, correlation)
        if is_balanced(fit, correlation, level, tolerance) or attempts > 2 * REFINEMENTS:
            attempts = 0
            if not admit(fit, correlation, level, tolerance, refused):
                return step
        else:
            attempts += 1
            if attempts == REFINEMENTS:
                rebuild(fit)
            balance(fit, correlation, level)
    return most


@compiled
def is_balanced(fit: Fit, correlation: Floats, level: float, tolerance: float) -> bool:
    """Tell whether no coordinate of the support is further than `tolerance` from its best value."""
    for i in range(fit.size[0]):
        active = fit.support[i]
        excess = correlation[active] - level * np.sign(fit.estimate[active])
        if abs(excess) > tolerance * fit.diagonal[active]:
            return False
    return True


@compiled
def admit(fit: Fit, correlation: Floats, level: float, tolerance: float, refused: Bools) -> bool:
    """Let in, one after the other, the coordinates that are correlated more than `level`; tell whether any moved.

    Each that enters changes the correlations of all. That of the next candidate alone is brought up to date, which
    is cheap; those of the others wait until the round is over. `correlation` is used up.
    """
    has_moved = False
    while True:
        newcomer = find_newcomer(fit, correlation, level, tolerance, refused)
        if newcomer < 0:
            return has_moved
        now = fit.moment[newcomer]
        column = column_on_support(fit, newcomer, fit.size[0])
        for i in range(fit.size[0]):
            now -= column[i] * fit.estimate[fit.support[i]]
        if abs(now) - level > tolerance * fit.diagonal[newcomer]:
            refused[newcomer] = not enter(fit, now, level, newcomer)
            has_moved = has_moved or not refused[newcomer]
        correlation[newcomer] = 0.0


@compiled
def find_newcomer(fit: Fit, correlation: Floats, level: float, tolerance: float, refused: Bools) -> int:
    """Return the coordinate off the support that is most correlated, if it would move at all, or -1."""
    found, most = -1, level
    for j in range(correlation.size):
        size = abs(correlation[j])
        if size > most and fit.estimate[j] == 0.0 and not refused[j] and size - level > tolerance * fit.diagonal[j]:
            found, most = j, size
    return found


@compiled
def balance(fit: Fit, correlation: Floats, level: float) -> None:
    """Bring the support into balance; coordinates that would change sign leave it at zero.

    After a walk of some share of the way the rest of the way is left, so nothing need be correlated again.
    """
    size = fit.size[0]
    excess = np.empty(size)
    for i in range(size):
        active = fit.support[i]
        excess[i] = correlation[active] - level * np.sign(fit.estimate[active])
    while size > 0:
        step = excess[:size].copy()
        cholesky.forward(fit.factor, size, step)
        cholesky.backward(fit.factor, size, step)
        share, leaver = walk(fit, step, 1.0)
        if leaver < 0:
            return
        remove(fit, leaver)
        size -= 1
        for i in range(leaver, size):
            excess[i] = excess[i + 1]
        for i in range(size):
            excess[i] *= 1.0 - share


@compiled
def enter(fit: Fit, correlation: float, level: float, newcomer: int) -> bool:
    """Take a coordinate in at the value that is best with the support following; tell whether it moved.

    A step of the newcomer moves the support by -w, G_AA w = G_Aj, and its own correlation by -pivot, which is zero
    where it depends on the support: then the fit stays the same while |b|_1 falls, until some coordinate is zero.
    """
    sign = np.sign(correlation)
    excess = abs(correlation) - level
    diagonal = fit.diagonal[newcomer]
    while True:
        size = fit.size[0]
        solved = column_on_support(fit, newcomer, size)
        cholesky.forward(fit.factor, size, solved)
        pivot = diagonal
        for i in range(size):
            pivot -= solved[i] * solved[i]
        direction = solved.copy()
        cholesky.backward(fit.factor, size, direction)
        for i in range(size):
            direction[i] *= -sign
        is_free = pivot > cholesky.NIL * diagonal
        length, leaver = walk(fit, direction, excess / pivot if is_free else np.inf)
        if leaver < 0 and not is_free:  # rounding alone saw an excess
            if fit.estimate[newcomer] == 0.0:
                return False
            length, pivot = 0.0, cholesky.NIL * diagonal
        fit.estimate[newcomer] += sign * length
        if leaver < 0:
            cholesky.append(fit.factor, size, solved, pivot)
            fit.support[size] = newcomer
            fit.size[0] = size + 1
            return True
        remove(fit, leaver)
        excess = max(0.0, excess - pivot * length)


@compiled
def walk(fit: Fit, direction: Floats, length: float) -> tuple[float, int]:
    """Move the support along a direction as far as `length`, or until a coordinate meets zero.

    Return how far it went, and the place in the support of the coordinate that is now zero, or -1.
    """
    leaver = -1
    for i in range(fit.size[0]):
        value, speed = fit.estimate[fit.support[i]], direction[i]
        if value == 0.0 or (value > 0.0) != (speed > 0.0):
            until = 0.0 if value == 0.0 else (-value / speed if speed != 0.0 else np.inf)
            if until <= length and until < np.inf:
                length, leaver = until, i
    if length == np.inf:
        return 0.0, -1
    for i in range(fit.size[0]):
        fit.estimate[fit.support[i]] += length * direction[i]
    if leaver >= 0:
        fit.estimate[fit.support[leaver]] = 0.0
    return length, leaver


@compiled
def remove(fit: Fit, place: int) -> None:
    """Take a coordinate out of the support."""
    size = fit.size[0]
    cholesky.drop(fit.factor, size, place)
    for i in range(place, size - 1):
        fit.support[i] = fit.support[i + 1]
    fit.size[0] = size - 1


@compiled
def rebuild(fit: Fit) -> None:
    """Compute the factor afresh from the sums; coordinates that depend on others before them start from zero."""
    wanted = fit.support[: fit.size[0]].copy()
    size = 0
    for active in wanted:
        solved = column_on_support(fit, active, size)
        cholesky.forward(fit.factor, size, solved)
        pivot = fit.diagonal[active]
        for i in range(size):
            pivot -= solved[i] * solved[i]
        if pivot > cholesky.NIL * fit.diagonal[active]:
            cholesky.append(fit.factor, size, solved, pivot)
            fit.support[size] = active
            size += 1
        else:
            fit.estimate[active] = 0.0
    fit.size[0] = size
