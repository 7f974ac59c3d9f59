"""Whether rewards are still what the model predicts: an alarm for drift, and how predictions and rewards compare.

With e = (reward - predicted) / s, where s is the deviation of the first 500 rows, both of S = max(0, S + e - 0.1) and
S = max(0, S - e - 0.1) begin at 0 and raise an alarm at 50: a shift of 0.2 deviations is found after about 500 rows,
and a false alarm comes about once in 700,000 (Siegmund's approximation).
"""

from __future__ import annotations

import math
from bisect import bisect_right
from typing import NamedTuple

import numpy as np

REFERENCE = 500  # rows that say what is usual
SLACK = 0.1  # of a deviation: what is nearer to a prediction than this is no drift
ALARM = 50.0
GROUPS = 10  # of rows, by what was predicted


class Cusum:
    """A two-sided cumulative sum of errors.

    >>> cusum = Cusum()
    >>> errors = [(-1.0) ** row for row in range(1000)] + [(-1.0) ** row + 0.5 for row in range(200)]
    >>> [(row, shift) for row, error in enumerate(errors) if (shift := cusum.add(error))]
    [(1122, 'higher')]
    """

    def __init__(self) -> None:
        """Begin without a row."""
        self.rows = 0
        self.higher = self.lower = 0.0
        self._mean = self._squares = 0.0  # of the reference rows, by Welford's rule
        self._scale = 1.0
        self._quiet_until = 0

    def add(self, error: float) -> str:
        """Take in how far a reward was above its prediction; return which way rewards have drifted, "" if none.

        After an alarm both sums begin at 0 again, 500 rows later: until then a model that learns may have followed.
        """
        self.rows += 1
        if self.rows <= REFERENCE:
            before = self._mean
            self._mean += (error - before) / self.rows
            self._squares += (error - before) * (error - self._mean)
            if self.rows == REFERENCE:
                self._scale = math.sqrt(self._squares / (REFERENCE - 1)) or 1.0
            return ""
        if self.rows <= self._quiet_until:
            return ""
        step = error / self._scale
        self.higher, self.lower = max(0.0, self.higher + step - SLACK), max(0.0, self.lower - step - SLACK)
        found = "higher" if self.higher >= ALARM else "lower" if self.lower >= ALARM else ""
        if found:
            self.higher = self.lower = 0.0
            self._quiet_until = self.rows + REFERENCE
        return found


class Group(NamedTuple):
    """Rows of which about the same was predicted."""

    rows: int
    predicted: float  # the mean
    reward: float
    error: float  # the standard error of the mean reward


class Calibration:
    """Mean predictions and mean rewards, by groups of equally many of the first rows.

    >>> calibration = Calibration()
    >>> for row in range(600):
    ...     calibration.add(row % 10 / 10, row % 10 / 10 + 1.0)
    >>> calibration.groups()[3]
    Group(rows=60, predicted=0.3, reward=1.3, error=0.0)
    """

    def __init__(self) -> None:
        """Begin without a row."""
        self._first: list[tuple[float, float]] = []  # until it is known where groups begin
        self._edges: list[float] = []
        self._sums = [[0.0] * 4 for _ in range(GROUPS)]  # rows, sums of predictions, of rewards and of their squares

    def add(self, predicted: float, reward: float) -> None:
        """Take in a row."""
        if not self._edges:
            self._first.append((predicted, reward))
            if len(self._first) < REFERENCE:
                return
            self._edges = np.quantile([each for each, _ in self._first], np.arange(1, GROUPS) / GROUPS).tolist()
            rows, self._first = self._first, []
        else:
            rows = [(predicted, reward)]
        for each, earned in rows:
            sums = self._sums[bisect_right(self._edges, each)]
            sums[0] += 1.0
            sums[1] += each
            sums[2] += earned
            sums[3] += earned * earned

    def groups(self) -> list[Group]:
        """Return the groups that have rows, by rising predictions; none before there are enough to know them."""
        return [_group(*each) for each in self._sums if each[0]]


def _group(rows: float, predicted: float, reward: float, squares: float) -> Group:
    mean = reward / rows
    spread = max(0.0, squares / rows - mean * mean) * rows / max(1.0, rows - 1)
    spread = 0.0 if spread < 1e-12 * squares / rows else spread  # what rounding leaves
    return Group(int(rows), round(predicted / rows, 12), round(mean, 12), math.sqrt(spread / rows))
