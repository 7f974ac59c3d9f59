"""The fitted model: one parameter for all sites, or several around a common one where the log says that they differ.

Rows fall into groups, each of which has a parameter: the sites where these differ, parts of the time where rewards
change, the parts of the time of each site where both is so. Parameters are not known but up to their posterior, so that
what is simulated with them is simulated with several draws.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from fedbandit.advice.model.arrivals import Arrivals, arrivals_of
from fedbandit.advice.model.difference import NO_RANK, Difference, difference_of
from fedbandit.advice.model.effects import Posterior, Scales, posterior_of, scales_of
from fedbandit.advice.model.link import Link, link_of
from fedbandit.advice.model.sums import Sums, sums_of
from fedbandit.core.arrays import Floats, Ints
from fedbandit.core.errors import InvalidInput

LIKELY = 0.01  # the p value above which sites, or parts of the time, are taken to be alike
PARTS = 10  # of the time, with about as many rows each
FEWEST_PARTS, ROWS_A_PARAMETER = 3, 3  # fewer parts, or fewer rows in one, tell nothing of changes


@dataclass(frozen=True)
class Rows:
    """The decisions of a log as arrays; sites are numbered from 0, and each has at least one row."""

    site: Ints  # (T,)
    vectors: Floats  # (T, K, d)
    choice: Ints  # (T,)
    reward: Floats  # (T,)

    @property
    def sites(self) -> int:
        """Return the number of sites."""
        return int(self.site.max()) + 1

    @cached_property
    def arrivals(self) -> Arrivals:
        """Return who comes when."""
        return arrivals_of(self.site)

    @property
    def chosen(self) -> Floats:
        """Return the vectors of what was chosen (T, d)."""
        return self.vectors[np.arange(len(self.choice)), self.choice]

    @property
    def is_binary(self) -> bool:
        """Tell whether all rewards are 0 or 1."""
        return bool(np.isin(self.reward, (0.0, 1.0)).all())


@dataclass(frozen=True)
class FittedModel:
    """What the log says of rewards: mean x^T theta_i in group i, and noise."""

    difference: Difference  # between sites
    change: Difference  # between parts of the time
    group: Ints  # (T,): of each row
    scales: Scales
    posterior: Posterior
    link: Link | None  # where all rewards are 0 or 1: from what is expected to the chance of 1
    least_eigenvalue: float  # of the sum of x x^T over all choices: small where some direction was hardly tried

    @property
    def noise(self) -> float:
        """Return the standard deviation of rewards around their means."""
        return float(np.sqrt(self.scales.noise))

    @property
    def differs(self) -> bool:
        """Tell whether sites have parameters of their own."""
        return self.difference.p <= LIKELY and bool(self.scales.between.any())

    def draw(self, rng: np.random.Generator) -> Floats:
        """Draw the parameters of all groups (N, d)."""
        groups, dimension = self.posterior.pull.shape
        return self.posterior.draw(rng.standard_normal((groups + 1, dimension)))

    def means(self, rows: Rows, theta: Floats) -> Floats:
        """Return the mean reward of all arms (T, K) of the rows that it was fitted to, for parameters of each group."""
        found: Floats = (rows.vectors @ theta[self.group][:, :, np.newaxis])[:, :, 0]
        return found if self.link is None else self.link(found)

    def predicted(self, rows: Rows) -> Floats:
        """Return what is expected of the choices of the rows that it was fitted to (T,)."""
        return _expected(rows.chosen, self.group, self.posterior)


def fit(rows: Rows, sites: int | None = None, may_change: bool = True) -> FittedModel:
    """Fit the model to rows in the order of time.

    `sites` counts all sites, where some may have no row among these. Without `may_change` groups are the sites.
    """
    count = rows.sites if sites is None else sites
    chosen = rows.chosen
    with_constant = np.column_stack([np.ones(len(chosen)), chosen])
    difference = difference_of(sums_of(rows.site, with_constant, rows.reward, count))
    part = _parts(len(chosen), with_constant.shape[1]) if may_change else np.zeros(len(chosen), dtype=np.int64)
    change = difference_of(sums_of(part, with_constant, rows.reward, int(part.max()) + 1))
    group = rows.site
    if change.p <= LIKELY:
        _, group = np.unique(part + (PARTS * rows.site if difference.p <= LIKELY else 0), return_inverse=True)
        count = int(group.max()) + 1
    sums = sums_of(group, chosen, rows.reward, count)
    whole = sums.together()
    theta, noise = _least_squares(whole)
    if not theta.any() or noise == 0:
        raise InvalidInput(
            "the rewards of the log are all alike, or follow from the features without any noise, so there is nothing "
            "to learn by trying: give a log of rewards that vary"
        )
    shared = Scales(np.zeros(sums.dimension), noise, float(theta @ theta) / sums.dimension)
    is_one = min(difference.p, change.p) > LIKELY
    scales = shared if is_one else scales_of(sums, _start(sums, shared))
    posterior = posterior_of(sums, scales)
    expected = _expected(chosen, group, posterior)
    link = link_of(expected, rows.reward) if rows.is_binary else None
    return FittedModel(difference, change, group, scales, posterior, link, _least_tried(rows, whole))


def _expected(chosen: Floats, group: Ints, posterior: Posterior) -> Floats:
    """Return what is expected of the vectors of choices, each with the parameter of its group (T,)."""
    return np.asarray((chosen * posterior.expected()[group]).sum(axis=1))


def _parts(rows: int, parameters: int) -> Ints:
    """Return the part of the time of each row: one part where the rows are too few to see changes."""
    parts = min(PARTS, rows // (ROWS_A_PARAMETER * parameters))
    return np.arange(rows) * (parts if parts >= FEWEST_PARTS else 1) // rows


def _least_tried(rows: Rows, whole: Sums) -> float:
    """Return the least eigenvalue of the sum of x x^T over the choices, among directions that were on offer at all.

    Where features follow from others, as a feature does from all of its crosses with a category, no arm has a part in
    some directions, and nothing is to be learnt of them.
    """
    offered = rows.vectors.reshape(-1, whole.dimension)
    values, directions = np.linalg.eigh(offered.T @ offered)
    there = directions[:, values > NO_RANK * values[-1]]
    return float(np.linalg.eigvalsh(there.T @ whole.gram[0] @ there)[0])


def _least_squares(whole: Sums) -> tuple[Floats, float]:
    """Return the parameter of all rows together, and the variance of the noise, RSS / (n - d)."""
    gram, moment = whole.gram[0], whole.moment[0]
    theta: Floats = np.linalg.pinv(gram, rcond=1e-10, hermitian=True) @ moment
    missed = float(whole.square[0] - 2 * moment @ theta + theta @ gram @ theta)
    rows = int(whole.rows[0])
    if rows <= whole.dimension:
        raise InvalidInput(
            f"the log has {rows} rows with a reward for {whole.dimension} coordinates, so no model can be fitted to "
            "it: give more rows, or fewer features"
        )
    return theta, max(missed, 0.0) / (rows - whole.dimension)


def _start(sums: Sums, shared: Scales) -> Scales:
    """Return scales to begin with: groups differ as much as the coordinates of the common parameter do."""
    return Scales(np.full(sums.dimension, shared.prior), shared.noise, shared.prior)
