"""Projection onto a ball in the norm of a matrix: argmin |theta - point|_A over |theta| <= radius.

Outside the ball the minimiser lies on its surface and solves (A + nu I) theta = A point for the one multiplier
nu > 0 at which |theta(nu)| = radius (the secular equation). 1 / |theta(nu)| is concave and nearly straight, so that
Newton's method on it climbs to the root from nu = 0 in a few steps, each a factorisation of A + nu I (More and
Sorensen 1983): cheaper than the eigenvalues of A, and needed only when the point is outside.
"""

from __future__ import annotations

import math

from fedbandit.core.arrays import Floats
from fedbandit.kernels.linear.ridge import dot, factorise, multiply
from fedbandit.kernels.shared.compiled import compiled

_SMALL = 1e-7  # a last step this small against the least eigenvalue leaves an error of its square
_MOST_STEPS = 60


@compiled
def solve_lower(upper: Floats, vector: Floats) -> None:
    """Replace a vector by U^-T vector."""
    for k in range(vector.size):
        row = upper[k]
        vector[k] /= row[k]
        weight = vector[k]
        for i in range(k + 1, vector.size):
            vector[i] -= weight * row[i]


@compiled
def solve_upper(upper: Floats, vector: Floats) -> None:
    """Replace a vector by U^-1 vector."""
    for k in range(vector.size - 1, -1, -1):
        vector[k] = (vector[k] - dot(upper[k, k + 1 : vector.size], vector[k + 1 :])) / upper[k, k]


@compiled
def project_to_ball(gram: Floats, ridge: float, point: Floats, radius: float, scratch: Floats) -> float:
    """Replace a point by its projection in the norm of A = gram + ridge I, and return the multiplier nu.

    `scratch` has two rows more than the matrix, and at least as many columns.
    """
    size = point.size
    target, slope = scratch[size, :size], scratch[size + 1, :size]
    if dot(point, point) <= radius * radius:
        return 0.0
    multiply(gram, point, target)
    for i in range(size):
        target[i] += ridge * point[i]
    multiplier = 0.0
    for _ in range(_MOST_STEPS):
        factorise(gram, ridge + multiplier, scratch)
        point[:] = target
        solve_lower(scratch, point)
        solve_upper(scratch, point)
        length = math.sqrt(dot(point, point))
        slope[:] = point
        solve_lower(scratch, slope)
        step = length * length / dot(slope, slope) * (length / radius - 1.0)
        multiplier += step
        if step <= _SMALL * (ridge + multiplier):  # to first order, theta(nu + step) = theta - step (A + nu I)^-1 theta
            solve_upper(scratch, slope)
            for i in range(size):
                point[i] -= step * slope[i]
            break
    scale = radius / math.sqrt(dot(point, point))
    for i in range(size):
        point[i] *= scale
    return multiplier
