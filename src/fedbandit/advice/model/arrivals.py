"""Who comes when: arrivals like those of a log, of which one log shows one outcome.

A site that came 160 times where others came 140 times may be busier, or it had luck. How many turns a site has decides
when it sends, so worlds that repeat the counts of the log repeat its luck. Counts are taken as Poisson, and rates of
sites, and of each site in tenths of the time, as gamma, whose variance is what counts vary more than luck would:

    count ~ Poisson(expected * rate),   rate ~ Gamma with mean 1 and variance v,
    rate given the count ~ Gamma(1/v + count, 1/v + expected)
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.stats import chi2

from fedbandit.core.arrays import Floats, Ints

TENTHS = 10
LIKELY = 0.01  # the p value above which rates are taken to be equal


@dataclass(frozen=True)
class Rates:
    """Rates relative to those expected, as far as counts tell."""

    count: Floats
    expected: Floats  # with rates that are all equal; of the shape of the counts

    @cached_property
    def variance(self) -> Floats:
        """Return by how much rates vary along the last axis: what counts vary more than Poisson ones would.

        It is 0 where a chi-square test does not tell them from Poisson ones with equal rates.
        """
        missed, known = (self.count - self.expected) ** 2, np.maximum(self.expected, 1e-12)
        p = chi2.sf((missed / known).sum(axis=-1, keepdims=True), self.count.shape[-1] - 1)
        beyond = (missed - self.expected).sum(axis=-1, keepdims=True) / (known**2).sum(axis=-1, keepdims=True)
        return np.where((p <= LIKELY) & (beyond > 0), beyond, 0.0)

    @property
    def mean(self) -> Floats:
        """Return the mean of each rate, given the counts."""
        return np.asarray((1 + self.variance * self.count) / (1 + self.variance * self.expected))

    def draw(self, rng: np.random.Generator) -> Floats:
        """Draw rates given the counts; those that do not vary are 1."""
        vary = np.maximum(self.variance, 1e-12)
        drawn = rng.gamma(1 / vary + self.count) / (1 / vary + self.expected)
        return np.where(self.variance > 0, drawn, 1.0)


@dataclass(frozen=True)
class Arrivals:
    """The arrivals of a log: when each site begins, and how often it comes from then on."""

    site: Ints  # (T,): of each row
    first: Ints  # (N,): the first row of each site, which stays in its place: that a site begins is no matter of luck
    among: Rates  # (N,): of the sites
    within: Rates  # (N, tenths): of each site in each tenth of the time

    def draw(self, rng: np.random.Generator) -> Ints:
        """Return rows of the log as turns (T,): sites come by rates that are drawn, each row is of the same tenth.

        A site that had no row in a tenth has those of the nearest tenth in which it had some.
        """
        rate = self.among.draw(rng)[:, np.newaxis] * self.within.draw(rng)
        found = np.arange(len(self.site))
        tenth = _tenth(len(self.site))
        is_first = np.isin(found, self.first)
        for each in range(TENTHS):
            turns = np.flatnonzero((tenth == each) & ~is_first)
            chance = np.where(self.first[:, np.newaxis] < turns, rate[:, each, np.newaxis], 0.0).cumsum(axis=0)
            drawn = (rng.random(len(turns)) * chance[-1] >= chance).sum(axis=0)
            for site in np.unique(drawn):
                own = self._rows[site]
                far = np.abs(tenth[own] - each)
                some = turns[drawn == site]
                found[some] = rng.choice(own[far == far.min()], len(some))
        return found

    @cached_property
    def _rows(self) -> list[Ints]:
        """Return the rows of each site."""
        return np.split(np.argsort(self.site, kind="stable"), np.bincount(self.site).cumsum()[:-1])


def arrivals_of(site: Ints) -> Arrivals:
    """Return the arrivals of rows in the order of time; each site has at least one."""
    _, first = np.unique(site, return_index=True)
    tenth, is_first = _tenth(len(site)), np.isin(np.arange(len(site)), first)
    count = np.zeros((len(first), TENTHS))
    np.add.at(count, (site[~is_first], tenth[~is_first]), 1)
    begun = is_first.cumsum()
    until = np.concatenate([[0.0], np.where(is_first, 0.0, 1 / begun).cumsum()])  # of a site that began, at equal rates
    ends = np.searchsorted(tenth, np.arange(TENTHS + 1))
    since = np.clip(first[:, np.newaxis] + 1, ends[:-1], ends[1:])
    expected = until[ends[1:]] - until[since]
    among = Rates(count.sum(axis=1), expected.sum(axis=1))
    usual = among.mean[:, np.newaxis] * expected
    return Arrivals(site, first, among, Rates(count, usual * count.sum(axis=0) / np.maximum(usual.sum(axis=0), 1e-9)))


def _tenth(rows: int) -> Ints:
    return np.arange(rows) * TENTHS // rows
