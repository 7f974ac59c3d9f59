"""Alternating minimisation between a global and a local estimate (Li and Wang 2022, equations 6 and 7).

With P the projection on the unit ball, the estimates of one new observation (x, y) are renewed in turn by

    theta_l = P (V_l + x_l x_l^T)^- (b_l + x_l (y - x_g^T theta_g))
    theta_g = P (V_g + x_g x_g^T)^- (b_g + x_g (y - x_l^T theta_l)).

Both inverses stay as they are while this goes on. With base = (V + x x^T)^- b and slope = (V + x x^T)^- x each estimate
is base + slope * residual, scaled into the ball; so the alternation runs on two residuals, and a few inner products
made once tell norms, predictions and movements.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from fedbandit.core.arrays import Floats
from fedbandit.kernels.linear.ridge import dot
from fedbandit.kernels.shared.compiled import compiled

STILL = 1e-10  # an alternation ends early when both estimates move less than this


class Line(NamedTuple):
    """The estimates base + slope * residual of one part, by the inner products that the alternation needs."""

    base_base: float
    base_slope: float
    slope_slope: float
    arm_base: float
    arm_slope: float


@compiled
def line(base: Floats, slope: Floats, arm: Floats) -> Line:
    """Return the inner products of a part."""
    return Line(dot(base, base), dot(base, slope), dot(slope, slope), dot(arm, base), dot(arm, slope))


@compiled
def shrinkage(part: Line, residual: float) -> float:
    """Return the factor, at most 1, that brings the estimate at a residual into the unit ball."""
    square = part.base_base + residual * (2.0 * part.base_slope + residual * part.slope_slope)
    return 1.0 / max(1.0, math.sqrt(max(0.0, square)))


@compiled
def length(part: Line, along_base: float, along_slope: float) -> float:
    """Return |along_base * base + along_slope * slope|."""
    square = along_base * along_base * part.base_base + along_slope * along_slope * part.slope_slope
    return math.sqrt(max(0.0, square + 2.0 * along_base * along_slope * part.base_slope))


@compiled
def renew(estimate: Floats, base: Floats, slope: Floats, residual: float, factor: float) -> float:
    """Write factor * (base + slope * residual) to `estimate`; return how far that moved it."""
    square = 0.0
    for i in range(estimate.size):
        value = factor * (base[i] + slope[i] * residual)
        square += (value - estimate[i]) * (value - estimate[i])
        estimate[i] = value
    return math.sqrt(square)


@compiled
def alternate(
    global_estimate: Floats, local_estimate: Floats, global_base: Floats, global_slope: Floats, local_base: Floats,
    local_slope: Floats, global_arm: Floats, local_arm: Floats, reward: float, alternations: int,
) -> None:  # fmt: skip
    """Renew both estimates in place for one new observation, the local one first (equation 7)."""
    shared, own = line(global_base, global_slope, global_arm), line(local_base, local_slope, local_arm)
    own_residual = reward - dot(global_arm, global_estimate)
    own_factor = shrinkage(own, own_residual)
    residual = reward - own_factor * (own.arm_base + own_residual * own.arm_slope)
    factor = shrinkage(shared, residual)
    own_moved = renew(local_estimate, local_base, local_slope, own_residual, own_factor)
    moved = renew(global_estimate, global_base, global_slope, residual, factor)
    for _ in range(alternations - 1):
        if own_moved < STILL and moved < STILL:
            break
        last_residual, last_factor, own_last_residual, own_last_factor = residual, factor, own_residual, own_factor
        own_residual = reward - factor * (shared.arm_base + residual * shared.arm_slope)
        own_factor = shrinkage(own, own_residual)
        residual = reward - own_factor * (own.arm_base + own_residual * own.arm_slope)
        factor = shrinkage(shared, residual)
        own_step = own_factor * own_residual - own_last_factor * own_last_residual
        own_moved = length(own, own_factor - own_last_factor, own_step)
        moved = length(shared, factor - last_factor, factor * residual - last_factor * last_residual)
    renew(local_estimate, local_base, local_slope, own_residual, own_factor)
    renew(global_estimate, global_base, global_slope, residual, factor)


@compiled
def alternate_over_data(
    global_estimate: Floats, local_estimate: Floats, global_inverse: Floats, local_inverse: Floats, cross: Floats,
    global_moment: Floats, local_moment: Floats, alternations: int,
) -> None:  # fmt: skip
    """Renew both estimates in place over all of a client's data at once (equation 6), from sums over the data alone.

    `cross` is X_g^T X_l. The moments are b_g + X_g^T y and X_l^T y; the inverses are of V_g + X_g^T X_g and X_l^T X_l.
    """
    for _ in range(alternations):
        own = into_ball(local_inverse @ (local_moment - cross.T @ global_estimate))
        shared = into_ball(global_inverse @ (global_moment - cross @ own))
        is_still = np.linalg.norm(own - local_estimate) < STILL and np.linalg.norm(shared - global_estimate) < STILL
        local_estimate[:] = own
        global_estimate[:] = shared
        if is_still:
            break


@compiled
def into_ball(estimate: Floats) -> Floats:
    """Return the projection on the unit ball.

    >>> into_ball(np.array([3.0, 4.0]))
    array([0.6, 0.8])
    """
    return estimate / max(1.0, math.sqrt(dot(estimate, estimate)))
