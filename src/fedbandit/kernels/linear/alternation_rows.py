"""Clients that learn a global and a local part of the reward side by side (Async-LinUCB-AM), one row a client.

A client's global part is a row of `RidgeRows` that uploads and downloads as in Async-LinUCB. Here is what it has
beside it: before its start a ridge regression on all of x, after it the local part and the two running estimates.
Everything is kept as sums; no observation is.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from fedbandit.core.arrays import Bools, Floats
from fedbandit.kernels.linear import ridge_rows
from fedbandit.kernels.linear.alternation import alternate, alternate_over_data
from fedbandit.kernels.linear.confidence import first_best
from fedbandit.kernels.linear.generalised_inverse import (
    STALE,
    GeneralisedInverses,
    add_observation,
    compute,
    has_full_rank,
)
from fedbandit.kernels.linear.ridge import dot, invert, multiply
from fedbandit.kernels.linear.ridge_rows import RidgeRows, add_scores
from fedbandit.kernels.linear.rules import ScoreRule
from fedbandit.kernels.linear.snapshots import Snapshots
from fedbandit.kernels.linear.turns import by_exploration
from fedbandit.kernels.shared.compiled import compiled, specialised

observe_part = specialised(ridge_rows.observe, "observe_part")  # compiled once for the three parts that observe
take_in_part = specialised(ridge_rows.take_in, "take_in_part")


class Split(NamedTuple):
    """Which coordinates are global, x_g = x[:global_end], and which local, x_l = x[local_start:]."""

    global_end: int
    local_start: int
    share: float  # what x_g has of the least joint estimate: 1, or 1/2 where x_g = x_l = x and both halves are equal


class AlternatingRule(NamedTuple):
    """How clients choose, before their start and after it, and how they alternate."""

    whole: ScoreRule
    global_part: ScoreRule
    local_part: ScoreRule
    split: Split
    alternations: int


class Estimates(NamedTuple):
    """Whether each client has started, and the estimates of its last alternation; the first axis is the row."""

    started: Bools
    informed: Bools  # whether what it downloaded has full rank
    global_estimate: Floats  # theta_g
    local_estimate: Floats  # theta_i


class BothParts(NamedTuple):
    """What scores use: each client's global part, and what it has beside it."""

    common: RidgeRows  # the global part, which travels
    whole: RidgeRows  # all of x, before the start
    local: RidgeRows
    estimates: Estimates
    global_inverse: GeneralisedInverses
    local_inverse: GeneralisedInverses


def empty_estimates(capacity: int, global_size: int, local_size: int) -> Estimates:
    """Return rows without content.

    >>> empty_estimates(2, 3, 4).local_estimate.shape
    (2, 4)
    """
    flags = [np.zeros(capacity, dtype=np.bool_) for _ in range(2)]
    return Estimates(flags[0], flags[1], np.zeros((capacity, global_size)), np.zeros((capacity, local_size)))


@compiled
def choose(beside: BothParts, row: int, arms: Floats, normals: Floats, rule: AlternatingRule, scratch: Floats) -> int:
    """Return the arm that the client of a row prefers: by all of x (equation 5), or by both parts (equation 8)."""
    scores, product = scratch[0, 1, : arms.shape[0]], scratch[0, 0]
    scores[:] = 0.0
    if not beside.estimates.started[row]:
        add_scores(beside.whole, row, arms, 0, normals[: arms.shape[1]], rule.whole.width, scores, product)
        return first_best(scores)
    split = rule.split
    shared, own = normals[: split.global_end], normals[split.global_end :]
    add_scores(beside.common, row, arms, 0, shared, rule.global_part.width, scores, product)
    add_scores(beside.local, row, arms, split.local_start, own, rule.local_part.width, scores, product)
    return first_best(scores)


@compiled
def observe(
    rows: RidgeRows, beside: BothParts, row: int, arm: Floats, reward: float, rule: AlternatingRule, scratch: Floats
) -> None:
    """Take in one observation; before the start, start if the data have full rank now."""
    if beside.estimates.started[row]:
        alternate_once(rows, beside, row, arm, reward, rule, scratch)
    else:
        own = beside.whole
        observe_part(own, beside.estimates, row, arm, reward, rule.whole, scratch)
        rows.turns[row] += 1
        rows.telling[row] += arm[: rule.split.global_end].any()  # what it will upload says something of them
        if beside.estimates.informed[row] or (own.turns[row] >= arm.size and has_full_rank(own.gram[row])):
            start(rows, beside, row, rule, scratch)


