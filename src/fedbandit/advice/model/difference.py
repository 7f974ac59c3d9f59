"""Do sites differ? The F test of one linear model for all of them against one for each."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.stats import f as f_distribution

from fedbandit.advice.model.sums import Sums
from fedbandit.core.arrays import Floats

NO_RANK = 1e-10  # eigenvalues below this part of the largest count as 0


@dataclass(frozen=True)
class Difference:
    """The F statistic with its degrees of freedom, and how likely as large a one is if sites do not differ."""

    f: float
    freedom: tuple[int, int]
    p: float

    @property
    def is_known(self) -> bool:
        """Tell whether there are more rows than the models of all sites have parameters."""
        return min(self.freedom) > 0


def difference_of(sums: Sums) -> Difference:
    """Test the sums of rows, whose vectors have a constant, for a difference between sites.

        F = ((RSS of one model - RSS of one a site) / (r_1 - r_0)) / (RSS of one a site / (n - r_1))

    with r_0 the rank of all rows together and r_1 the sum of the ranks by site. Where the rows are too few to tell, F
    is nan and p is 1: then one model is all that they can carry.
    """
    shared, shared_rank = _residuals(sums.together())
    own, own_rank = _residuals(sums)
    freedom = int(own_rank.sum() - shared_rank.sum()), int(sums.rows.sum() - own_rank.sum())
    if min(freedom) <= 0:
        return Difference(np.nan, freedom, 1.0)
    left = float(own.sum()) / freedom[1]
    f = float(shared.sum() - own.sum()) / freedom[0] / left if left > 0 else np.inf
    return Difference(f, freedom, float(f_distribution.sf(f, *freedom)))


def _residuals(sums: Sums) -> tuple[Floats, Floats]:
    """Return the residual sum of squares of the least squares fit of each site, and its rank."""
    values, vectors = np.linalg.eigh(sums.gram)
    is_there = values > NO_RANK * values.max(axis=1, keepdims=True, initial=0.0)
    inverse = np.divide(1.0, values, out=np.zeros_like(values), where=is_there)
    along = np.einsum("nij,ni->nj", vectors, sums.moment)
    return np.maximum(sums.square - (along**2 * inverse).sum(axis=1), 0.0), is_there.sum(axis=1)
