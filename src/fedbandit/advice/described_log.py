"""What advice needs to know of a log: its rows as arrays, how long it is, and how large its numbers are."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from fedbandit.advice.model.fitted import Rows
from fedbandit.advice.trials import raw_bytes
from fedbandit.core.algorithm import Setting
from fedbandit.core.errors import InvalidInput
from fedbandit.core.seconds import DAY
from fedbandit.features.features import Features
from fedbandit.logs.log import Log


@dataclass(frozen=True)
class DescribedLog:
    """A log, its vectors, and its sizes."""

    rows: Rows
    sites: tuple[str, ...]  # their names; a site's number is its place here
    days: float
    features: Features | None

    @property
    def dimension(self) -> int:
        """Return the length of the vectors."""
        return int(self.rows.vectors.shape[2])

    @property
    def setting(self) -> Setting:
        """Return the sizes of a federation of these sites; all that is advised need no more of them."""
        return Setting(len(self.sites), arms=1, dimension=self.dimension, horizon=1)

    @property
    def largest_reward(self) -> float:
        """Return the largest reward of the log, by its absolute value."""
        return float(np.abs(self.rows.reward).max())

    @property
    def longest_vector(self) -> float:
        """Return how long a vector can be: 1 with features, which see to that; else the longest of the log."""
        if self.features is not None:
            return 1.0
        return float(np.sqrt((self.rows.vectors**2).sum(axis=2).max()))

    @property
    def raw_bytes(self) -> float:
        """Return what it would take to send the raw data of the log: a vector and a reward for each decision."""
        return raw_bytes(len(self), self.dimension)

    @property
    def whole_rounds(self) -> int:
        """Return how many of the decisions would be used if a round took one of every site."""
        return int(np.bincount(self.rows.site).min()) * self.rows.sites

    def __len__(self) -> int:
        """Return the number of decisions."""
        return len(self.rows.reward)


def describe(log: Log, features: Features | None) -> DescribedLog:
    """Encode a log; one of a single site, of unknown times, or whose arms share one context, is refused."""
    if features is not None and features.shares_context:
        raise InvalidInput("features have no [arm], and advice is for algorithms that compare arms: declare some")
    if (log.site == log.site[0]).all():
        only = log.sites[int(log.site[0])]
        raise InvalidInput(f"all {len(log)} rows of the log are of one site, {only!r}: a federation needs at least two")
    if np.isnan(log.time).any():
        raise InvalidInput("the log has no times, so bytes a day cannot be told: give the time of each decision")
    days = float(np.ptp(log.time)) / DAY
    if days == 0:
        raise InvalidInput("all decisions of the log have one time, so bytes a day cannot be told: give real times")
    _, site = np.unique(log.site, return_inverse=True)  # a site that was named and has no rows has no world
    rows = Rows(site, np.ascontiguousarray(log.encode(features)), log.choice, log.reward)
    return DescribedLog(rows, log.sites, days, features)
