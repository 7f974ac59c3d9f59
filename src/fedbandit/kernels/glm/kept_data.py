"""The observations that each client keeps, and what a generalised linear model needs of them in one pass.

Client i's loss is sum_s m(x_s^T theta) - y_s x_s^T theta with m' = mu, so with r_s = mu(x_s^T theta) - y_s

    gradient = sum_s r_s x_s,      curvature = sum_s mu'(x_s^T theta) x_s x_s^T.

Observations lie in blocks of LANES, in each block coordinate by coordinate: a pass reads memory in order, and its
inner loops run along the lanes, which the processor takes several at a time without reordering any sum. A sum over
observations is kept apart for each lane until the end, when the lanes are folded in halves.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from fedbandit.core.arrays import Floats, Ints
from fedbandit.kernels.glm.links import LANES, MARGIN, MEAN, SCRATCH, Lanes, lanes, means, slope
from fedbandit.kernels.linear.ridge import add_outer
from fedbandit.kernels.shared.compiled import compiled


class Kept(NamedTuple):
    """What the clients have observed; the first axis is the client."""

    arms: Floats  # (clients, blocks, d, LANES)
    reward: Floats  # (clients, blocks, LANES)
    length: Ints  # how many observations each client has


def nothing_kept(clients: int, dimension: int) -> Kept:
    """Return room for one block of observations of each client.

    >>> nothing_kept(2, 3).length
    array([0, 0])
    """
    return Kept(
        np.zeros((clients, 1, dimension, LANES)),
        np.zeros((clients, 1, LANES)),
        np.zeros(clients, dtype=np.int64),
    )


def with_more_room(kept: Kept) -> Kept:
    """Return the same observations with room for as many again.

    >>> with_more_room(nothing_kept(2, 3)).reward.shape
    (2, 2, 64)
    """
    return Kept(_longer(kept.arms), _longer(kept.reward), kept.length)


def _longer(array: Floats) -> Floats:
    grown = np.zeros((array.shape[0], 2 * array.shape[1], *array.shape[2:]))
    grown[:, : array.shape[1]] = array
    return grown


@compiled
def is_full(kept: Kept, client: int) -> bool:
    """Tell whether there is no room for the client's next observation."""
    return bool(kept.length[client] == kept.reward.shape[1] * LANES)


@compiled
def keep(kept: Kept, client: int, arm: Floats, reward: float) -> None:
    """Add an observation; there must be room."""
    block, lane = divmod(kept.length[client], LANES)
    for j in range(arm.size):
        kept.arms[client, block, j, lane] = arm[j]
    kept.reward[client, block, lane] = reward
    kept.length[client] += 1


@compiled
def recall(kept: Kept, client: int, place: int, arm: Floats) -> float:
    """Write the arm of one observation to `arm`, and return its reward."""
    block, lane = divmod(place, LANES)
    for j in range(arm.size):
        arm[j] = kept.arms[client, block, j, lane]
    return float(kept.reward[client, block, lane])


@compiled
def telling_of_each(kept: Kept, who: Ints, start: Ints, stop: Ints) -> Ints:
    """Return how many of each client's observations from its `start` to its `stop` are of an arm that is not zero."""
    found, arm = np.zeros(who.size, dtype=np.int64), np.empty(kept.arms.shape[2])
    for each in range(who.size):
        for place in range(start[who[each]], stop[who[each]]):
            recall(kept, who[each], place, arm)
            found[each] += arm.any()
    return found


@compiled
def predict(block: Floats, model: Floats, link: int, work: Lanes) -> None:
    """Write mu(x^T model) of all lanes of a block to the row of means."""
    margin = work.numbers[MARGIN]
    for s in range(LANES):
        margin[s] = 0.0
    for j in range(model.size):
        weight, row = model[j], block[j]
        for s in range(LANES):
            margin[s] += weight * row[s]
    means(link, work)


@compiled
def _clear_outside(value: Floats, first: int, last: int) -> None:
    """Set the lanes before `first` and from `last` on to zero: they hold no observation that is asked for."""
    for s in range(min(first, LANES)):
        value[s] = 0.0
    for s in range(max(last, 0), LANES):
        value[s] = 0.0


