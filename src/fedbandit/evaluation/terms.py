"""What each row of a log adds to the estimates of what a policy would have earned.

A row has arms k with vectors x_k, the choice a, its reward r and propensity p. The policy would have chosen arm k with
chance pi_k, so the row has weight w = pi_a / p. q_k is what a model, fitted on other rows, expects of arm k.
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


def terms_of(vectors: Floats, choice: Ints, reward: Floats, propensity: Floats, policy: Floats) -> Terms:
    """Return the terms of rows; their order is that of the log, in which every fifth row belongs to one fold."""
    rows = np.arange(len(reward))
    weight = policy[rows, choice] / propensity
    return terms_by(expected_rewards(vectors, choice, reward), weight, choice, reward, policy)


def terms_by(expected: Floats, weight: Floats, choice: Ints, reward: Floats, policy: Floats) -> Terms:
    """Return the terms of rows by what is expected of their arms (T, K)."""
    model = (policy * expected).sum(axis=1)
    missed = reward - expected[np.arange(len(reward)), choice]
    return Terms(weight, reward, model, model + weight * missed)


def expected_rewards(vectors: Floats, choice: Ints, reward: Floats) -> Floats:
    """Return what ridge regressions with an intercept, which is not shrunk, expect of all arms (T, K).

    Each row is looked at by the regression on the four fifths of rows that it is not in.
    """
    fold = np.arange(len(reward)) % FOLDS
    found = np.empty(vectors.shape[:2])
    for each in range(min(FOLDS, len(reward))):
        found[fold == each] = expected_by(vectors, choice, reward, fold != each, fold == each)
    return found


def expected_by(vectors: Floats, choice: Ints, reward: Floats, fitted: Bools, asked: Bools) -> Floats:
    """Return what the ridge regression on some rows expects of all arms of others."""
    chosen = np.column_stack([np.ones(int(fitted.sum())), vectors[fitted, choice[fitted]]])
    penalty = RIDGE * np.diag([0.0] + [1.0] * vectors.shape[2])
    weights = np.linalg.solve(chosen.T @ chosen + penalty, chosen.T @ reward[fitted])
    return np.asarray(weights[0] + vectors[asked] @ weights[1:])
