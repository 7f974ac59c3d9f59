"""Running sums of a stream that are released again and again, with one promise for all releases together.

A stream of n batches has prefix sums A s, A the lower triangle of ones. A factorisation A = left right turns them into
left (right s + z): all releases are what one Gaussian mechanism tells, of the sensitivity of one batch times the
longest column of right, and z_1 .. z_n are independent. `right` is lower triangular, so that this also holds where the
stream depends on earlier releases (Denisov et al. 2022).

- `Toeplitz` (Fichtenberger, Henzinger and Upadhyay 2023): left = right, entries c_(i-j), c_0 = 1, c_k = c_(k-1)
  (2 k - 1) / (2 k).
- `Tree`, the textbook's: node k covers the lowbit(k) batches up to k; row k of right is its indicator, row k of left
  names the nodes k, k - lowbit(k), ... that make up the first k batches.
"""

from __future__ import annotations

from typing import Protocol

import numpy as np

from fedbandit.core.arrays import Floats


class Factorisation(Protocol):
    """A = left right, by what releases need of it. Releases are counted from 1."""

    def weights(self, release: int) -> Floats:
        """Return the first entries of row `release` of left, as many as may differ from 0."""

    def variance(self, release: int) -> float:
        """Return the sum of squares of that row."""

    def exposure(self, releases: int) -> float:
        """Return the squared length of the longest column of right's first rows; without rows 0."""


class Toeplitz:
    """The square root of A.

    >>> Toeplitz(4).weights(3), round(Toeplitz(64).exposure(64) ** 0.5, 9)
    (array([0.375, 0.5  , 1.   ]), 1.54558989)
    """

    def __init__(self, releases: int) -> None:
        """Take the number of releases."""
        orders = np.arange(1, releases)
        self._entries = np.cumprod(np.concatenate([[1.0], (2 * orders - 1) / (2 * orders)]))
        self._squares = np.concatenate([[0.0], np.cumsum(self._entries**2)])

    def weights(self, release: int) -> Floats:
        """Return c_(k-1), .., c_0."""
        return self._entries[release - 1 :: -1] if release else self._entries[:0]

    def variance(self, release: int) -> float:
        """Return the sum of the first k squares."""
        return float(self._squares[release])

    def exposure(self, releases: int) -> float:
        """Return the sum of the first k squares: the first batch is in all rows."""
        return float(self._squares[releases])


class Tree:
    """The binary tree.

    >>> Tree().weights(6), Tree().variance(7), Tree().exposure(64)
    (array([0., 0., 0., 1., 0., 1.]), 3.0, 7.0)
    """

    def weights(self, release: int) -> Floats:
        """Return 1 for each node that makes up the first k batches."""
        found = np.zeros(release)
        node = release
        while node:
            found[node - 1] = 1.0
            node &= node - 1
        return found

    def variance(self, release: int) -> float:
        """Return the number of these nodes."""
        return float(release.bit_count())

    def exposure(self, releases: int) -> float:
        """Return how many of the first k nodes cover the first batch: 1, 2, 4, .."""
        return float(releases.bit_length())


def factorisation(mechanism: str, releases: int) -> Factorisation:
    """Return the factorisation of a name: `toeplitz` or `tree`."""
    return Tree() if mechanism == "tree" else Toeplitz(releases)
