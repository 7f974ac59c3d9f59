"""Estimators of the mean reward of a policy, from rows that another one has decided.

A row has arms k with vectors x_k, the choice a, its reward r and propensity p. The policy would have chosen arm k with
chance pi_k, so the row has weight w = pi_a / p. q_k is what a model, fitted on other rows, expects of arm k.

    ips    mean of w r
    snips  sum of w r / sum of w
    dm     mean of sum_k pi_k q_k
    dr     mean of sum_k pi_k q_k + w (r - q_a)

ips and dr are unbiased where the propensities are right. dm is as good as its model, and its error is not known.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from fedbandit.core.arrays import Bools, Floats, Ints

FOLDS = 5
RIDGE = 1.0


@dataclass(frozen=True)
class Terms:
    """What each row adds to the estimates."""

    weight: Floats
    reward: Floats
    model: Floats  # sum_k pi_k q_k
    doubly_robust: Floats

    def take(self, rows: Bools) -> Terms:
        """Return those of some rows."""
        return Terms(self.weight[rows], self.reward[rows], self.model[rows], self.doubly_robust[rows])


@dataclass(frozen=True)
class Estimates:
    """Estimates with their standard errors, and how much the rows say about the policy."""

    rows: int
    ips: float
    ips_error: float
    snips: float
    snips_error: float
    dm: float
    dr: float
    dr_error: float
    effective: float  # rows of the policy's own that would say as much
    mean_weight: float  # 1, up to its error, where the propensities are those of the choices
    mean_weight_error: float
    largest_weight: float
    matched: float  # the share of rows whose choice the policy might have made
    logged: float  # the mean reward of the log

    def interval(self, name: str) -> tuple[float, float]:
        """Return the ends of the 95 % interval of `ips`, `snips` or `dr`."""
        middle, error = getattr(self, name), getattr(self, f"{name}_error")
        return middle - 1.96 * error, middle + 1.96 * error


def terms_of(vectors: Floats, choice: Ints, reward: Floats, propensity: Floats, policy: Floats) -> Terms:
    """Return the terms of rows; their order is that of the log, in which every fifth row belongs to one fold."""
    rows = np.arange(len(reward))
    weight = policy[rows, choice] / propensity
    expected = expected_rewards(vectors, choice, reward)
    model = (policy * expected).sum(axis=1)
    return Terms(weight, reward, model, model + weight * (reward - expected[rows, choice]))


def expected_rewards(vectors: Floats, choice: Ints, reward: Floats) -> Floats:
    """Return what ridge regressions with an intercept, which is not shrunk, expect of all arms (T, K).

    Each row is looked at by the regression on the four fifths of rows that it is not in.
    """
    count, _, dimension = vectors.shape
    chosen = np.column_stack([np.ones(count), vectors[np.arange(count), choice]])
    fold = np.arange(count) % FOLDS
    penalty = RIDGE * np.diag([0.0] + [1.0] * dimension)
    found = np.empty(vectors.shape[:2])
    for each in range(min(FOLDS, count)):
        rows = chosen[fold != each]
        weights = np.linalg.solve(rows.T @ rows + penalty, rows.T @ reward[fold != each])
        found[fold == each] = weights[0] + vectors[fold == each] @ weights[1:]
    return found


def estimates_of(terms: Terms) -> Estimates:
    """Return the estimates of rows by their terms.

    >>> ones = np.ones(4)
    >>> estimates_of(Terms(weight=ones, reward=ones, model=ones, doubly_robust=ones)).effective
    4.0
    """
    weight, reward = terms.weight, terms.reward
    total = float(weight.sum())
    snips = float(weight @ reward) / total if total else np.nan
    return Estimates(
        rows=len(reward),
        ips=float((weight * reward).mean()), ips_error=_error(weight * reward),
        snips=snips, snips_error=float(np.sqrt((weight**2 * (reward - snips) ** 2).sum())) / total if total else np.nan,
        dm=float(terms.model.mean()), dr=float(terms.doubly_robust.mean()), dr_error=_error(terms.doubly_robust),
        effective=total**2 / float(weight @ weight) if total else 0.0, mean_weight=float(weight.mean()),
        mean_weight_error=_error(weight), largest_weight=float(weight.max()), matched=float((weight > 0).mean()),
        logged=float(reward.mean()),
    )  # fmt: skip


def _error(values: Floats) -> float:
    """Return the standard error of a mean."""
    return float(values.std(ddof=1) / np.sqrt(len(values))) if len(values) > 1 else np.nan
