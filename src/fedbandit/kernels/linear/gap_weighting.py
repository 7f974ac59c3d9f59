"""Inverse gap weighting: the better an arm is expected to be, the likelier it is chosen, and each chance is known.

Foster and Rakhlin 2020 (SquareCB). With s_k = x_k^T theta, best by the tie rule and gap_k = max(0, s_best - s_k)

    p_k = 1 / (K + greed gap_k) for every other arm, and the rest to the best.

Greed `auto` needs neither the number of others' data nor a horizon. r is what the rewards vary by: `noise`, or more if
the client's own rewards were farther off than that, r = max(noise, sqrt((noise^2 + E) / (1 + n))), with E the sum of
squared errors of its n predictions. An arm is plausible if gap_k <= alpha' |x_k - x_best|_{A^-1}, where alpha' is the
confidence width with r in place of `noise`. Among the n plausible arms, with q their mean x^T A^-1 x,

    greed = 30 sqrt(n / (r^2 q)),   p_k = 1 / (n + greed gap_k),

and others have no chance: with the bound's probability they are worse than the best. More plausible or less known
arms lower the greed by themselves.
"""

from __future__ import annotations

import math
from typing import NamedTuple

from fedbandit.core.arrays import Floats, Ints
from fedbandit.kernels.linear.confidence import TIE, first_best, width
from fedbandit.kernels.linear.ridge import dot, multiply
from fedbandit.kernels.linear.ridge_rows import RidgeRows, observe
from fedbandit.kernels.linear.rules import GapRule
from fedbandit.kernels.shared.compiled import compiled, inlined
from fedbandit.kernels.shared.lot import arm_by_lot, lot_of

GREED = 30.0  # in units of the deviation of what is expected
QUIET = 1e-12  # rewards that vary less are taken to vary by this


class Errors(NamedTuple):
    """How far off each client's predictions of its own rewards were; the first axis is the row."""

    squares: Floats  # E_i: the sum of squares
    turns: Floats  # n_i: how many there were


class GapModel(NamedTuple):
    """What scores use, one row a client, as in `ridge_rows.Model`; the errors; and what the lots were drawn with."""

    gram: Floats
    moment: Floats
    inverse: Floats
    estimate: Floats
    log_det: Floats
    squares: Floats
    turns: Floats
    propensity: Floats  # of each choice, in the order in which they are made
    expected: Floats  # its reward
    made: Ints  # (1,) how many choices have been made


@compiled
def noise_of(squares: float, turns: float, noise: float) -> float:
    """Return what a client's rewards vary by: the noise that it was told, or more if its own errors say so."""
    return max(noise, math.sqrt((noise * noise + squares) / (1.0 + turns)))


@compiled
def gap_chances(arms: Floats, estimate: Floats, greed: float, scratch: Floats) -> None:
    """Write how likely each arm is, with a given greed, to the first row of `scratch`."""
    count = arms.shape[0]
    chances = scratch[0, 0, :count]
    for k in range(count):
        chances[k] = dot(arms[k], estimate)
    best = first_best(chances)
    top = chances[best]
    taken = 0.0
    for k in range(count):
        if k != best:
            chances[k] = 1.0 / (count + greed * max(0.0, top - chances[k]))
            taken += chances[k]
    chances[best] = 1.0 - taken


@compiled
def plausible_chances(
    arms: Floats, estimate: Floats, inverse: Floats, spread: float, deviation: float, scratch: Floats
) -> None:
    """Write how likely each arm is, with greed `auto`, to the first row of `scratch`.

    `spread` is alpha', `deviation` is r. An arm that is not plausible has chance 0.
    """
    count, size = arms.shape
    chances, variances, products = scratch[0, 0, :count], scratch[0, 1, :count], scratch[1]
    for k in range(count):
        chances[k] = dot(arms[k], estimate)
        multiply(inverse, arms[k], products[k, :size])
        variances[k] = dot(arms[k], products[k, :size])
    best = first_best(chances)
    top = chances[best]
    slack = TIE * max(1.0, abs(top))
    plausible = 0
    variance = 0.0
    for k in range(count):
        gap = max(0.0, top - chances[k])
        distance = 0.0
        for i in range(size):
            distance += (arms[k, i] - arms[best, i]) * (products[k, i] - products[best, i])
        if k == best or gap <= spread * math.sqrt(max(0.0, distance)) + slack:
            plausible += 1
            variance += variances[k]
            chances[k] = gap
        else:
            chances[k] = -1.0
    variance /= plausible
    greed = GREED * math.sqrt(plausible / (max(deviation, QUIET) ** 2 * variance)) if variance > 0.0 else 0.0
    taken = 0.0
    for k in range(count):
        if k != best:
            chances[k] = 1.0 / (plausible + greed * chances[k]) if chances[k] >= 0.0 else 0.0
            taken += chances[k]
    chances[best] = 1.0 - taken


@compiled
def weigh_gaps(
    arms: Floats, estimate: Floats, inverse: Floats, log_det: float, squares: float, turns: float, rule: GapRule,
    scratch: Floats,
) -> None:  # fmt: skip
    """Write how likely each arm is to the first row of `scratch`."""
    if rule.greed >= 0.0:
        gap_chances(arms, estimate, rule.greed, scratch)
    else:
        deviation = noise_of(squares, turns, rule.noise)
        quiet = width(log_det, rule.quiet_width)
        spread = quiet + deviation * (width(log_det, rule.unit_width) - quiet)
        plausible_chances(arms, estimate, inverse, spread, deviation, scratch)


@inlined
def choose_by_gap(model: GapModel, row: int, arms: Floats, normals: Floats, rule: GapRule, scratch: Floats) -> int:
    """Return the arm that the lot of the client of a row falls on, and note how likely it was."""
    weigh_gaps(
        arms, model.estimate[row], model.inverse[row], model.log_det[row], model.squares[row], model.turns[row], rule,
        scratch,
    )  # fmt: skip
    chances = scratch[0, 0, : arms.shape[0]]
    arm = arm_by_lot(chances, lot_of(normals[0]))
    model.propensity[model.made[0]] = chances[arm]
    model.expected[model.made[0]] = dot(arms[arm], model.estimate[row])
    model.made[0] += 1
    return arm


@inlined
def observe_error(
    rows: RidgeRows, scored: GapModel, row: int, arm: Floats, reward: float, rule: GapRule, scratch: Floats
) -> None:
    """Note how far off the prediction was, then add the observation."""
    error = reward - dot(arm, scored.estimate[row])
    scored.squares[row] += error * error
    scored.turns[row] += 1.0
    observe(rows, scored, row, arm, reward, rule, scratch)
