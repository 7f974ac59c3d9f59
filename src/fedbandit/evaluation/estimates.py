"""Estimators of the mean reward of a policy, from sums over rows that another one has decided.

    ips    mean of w r
    snips  sum of w r / sum of w
    dm     mean of sum_k pi_k q_k
    dr     mean of sum_k pi_k q_k + w (r - q_a)

with weights w, chances pi and a model q as in `terms`. ips and dr are unbiased where the propensities are right. dm is
as good as its model, and its error is not known.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from fedbandit.evaluation.sums import Sums


@dataclass(frozen=True)
class Estimates:
    """Estimates with their standard errors, and how much the rows say about the policy."""

    rows: int
    ips: float
    ips_error: float
    snips: float
    snips_error: float
    dm: float
    dr: float
    dr_error: float
    effective: float  # rows of the policy's own that would say as much
    mean_weight: float  # 1, up to its error, where the propensities are those of the choices
    mean_weight_error: float
    largest_weight: float
    carriers: float  # rows of the largest weight whose squares add up to those of all: so few may carry the estimate
    matched: float  # the share of rows whose choice the policy might have made
    logged: float  # the mean reward of the log

    def interval(self, name: str) -> tuple[float, float]:
        """Return the ends of the 95 % interval of `ips`, `snips` or `dr`."""
        middle, error = getattr(self, name), getattr(self, f"{name}_error")
        return middle - 1.96 * error, middle + 1.96 * error


def estimates_of(sums: Sums) -> Estimates:
    """Return the estimates of rows by their sums.

    >>> estimates_of(Sums(rows=4, w=4.0, ww=4.0, wr=4.0, wwr=4.0, wwrr=4.0, r=4.0, rr=4.0)).effective
    4.0
    """
    rows = sums.rows
    snips = sums.wr / sums.w if sums.w else math.nan
    missed = max(0.0, sums.wwrr - 2 * snips * sums.wwr + snips**2 * sums.ww)  # sum of w^2 (r - snips)^2
    return Estimates(
        rows=rows,
        ips=sums.wr / rows, ips_error=_error(rows, sums.wr, sums.wwrr),
        snips=snips, snips_error=math.sqrt(missed) / sums.w if sums.w else math.nan,
        dm=sums.m / rows, dr=sums.d / rows, dr_error=_error(rows, sums.d, sums.dd),
        effective=sums.w**2 / sums.ww if sums.w else 0.0, mean_weight=sums.w / rows,
        mean_weight_error=_error(rows, sums.w, sums.ww), largest_weight=sums.largest,
        carriers=sums.ww / sums.largest**2 if sums.largest else 0.0, matched=sums.matched / rows,
        logged=sums.r / rows,
    )  # fmt: skip


def _error(rows: int, total: float, squares: float) -> float:
    """Return the standard error of a mean, by the sum of values and that of their squares."""
    return math.sqrt(variance(rows, total, squares) / rows) if rows > 1 else math.nan


def variance(rows: int, total: float, squares: float) -> float:
    """Return the variance of values (with n - 1), by their sum and that of their squares.

    >>> variance(3, 6.0, 14.0)
    1.0
    """
    return max(0.0, squares - total**2 / rows) / (rows - 1)
