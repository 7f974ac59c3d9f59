"""Two policies side by side: the difference of their mean rewards, with an interval that may be looked at at any time.

A lot gives each decision to the control group with chance c. With m the mean of all rewards before, the terms
(reward - m) (1 / (1 - c) without control, -1 / c with it) have the difference as their mean, whatever m is. The
interval is the asymptotic confidence sequence of Waudby-Smith, Arbour, Sinha, Kennedy and Ramdas (2021), for 95 %: the
truth is in it at all times at once, so that whoever stops when it no longer holds 0 is wrong in 5 % of cases, not more.
"""

from __future__ import annotations

import math

LEVEL = 0.05  # how often the truth may ever be outside
FEWEST = 50  # rewards of each group, before an interval is told
TUNED_FOR = 1000  # rewards, at which the interval is narrowest for its kind

_RHO_SQUARED = (-2 * math.log(LEVEL) + math.log(-2 * math.log(LEVEL)) + 1) / TUNED_FOR


class Comparison:
    """Rewards of decisions with and without control.

    >>> comparison = Comparison(share=0.5)
    >>> for row in range(400):
    ...     comparison.add(is_control=row % 2 == 0, reward=float(row % 5))
    >>> round(comparison.difference, 1), [round(end, 1) for end in comparison.interval]
    (-0.0, [-0.4, 0.4])
    """

    def __init__(self, share: float) -> None:
        """Take the chance with which a decision is one of the control group."""
        self.share = share
        self.rewards = {False: 0, True: 0}  # how many, without and with control
        self._mean = 0.0  # of all rewards
        self._term = self._squares = 0.0  # of the terms: mean, and sum of squared deviations

    def add(self, is_control: bool, reward: float) -> None:
        """Take in a reward."""
        self.rewards[is_control] += 1
        count = sum(self.rewards.values())
        term = (reward - self._mean) * (-1 / self.share if is_control else 1 / (1 - self.share))
        self._mean += (reward - self._mean) / count
        before = self._term
        self._term += (term - before) / count
        self._squares += (term - before) * (term - self._term)

    @property
    def difference(self) -> float:
        """Return by how much the mean reward is higher without control; NaN before each group has one."""
        return self._term if all(self.rewards.values()) else math.nan

    @property
    def interval(self) -> tuple[float, float]:
        """Return where the difference is, at 95 %, however often one looks; everywhere while there are few rewards."""
        if min(self.rewards.values()) < FEWEST:
            return -math.inf, math.inf
        count = sum(self.rewards.values())
        grown = count * _RHO_SQUARED + 1
        width = math.sqrt(2 * grown / (count * count * _RHO_SQUARED) * math.log(math.sqrt(grown) / LEVEL))
        width *= math.sqrt(self._squares / (count - 1))
        return self._term - width, self._term + width