@compiled
def fold(sums: Floats, out: Floats) -> None:
    """Write the total over all lanes of each row of `sums`, which is spoilt, to `out`."""
    for j in range(sums.shape[0]):
        row = sums[j]
        half = LANES // 2
        while half >= 8:
            for s in range(half):
                row[s] += row[s + half]
            half //= 2
        out[j] = ((row[0] + row[4]) + (row[2] + row[6])) + ((row[1] + row[5]) + (row[3] + row[7]))


@compiled
def add_gradient(
    kept: Kept, client: int, start: int, stop: int, model: Floats, link: int, work: Lanes, sums: Floats
) -> None:
    """Add sum r_s x_s over the client's observations from `start` to `stop` to `sums` (d, LANES), lane by lane."""
    value = work.numbers[MEAN]
    for place in range(start // LANES, -(-stop // LANES)):
        block, reward = kept.arms[client, place], kept.reward[client, place]
        predict(block, model, link, work)
        for s in range(LANES):
            value[s] -= reward[s]
        _clear_outside(value, start - place * LANES, stop - place * LANES)
        for j in range(model.size):
            row, into = block[j], sums[j]
            for s in range(LANES):
                into[s] += row[s] * value[s]


@compiled
def gradient_of(kept: Kept, client: int, start: int, stop: int, model: Floats, link: int, out: Floats) -> None:
    """Write the gradient of the loss of the client's observations from `start` to `stop` to `out`."""
    sums = np.zeros((model.size, LANES))
    add_gradient(kept, client, start, stop, model, link, lanes(), sums)
    fold(sums, out)


@compiled
def gradient_of_each(kept: Kept, who: Ints, start: Ints, stop: Ints, models: Floats, link: int) -> Floats:
    """Return each client's gradient over its observations from its `start` to its `stop`, at its row of `models`."""
    gradients = np.empty_like(models)
    work, sums = lanes(), np.empty((models.shape[1], LANES))
    for each in range(who.size):
        client = who[each]
        sums[:] = 0.0
        add_gradient(kept, client, start[client], stop[client], models[each], link, work, sums)
        fold(sums, gradients[each])
    return gradients


@compiled
def curvature_of(kept: Kept, client: int, stop: int, model: Floats, link: int, out: Floats) -> None:
    """Write the curvature (Hessian) of the loss of the client's first `stop` observations to `out`."""
    size = model.size
    work, sums, column = lanes(), np.zeros((size * size, LANES)), np.empty(size * size)
    value, power = work.numbers[MEAN], work.numbers[SCRATCH]
    for place in range(-(-stop // LANES)):
        block = kept.arms[client, place]
        predict(block, model, link, work)
        for s in range(LANES):
            value[s] = slope(link, value[s])
        _clear_outside(value, 0, stop - place * LANES)
        for i in range(size):
            row = block[i]
            for s in range(LANES):
                power[s] = row[s] * value[s]
            for j in range(i + 1):
                other, into = block[j], sums[i * size + j]
                for s in range(LANES):
                    into[s] += power[s] * other[s]
    fold(sums, column)
    for i in range(size):
        for j in range(i + 1):
            out[i, j] = out[j, i] = column[i * size + j]


@compiled
def curvature_of_each(kept: Kept, who: Ints, stop: Ints, model: Floats, link: int) -> Floats:
    """Return the curvature at one model of each client's observations before its `stop`."""
    curvatures = np.empty((who.size, model.size, model.size))
    for each in range(who.size):
        curvature_of(kept, who[each], stop[who[each]], model, link, curvatures[each])
    return curvatures


@compiled
def gram_of_each(kept: Kept, who: Ints, start: Ints, stop: Ints) -> Floats:
    """Return sum x_s x_s^T over each client's observations from its `start` to its `stop`, added one by one."""
    size = kept.arms.shape[2]
    grams, arm = np.zeros((who.size, size, size)), np.empty(size)
    for each in range(who.size):
        client, gram = who[each], grams[each]
        for place in range(start[client], stop[client]):
            recall(kept, client, place, arm)
            add_outer(gram, arm)
    return grams
