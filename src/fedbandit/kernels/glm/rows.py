"""Generalised linear bandits side by side, one row a client: one turn of one of them.

A turn of client i (Li and Wang 2022, algorithm 1, lines 5 to 9), with x the chosen arm, y its reward:

    V_i += x x^T;   if the schedule says so, call for a global update and step no further
    z = x^T theta_i,   g = (mu(z) - y) x,   b_i += z x
    theta_i := the projection, in the norm of A_i, of theta_i - rate A_i^-1 g onto the ball of radius S

and the next choice is argmax x^T theta_hat + alpha sqrt(x^T V_i^-1 x), theta_hat = V_i^-1 b_i. What a turn does to the
model is the local rule: STEP (as above, A_i = V_i), GRADIENT_STEP (algorithm 6: A_i += g g^T), FROZEN (algorithm 4:
nothing changes between global updates, theta_hat = theta_i) and REFIT (UCB-GLM: theta_hat = theta_i = the ridge maximum
likelihood of the client's own data).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from fedbandit.core.arrays import Floats, Ints
from fedbandit.core.former_names import regrouped
from fedbandit.kernels.glm.kept_data import Kept, keep
from fedbandit.kernels.glm.links import mean, slope
from fedbandit.kernels.glm.projection import project_to_ball
from fedbandit.kernels.glm.refit import refit
from fedbandit.kernels.glm.width import GIVEN, LIKELIHOOD, Model, Width, likelihood_width, prediction_width
from fedbandit.kernels.linear.confidence import optimistic_arm
from fedbandit.kernels.linear.ridge import add_observation_to_inverse, add_outer, dot, invert, multiply
from fedbandit.kernels.shared.compiled import compiled

FROZEN, STEP, GRADIENT_STEP, REFIT = 0, 1, 2, 3
REFRESH = 1024  # after so many rank-one updates the inverses are computed afresh


@regrouped(lambda stored: {"telling": np.zeros_like(stored["turns"])})  # before there was a smallest upload
class GlmRows(NamedTuple):
    """What each client knows; the first axis is the client."""

    model: Floats  # theta_i
    gram: Floats  # V_i, without its ridge
    inverse: Floats  # (V_i + ridge I)^-1
    moment: Floats  # b_i; the gradient of what came since the last refit (REFIT)
    estimate: Floats  # theta_hat: the centre of the scores
    metric: Floats  # A_i without its ridge, where it is not V_i (GRADIENT_STEP); no rows elsewhere
    metric_inverse: Floats  # its inverse (GRADIENT_STEP), or that of the curvature of the loss (REFIT)
    square: Floats  # |z|^2
    online: Floats  # sum |g|^2 in the norm of A_i^-1
    offline: Floats  # the part of the bound on the loss that global updates set
    base: Floats  # the part of the squared width that global updates set, or the width itself
    growth: Floats  # log(det V_i / det(V_i - dV_i)) since the last global update
    turns: Ints  # t
    last: Ints  # t_last: the round of the last global update
    version: Ints  # global updates taken in
    updates: Ints  # rank-one updates since the inverses were computed afresh
    telling: Ints  # observations, of arms that are not zero, that no global update speaks of yet


class Schedule(NamedTuple):
    """When a client calls for a global update: by the event, or by the calendar. One of them never comes."""

    threshold: float  # D: (t - t_last) * growth must exceed it
    period: int  # turns of all clients between two updates
    updates: int  # B: so many of them
    clients: int  # N: how many clients take turns
    smallest: int  # observations that a client must have for the event, beyond those that an update spoke of


class Rule(NamedTuple):
    """How rows choose, step and call: the algorithm's parameters, as the kernels need them."""

    local: int
    link: int
    ridge: float  # of V_i and A_i: lambda / c_mu, or lambda (algorithm 6)
    rate: float  # of the Newton step: 1 / c_mu, or 1 / gamma (algorithm 6)
    arm_bound: float
    refit_every: int
    model: Model
    width: Width
    schedule: Schedule


def empty_rows(clients: int, dimension: int, ridge: float, metric_ridge: float, metrics: int) -> GlmRows:
    """Return rows that have seen nothing; `metrics` is how many of them keep a second matrix.

    >>> empty_rows(2, 3, ridge=0.5, metric_ridge=1.0, metrics=0).inverse[1, 2, 2]
    np.float64(2.0)
    """
    vectors = [np.zeros((clients, dimension)) for _ in range(3)]
    square, online, offline, base, growth = (np.zeros(clients) for _ in range(5))
    turns, last, version, updates, telling = (np.zeros(clients, dtype=np.int64) for _ in range(5))
    grams = [np.zeros((many, dimension, dimension)) for many in (clients, metrics)]
    identity = np.eye(dimension)
    inverses = [np.tile(identity / each, (many, 1, 1)) for each, many in ((ridge, clients), (metric_ridge, metrics))]
    return GlmRows(
        vectors[0], grams[0], inverses[0], vectors[1], vectors[2], grams[1], inverses[1], square, online, offline, base,
        growth, turns, last, version, updates, telling,
    )  # fmt: skip


