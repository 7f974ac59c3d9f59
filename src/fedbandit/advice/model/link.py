"""Chances from a linear model: where all rewards are 0 or 1, their mean bends so as to stay between these."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.optimize import minimize
from scipy.special import expit, logit

from fedbandit.core.arrays import Floats


@dataclass(frozen=True)
class Link:
    """The chance of a reward of 1 where a linear model expects so much: 1 / (1 + exp(-(level + slope * expected)))."""

    level: float
    slope: float

    def __call__(self, expected: Floats) -> Floats:
        """Return the chances of rewards of 1."""
        return np.asarray(expit(self.level + self.slope * expected))


def link_of(expected: Floats, reward: Floats) -> Link:
    """Return the link by logistic regression of rewards, each 0 or 1, on what a linear model expects of them.

    Near the mean m of rewards a straight line has the level log(m / (1 - m)) and the slope 1 / (m (1 - m)). Around
    these both have normal priors, of deviations 1 and the slope itself, so that they are finite even where the model
    tells all rewards apart.

    >>> expected = np.repeat(np.linspace(0.1, 0.9, 9), 10)
    >>> link = link_of(expected, np.tile(np.arange(10) / 10 + 0.05, 9) < expected)
    >>> np.round(link(np.array([0.0, 0.1, 0.5, 0.9, 1.0])), 2)
    array([0.08, 0.13, 0.5 , 0.87, 0.92])
    """
    mean, centre = (float(reward.sum()) + 0.5) / (len(reward) + 1), float(expected.mean())
    straight = 1.0 / (mean * (1.0 - mean))

    def unlikely(found: Floats) -> tuple[float, Floats]:
        """Return minus the logarithm of the posterior, and its gradient.

        `found`: the level less that of the line, and the slope as a multiple of the line's.
        """
        level, slope = found
        value = logit(mean) + level + slope * along
        missed = expit(value) - reward
        loss = float((np.logaddexp(0.0, value) - reward * value).sum()) + (level**2 + (slope - 1) ** 2) / 2
        return loss, np.array([missed.sum() + level, missed @ along + slope - 1])

    along = straight * (expected - centre)
    level, slope = minimize(unlikely, np.array([0.0, 1.0]), jac=True).x
    slope *= straight
    return Link(float(logit(mean) + level - slope * centre), float(slope))
