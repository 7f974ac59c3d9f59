"""All that a linear model needs to know of a log: sums over the chosen arms, by site."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from fedbandit.core.arrays import Floats, Ints


@dataclass(frozen=True)
class Sums:
    """Sums over the rows of each site, with x the vector of the chosen arm and r its reward."""

    gram: Floats  # (N, d, d): of x x^T
    moment: Floats  # (N, d): of x r
    square: Floats  # (N,): of r^2
    rows: Ints  # (N,)

    @property
    def sites(self) -> int:
        """Return the number of sites."""
        return len(self.rows)

    @property
    def dimension(self) -> int:
        """Return the length of x."""
        return int(self.moment.shape[1])

    def together(self) -> Sums:
        """Return the sums as if all sites were one."""
        return Sums(
            self.gram.sum(axis=0, keepdims=True), self.moment.sum(axis=0, keepdims=True),
            self.square.sum(keepdims=True), self.rows.sum(keepdims=True),
        )  # fmt: skip


def sums_of(site: Ints, chosen: Floats, reward: Floats, sites: int) -> Sums:
    """Return the sums of rows: their sites from 0 to `sites` - 1, the vectors of what was chosen, and the rewards.

    >>> sums = sums_of(np.array([0, 1, 1]), np.array([[1.0], [2.0], [3.0]]), np.array([1.0, 0.0, 2.0]), sites=2)
    >>> sums.gram.ravel(), sums.moment.ravel(), sums.square, sums.rows
    (array([ 1., 13.]), array([1., 6.]), array([1., 4.]), array([1, 2]))
    """
    gram, moment = np.zeros((sites, chosen.shape[1], chosen.shape[1])), np.zeros((sites, chosen.shape[1]))
    for each in range(sites):
        own = chosen[site == each]
        gram[each], moment[each] = own.T @ own, own.T @ reward[site == each]
    square: Floats = np.bincount(site, reward**2, sites).astype(np.float64)
    return Sums(gram, moment, square, np.bincount(site, minlength=sites))