@compiled
def scratch_for(arms: int, dimension: int) -> Floats:
    """Return working space for one call."""
    size = max(arms, dimension) + 2
    return np.empty((2, size, size))


@compiled
def alpha(rows: GlmRows, client: int, rule: Rule) -> float:
    """Return the width of the client's confidence ellipsoid."""
    width = rule.width
    if width.kind == GIVEN:
        return float(rows.base[client])
    if width.kind == LIKELIHOOD:
        return width.scale * likelihood_width(rule.model, rows.turns[client], 0.0)
    loss = rows.offline[client] + width.weight * rows.online[client]
    fit = dot(rows.estimate[client], rows.moment[client]) - rows.square[client]
    return width.scale * prediction_width(rule.model, rows.base[client], loss, fit)


@compiled
def choose(rows: GlmRows, client: int, arms: Floats, rule: Rule, scratch: Floats) -> int:
    """Return the arm that the client prefers."""
    return optimistic_arm(arms, rows.estimate[client], rows.inverse[client], alpha(rows, client, rule), scratch[0])


@compiled
def is_due(rows: GlmRows, client: int, turns: int, schedule: Schedule) -> bool:
    """Tell whether the client calls for a global update; `turns` are those of its cohort so far."""
    cohort = rows.turns.size
    scheduled = min(schedule.updates, turns * schedule.clients // (schedule.period * cohort))
    waited = rows.turns[client] - rows.last[client]
    if scheduled > rows.version[client]:
        return True
    return bool(rows.telling[client] >= schedule.smallest and waited * rows.growth[client] > schedule.threshold)


@compiled
def see(rows: GlmRows, client: int, arm: Floats, residual: float, rule: Rule, scratch: Floats) -> None:
    """Add an arm to V_i and its inverse, and its gradient to A_i where that is a matrix of its own."""
    product = scratch[0, 0, : arm.size]
    add_outer(rows.gram[client], arm)
    rows.growth[client] += add_observation_to_inverse(rows.inverse[client], arm, product)
    if rule.local == GRADIENT_STEP:
        gradient = residual * arm
        add_outer(rows.metric[client], gradient)
        add_observation_to_inverse(rows.metric_inverse[client], gradient, product)
    rows.updates[client] += 1
    if rows.updates[client] == REFRESH:
        rows.updates[client] = 0
        invert(rows.gram[client], rule.ridge, rows.inverse[client], scratch[0], scratch[1])
        if rule.local == GRADIENT_STEP:
            invert(rows.metric[client], rule.ridge, rows.metric_inverse[client], scratch[0], scratch[1])


@compiled
def newton_step(
    rows: GlmRows, client: int, arm: Floats, margin: float, residual: float, rule: Rule, scratch: Floats
) -> None:
    """Note the prediction, then step and project (algorithm 2)."""
    metric, inverse = rows.gram[client], rows.inverse[client]
    if rule.local == GRADIENT_STEP:
        metric, inverse = rows.metric[client], rows.metric_inverse[client]
    model, moment, direction = rows.model[client], rows.moment[client], scratch[0, 0, : arm.size]
    multiply(inverse, arm, direction)
    rows.online[client] += residual * residual * dot(arm, direction)
    rows.square[client] += margin * margin
    for i in range(arm.size):
        moment[i] += margin * arm[i]
        model[i] -= rule.rate * residual * direction[i]
    project_to_ball(metric, rule.ridge, model, rule.model.radius, scratch[1])
    multiply(rows.inverse[client], moment, rows.estimate[client])


@compiled
def follow_likelihood(
    rows: GlmRows, kept: Kept, client: int, arm: Floats, margin: float, residual: float, rule: Rule
) -> None:
    """Note the observation's gradient and curvature; refit the model to the client's own data when it is time to."""
    model, inverse, news = rows.model[client], rows.metric_inverse[client], rows.moment[client]
    root = np.sqrt(slope(rule.link, mean(rule.link, margin)))
    add_observation_to_inverse(inverse, root * arm, np.empty(arm.size))
    for i in range(arm.size):
        news[i] += residual * arm[i]
    if kept.length[client] % rule.refit_every == 0:
        refit(kept, client, rule.model.ridge, rule.link, rule.arm_bound, model, inverse, news)
        news[:] = 0.0
        rows.estimate[client] = model


@compiled
def learn(
    rows: GlmRows, kept: Kept, turns: Ints, client: int, arm: Floats, reward: float, rule: Rule, scratch: Floats
) -> bool:
    """Take in a turn's observation, for which there must be room; tell whether the client calls for an update."""
    keep(kept, client, arm, reward)
    turns[0] += 1
    rows.turns[client] += 1
    rows.telling[client] += arm.any()
    margin = dot(arm, rows.model[client])
    residual = mean(rule.link, margin) - reward
    if rule.local != FROZEN:
        see(rows, client, arm, residual, rule, scratch)
    if is_due(rows, client, turns[0], rule.schedule):
        return True
    if rule.local == REFIT:
        follow_likelihood(rows, kept, client, arm, margin, residual, rule)
    elif rule.local != FROZEN:
        newton_step(rows, client, arm, margin, residual, rule, scratch)
    return False
