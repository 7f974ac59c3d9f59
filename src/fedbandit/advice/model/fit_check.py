"""Are rewards linear in the features? The model is fitted on the earlier rows and asked for the later ones."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from scipy.stats import chi2

from fedbandit.advice.model.fitted import Rows, fit
from fedbandit.core.arrays import Ints

EARLIER = 0.8  # the part of the rows, in the order of time, that the model is fitted on
GROUPS = 10
FEWEST = 10  # rows of a group
LEAST_DEVIATION = 0.2  # of a group, in deviations of the rewards: one of equal rewards would weigh without end
UNLIKELY, FAR = 0.01, 0.1  # a fit is bad where p is below the one and the largest gap above the other


@dataclass(frozen=True)
class FitCheck:
    """How far rewards of later rows are from what was expected, in ten groups by expectation."""

    p: float  # how likely gaps as large are if rewards are linear; nan where the rows are too few
    gap: float  # the largest of a group, in standard deviations of the rewards

    @property
    def is_bad(self) -> bool:
        """Tell whether rewards are not linear in the features, by so much that it matters."""
        return self.p < UNLIKELY and self.gap > FAR


def check_fit(rows: Rows) -> FitCheck:
    """Fit on the first 80 % of rows, and compare the rewards of the others with what is expected of them."""
    count = len(rows.reward)
    first = int(EARLIER * count)
    if count - first < GROUPS * FEWEST or first <= rows.vectors.shape[2]:
        return FitCheck(np.nan, np.nan)
    later = _take(rows, np.arange(first, count))
    theta = fit(_take(rows, np.arange(first)), rows.sites, may_change=False).posterior.expected()
    expected = (later.chosen * theta[later.site]).sum(axis=1)
    missed = later.reward - expected
    deviation = float(later.reward.std(ddof=1))
    if deviation == 0:
        return FitCheck(np.nan, np.nan)
    statistic, largest = 0.0, 0.0
    for group in np.array_split(np.argsort(expected, kind="stable"), GROUPS):
        gap = float(missed[group].mean())
        spread = max(float(missed[group].std(ddof=1)), LEAST_DEVIATION * deviation)
        statistic += len(group) * (gap / spread) ** 2
        largest = max(largest, abs(gap) / deviation)
    return FitCheck(float(chi2.sf(statistic, GROUPS)), largest)


def _take(rows: Rows, places: Ints) -> Rows:
    return replace(
        rows, site=rows.site[places], vectors=rows.vectors[places], choice=rows.choice[places],
        reward=rows.reward[places],
    )  # fmt: skip