@compiled
def alternate_once(
    rows: RidgeRows, beside: BothParts, row: int, arm: Floats, reward: float, rule: AlternatingRule, scratch: Floats
) -> None:
    """Alternate on one observation, and add its partial rewards to both parts (equation 7)."""
    split = rule.split
    global_arm, local_arm = arm[: split.global_end], arm[split.local_start :]
    add_observation(beside.global_inverse, row, rows.gram[row], global_arm, scratch)
    add_observation(beside.local_inverse, row, beside.local.gram[row], local_arm, scratch)
    global_line, local_line = np.empty((2, global_arm.size)), np.empty((2, local_arm.size))
    multiply(beside.global_inverse.inverse[row], rows.moment[row], global_line[0])
    multiply(beside.global_inverse.inverse[row], global_arm, global_line[1])
    multiply(beside.local_inverse.inverse[row], beside.local.moment[row], local_line[0])
    multiply(beside.local_inverse.inverse[row], local_arm, local_line[1])
    estimates = beside.estimates
    global_estimate, local_estimate = estimates.global_estimate[row], estimates.local_estimate[row]
    alternate(
        global_estimate, local_estimate, global_line[0], global_line[1], local_line[0], local_line[1], global_arm,
        local_arm, reward, rule.alternations,
    )  # fmt: skip
    shared_reward, own_reward = reward - dot(local_arm, local_estimate), reward - dot(global_arm, global_estimate)
    observe_part(rows, estimates, row, global_arm, shared_reward, rule.global_part, scratch)
    observe_part(beside.local, estimates, row, local_arm, own_reward, rule.local_part, scratch)


@compiled
def take_in(
    rows: RidgeRows, beside: BothParts, row: int, shared: Snapshots, slot: int, rule: AlternatingRule, scratch: Floats
) -> None:
    """Apply a download to the global part; note whether it has full rank, from which a client may start."""
    take_in_part(rows, beside.estimates, row, shared, slot, rule.global_part, scratch)
    beside.global_inverse.state[row] = STALE
    if not beside.estimates.started[row]:
        beside.estimates.informed[row] = has_full_rank(rows.gram[row])


@compiled
def start(rows: RidgeRows, beside: BothParts, row: int, rule: AlternatingRule, scratch: Floats) -> None:
    """Begin to alternate, from all of the client's data and what it downloaded (algorithm 5, lines 12 to 14)."""
    split, own = rule.split, beside.whole
    gram, moment = own.gram[row], own.moment[row]
    end, first = split.global_end, split.local_start
    cross = np.ascontiguousarray(gram[:end, first:])
    global_estimate, local_estimate = beside.estimates.global_estimate[row], beside.estimates.local_estimate[row]
    if beside.estimates.informed[row]:
        inverse, outside = np.empty((end, end)), np.empty((end, end))
        compute(rows.gram[row], inverse, outside, scratch)
        multiply(inverse, rows.moment[row], global_estimate)
    else:
        inverse, outside = np.empty(gram.shape), np.empty(gram.shape)
        compute(gram, inverse, outside, scratch)
        joint = np.empty(moment.size)
        multiply(inverse, moment, joint)
        global_estimate[:] = split.share * joint[:end]
    local_estimate[:] = 0.0
    rows.new_gram[row] = gram[:end, :end]
    rows.gram[row] += gram[:end, :end]
    beside.local.gram[row] = gram[first:, first:]
    shared, local = beside.global_inverse, beside.local_inverse
    shared.state[row] = compute(rows.gram[row], shared.inverse[row], shared.outside[row], scratch)
    local.state[row] = compute(beside.local.gram[row], local.inverse[row], local.outside[row], scratch)
    alternate_over_data(
        global_estimate, local_estimate, shared.inverse[row], local.inverse[row], cross,
        rows.moment[row] + moment[:end], moment[first:], rule.alternations,
    )  # fmt: skip
    rows.new_moment[row] = moment[:end] - cross @ local_estimate
    rows.moment[row] += rows.new_moment[row]
    beside.local.moment[row] = moment[first:] - cross.T @ global_estimate
    rows.fresh[row] = own.fresh[row]
    before = rows.log_det[row]
    renew(rows, row, rule.whole.ridge, scratch)
    rows.growth[row] = rows.log_det[row] - before
    renew(beside.local, row, rule.whole.ridge, scratch)
    beside.estimates.started[row] = True


@compiled
def renew(rows: RidgeRows, row: int, ridge: float, scratch: Floats) -> None:
    """Compute what follows from a row's sums: inverse, log-determinant and estimate."""
    rows.log_det[row] = invert(rows.gram[row], ridge, rows.inverse[row], scratch[0], scratch[1])
    rows.updates[row] = 0
    multiply(rows.inverse[row], rows.moment[row], rows.estimate[row])


ALTERNATING = by_exploration("alternating", take_in, choose, observe)
