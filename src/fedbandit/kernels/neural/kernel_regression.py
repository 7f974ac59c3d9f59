"""Kernel ridge regression that grows by one observation at a time: the factor L of K + ridge I, row by row.

With k = (k(x, x_1), ..., k(x, x_n)) and z = L^-1 k, the prediction is z . a with a = L^-1 y, and the variance is
k(x, x) - z . z. An observation adds the row (z, sqrt(k(x, x) + ridge - z . z)) to L: nothing is ever inverted. The
rows of L lie one after the other without gaps.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from fedbandit.core.arrays import Floats, Ints
from fedbandit.kernels.linear.confidence import first_best
from fedbandit.kernels.shared.compiled import compiled


class KernelRows(NamedTuple):
    """What each client has observed; the first axis is the client."""

    past: Floats  # (clients, capacity, d)
    whitened: Floats  # (clients, capacity): a
    factor: Floats  # (clients, capacity (capacity + 1) / 2): L, packed
    observed: Ints  # (clients,)


def empty_rows(clients: int, capacity: int, dimension: int) -> KernelRows:
    """Return clients that have observed nothing.

    >>> empty_rows(clients=2, capacity=4, dimension=3).factor.shape
    (2, 10)
    """
    return KernelRows(
        np.zeros((clients, capacity, dimension)),
        np.zeros((clients, capacity)),
        np.zeros((clients, capacity * (capacity + 1) // 2)),
        np.zeros(clients, dtype=np.int64),
    )


def grown(rows: KernelRows) -> KernelRows:
    """Return the rows with room for twice as many observations.

    >>> grown(empty_rows(clients=2, capacity=4, dimension=3)).past.shape
    (2, 8, 3)
    """
    clients, capacity, dimension = rows.past.shape
    larger = empty_rows(clients, 2 * capacity, dimension)
    for old, new in zip(rows[:3], larger[:3], strict=True):
        new[:, : old.shape[1]] = old
    larger.observed[:] = rows.observed
    return larger


@compiled
def similarities(past: Floats, count: int, arms: Floats, length: float) -> Floats:
    """Return exp(-|x - x_j|^2 / (2 length^2)) for each observation j and arm, (count, K)."""
    near = np.empty((count, arms.shape[0]))
    for j in range(count):
        for k in range(arms.shape[0]):
            distance = 0.0
            for i in range(arms.shape[1]):
                distance += (arms[k, i] - past[j, i]) ** 2
            near[j, k] = math.exp(-distance / (2.0 * length * length))
    return near


@compiled
def whiten(factor: Floats, near: Floats) -> None:
    """Turn k into z = L^-1 k, for every arm at once, in place."""
    start = 0
    for i in range(near.shape[0]):
        row = near[i]
        for j in range(i):
            weight = factor[start + j]
            for k in range(near.shape[1]):
                row[k] -= weight * near[j, k]
        scale = 1.0 / factor[start + i]
        for k in range(near.shape[1]):
            row[k] *= scale
        start += i + 1


@compiled
def choose(rows: KernelRows, client: int, arms: Floats, length: float, width: float, directions: Floats) -> int:
    """Return argmax mean + width * deviation * direction; a direction is 1, or a normal for a sample."""
    count = rows.observed[client]
    z = similarities(rows.past[client], count, arms, length)
    whiten(rows.factor[client], z)
    scores = np.empty(arms.shape[0])
    for k in range(arms.shape[0]):
        mean, variance = 0.0, 1.0
        for j in range(count):
            mean += z[j, k] * rows.whitened[client, j]
            variance -= z[j, k] * z[j, k]
        scores[k] = mean + width * math.sqrt(max(0.0, variance)) * directions[k]
    return first_best(scores)


@compiled
def observe(rows: KernelRows, client: int, arm: Floats, reward: float, length: float, ridge: float) -> None:
    """Add an observation; there must be room for it."""
    count = rows.observed[client]
    z = similarities(rows.past[client], count, arm.reshape(1, -1), length)
    whiten(rows.factor[client], z)
    start = count * (count + 1) // 2
    rest, left = 1.0 + ridge, reward
    for j in range(count):
        rows.factor[client, start + j] = z[j, 0]
        rest -= z[j, 0] * z[j, 0]
        left -= z[j, 0] * rows.whitened[client, j]
    corner = math.sqrt(rest)
    rows.factor[client, start + count] = corner
    rows.whitened[client, count] = left / corner
    rows.past[client, count] = arm
    rows.observed[client] += 1
