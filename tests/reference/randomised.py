"""Literal transcription of randomised choice (linear-more.md): chances, uniform mixing, and the lot.

A `Randomised` stands in for `reference.linear.choose`: it is called once a turn, in the order of the file.
"""

import math

import numpy as np

from reference import linear
from reference.recorded import lowest_best


def igw(arms, matrix, vector, *, ridge, greed):
    """Greed g a number: p_k = 1 / (K + g gap_k) for k != best, the rest to the best."""
    theta = np.linalg.inv(matrix + ridge * np.eye(len(matrix))) @ vector
    scores = [x @ theta for x in arms]
    best = lowest_best(scores)
    p = np.array([1 / (len(arms) + greed * max(0.0, scores[best] - score)) for score in scores])
    p[best] = 0.0
    p[best] = 1 - sum(p)
    return p


def igw_auto(arms, matrix, vector, *, ridge, noise, delta, alpha, squares, turns):
    """Greed `auto`: with r_i from the client's own errors, the plausible arms P, and their mean variance q."""
    inverse = np.linalg.inv(matrix + ridge * np.eye(len(matrix)))
    theta = inverse @ vector
    scores = [x @ theta for x in arms]
    best = lowest_best(scores)
    r = max(noise, math.sqrt((noise**2 + squares) / (1 + turns)))
    if alpha is None:
        alpha = linear.width(matrix, ridge, r, delta)
    gaps = [max(0.0, scores[best] - score) for score in scores]
    plausible = [
        k
        for k, x in enumerate(arms)
        if k == best
        or gaps[k]
        <= alpha * math.sqrt(max(0.0, (x - arms[best]) @ inverse @ (x - arms[best])))
        + 1e-9 * max(1.0, abs(scores[best]))
    ]
    n = len(plausible)
    q = np.mean([arms[k] @ inverse @ arms[k] for k in plausible])
    greed = 30 * math.sqrt(n / (max(r, 1e-12) ** 2 * q)) if q > 0 else 0.0
    p = np.zeros(len(arms))
    for k in plausible:
        if k != best:
            p[k] = 1 / (n + greed * gaps[k])
    p[best] = 1 - sum(p)
    return p


def by_lot(p, z):
    """u = Phi(z); the first arm whose cumulative sum of p exceeds u, else the last with p > 0."""
    u = math.erfc(-z / math.sqrt(2)) / 2
    total = 0.0
    for k, each in enumerate(p):
        total += each
        if total > u:
            return k
    return max(k for k, each in enumerate(p) if each > 0)


class Randomised:
    """Chooses turn after turn; remembers E_i, n_i of each client (`shared`: one for all) and each p of a chosen arm."""

    def __init__(self, world, *, exploration="ucb", explore=0.0, greed="auto", shared=False):
        self.world = world
        self.exploration, self.explore, self.greed = exploration, explore, greed
        owners = np.zeros_like(world["client"]) if shared else world["client"]
        self.owner = owners
        self.squares, self.turns = np.zeros(owners.max() + 1), np.zeros(owners.max() + 1)
        self.propensity = []

    def __call__(self, arms, matrix, vector, *, ridge, noise, delta, alpha, exploration, draw):
        turn = len(self.propensity)
        i, normals = self.owner[turn], self.world["draws"][turn]
        way = {"ridge": ridge, "noise": noise, "delta": delta, "alpha": alpha}
        if self.exploration == "igw" and self.greed == "auto":
            p = igw_auto(arms, matrix, vector, squares=self.squares[i], turns=self.turns[i], **way)
        elif self.exploration == "igw":
            p = igw(arms, matrix, vector, ridge=ridge, greed=self.greed)
        else:
            # The lot first, then the sample; without explore there is no lot.
            sample = normals[1 : 1 + len(vector)] if self.explore else normals[: len(vector)]
            p = np.zeros(len(arms))
            p[linear.literal_choose(arms, matrix, vector, exploration=self.exploration, draw=sample, **way)] = 1.0
        has_lot = self.exploration == "igw" or self.explore > 0
        p = (1 - self.explore) * p + self.explore / len(arms)
        assert abs(sum(p) - 1) < 1e-12
        assert (p >= 0).all()
        arm = by_lot(p, normals[0]) if has_lot else int(np.argmax(p))
        theta = np.linalg.inv(matrix + ridge * np.eye(len(matrix))) @ vector
        self.squares[i] += (self.world["reward"][turn, arm] - arms[arm] @ theta) ** 2
        self.turns[i] += 1
        self.propensity.append(p[arm] if has_lot else 1.0 if self.exploration == "ucb" else np.nan)
        return arm
