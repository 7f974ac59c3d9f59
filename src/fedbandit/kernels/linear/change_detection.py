"""How a client notices that the world has changed: its predictions are farther off than they should be, repeatedly.

With theta and A of the client's scores before it learns, e = |y - x^T theta| and q^2 = x^T A^-1 x, an error in units of
what is to be expected of it is

    z = max(0, e - sqrt(ridge) q) / (r sqrt(1 + q^2)),   r = max(noise, sqrt((noise^2 + E) / (1 + n))),

where sqrt(ridge) q is what the ridge may bias a prediction by, and r is what the rewards of this client vary by, with E
the sum of its n errors so far, e^2 / (1 + q^2) each, at most CLIP r^2. While nothing changes z^2 is 1 on average, or
less. Its excess is added up (Page 1954, CUSUM):

    S := max(0, S + min(z^2, CLIP) - 1 - DRIFT).

Beyond THRESHOLD the client finds that the world has changed; it changes its mind when S is back at 0. Errors are cut,
so that a few wild ones are not taken for a change, and r is the client's own, so that it need not be told the noise.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from fedbandit.core.arrays import Floats, Ints
from fedbandit.kernels.linear.gap_weighting import QUIET, noise_of
from fedbandit.kernels.linear.ridge import dot
from fedbandit.kernels.linear.ridge_rows import Model
from fedbandit.kernels.shared.compiled import compiled

CLIP = 9.0
DRIFT = 2.0
THRESHOLD = 11.5  # just less than 12, which two clipped errors add


class Watch(NamedTuple):
    """What the clients have noticed; the first axis is the client."""

    squares: Floats  # E_i
    turns: Floats  # n_i
    excess: Floats  # S_i
    changes: Ints  # how often it has changed its mind since all was forgotten; odd: it finds that the world has changed


def no_watch(clients: int) -> Watch:
    """Return what clients have noticed that have seen nothing.

    >>> no_watch(2).excess
    array([0., 0.])
    """
    return Watch(np.zeros(clients), np.zeros(clients), np.zeros(clients), np.zeros(clients, dtype=np.int64))


@compiled
def notice(
    watch: Watch, client: int, model: Model, row: int, arm: Floats, reward: float, noise: float, ridge: float
) -> bool:
    """Take in how far off a prediction was; tell whether the client changes its mind."""
    spread = 0.0
    for each in range(arm.size):
        spread += arm[each] * dot(model.inverse[row, each], arm)
    spread = max(0.0, spread)
    error = abs(reward - dot(arm, model.estimate[row]))
    scale = max(noise_of(watch.squares[client], watch.turns[client], noise), QUIET)
    beyond = max(0.0, error - math.sqrt(ridge * spread)) / scale
    watch.squares[client] += min(error * error / (1.0 + spread), CLIP * scale * scale)
    watch.turns[client] += 1.0
    excess = max(0.0, watch.excess[client] + min(beyond * beyond / (1.0 + spread), CLIP) - 1.0 - DRIFT)
    watch.excess[client] = excess
    changes = excess == 0.0 if watch.changes[client] % 2 else excess > THRESHOLD
    if changes:
        watch.changes[client] += 1
    return bool(changes)
