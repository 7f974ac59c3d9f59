"""The decisions of a log, a row each, as arrays and columns."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Self

from fedbandit.core.arrays import Floats, Ints
from fedbandit.features.columns import Column
from fedbandit.logs.table import Columns


@dataclass(frozen=True)
class Decisions:
    """Past decisions in the order of their times."""

    site: Ints  # the number of the site
    sites: tuple[str, ...]  # their names
    time: Floats  # in seconds since 1970, or since another beginning; NaN where it is not known
    choice: Ints  # the place of the chosen arm among those on offer; of an unknown offer the number of its id
    reward: Floats
    propensity: Floats | None  # how likely the choice was, where the log knows
    row: Ints  # of the file, from 1
    context: Columns  # the columns that play no role
    arms: Mapping[str, Column]  # values of arms
    candidates: Ints | None  # (T, K): which rows of `arms` were on offer, -1 beyond the last; None: it is not known
    unrewarded: int = 0  # decisions that were left out because they have no reward
    unordered: int = 0  # rows that were earlier than the row before them; all are in order now
    first_unordered: int = 0  # the first of these; 0 if there is none
    explored: float | None = None  # the least share of uniform choices, where a site, which learns, wrote the log

    def __len__(self) -> int:
        """Return the number of decisions."""
        return len(self.reward)

    def take(self, places: Ints) -> Self:
        """Return some of the decisions."""
        return replace(
            self, site=self.site[places], time=self.time[places], choice=self.choice[places],
            reward=self.reward[places], propensity=None if self.propensity is None else self.propensity[places],
            row=self.row[places], context=self.context.take(places),
            candidates=None if self.candidates is None else self.candidates[places],
        )  # fmt: skip
