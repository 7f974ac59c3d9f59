"""Which setting to take: the tried ones side by side, and the best that the budget allows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.stats import t as student

from fedbandit.advice.trials import Candidate, Tried
from fedbandit.core.arrays import Floats

CLOSE = 1.1  # regret within 10 % of the best counts as good as the best
BAND = (5.0, 95.0)  # percentiles over draws


@dataclass(frozen=True)
class Point:
    """A setting on the frontier, over the drawn worlds."""

    candidate: Candidate
    regret: float
    regret_band: tuple[float, float]
    gain: float  # expected reward beyond that of every site alone
    gain_band: tuple[float, float]
    share: float  # of the gain that all raw data in one place would have brought
    bytes: float  # in the time of the log, without idle talk
    sure: float  # the share of draws in which its regret is within 10 % of the best that the budget allows
    draws: int


@dataclass(frozen=True)
class Choice:
    """The recommended setting, and whether it is any better than every site alone."""

    candidate: Candidate
    helps: bool
    gain: float
    gain_interval: tuple[float, float]  # 95 %, of the mean over draws


def points(tried: Tried, alone: Candidate, pooled: Candidate, allowed: float) -> list[Point]:
    """Return the frontier; `allowed` are the bytes of the budget in the time of the log."""
    without, _ = tried.of(alone)
    ideal, _ = tried.of(pooled)
    best = _field(tried, pooled, allowed).min(axis=0)
    return [
        Point(
            candidate, float(regret.mean()), band_of(regret),
            float((without - regret).mean()), band_of(without - regret),
            _part(float((without - regret).mean()), float((without - ideal).mean())), float(spent.mean()),
            float((regret <= CLOSE * best).mean()), len(regret),
        )
        for candidate in tried.candidates
        for regret, spent in (tried.of(candidate),)
    ]  # fmt: skip


def choose(tried: Tried, alone: Candidate, allowed: float) -> Choice:
    """Return the setting of least mean regret among those within the budget, or alone if none is surely better."""
    within = [each for each in tried.candidates if not each.is_pooled and tried.means(each)[1] <= allowed]
    best = min(within, key=tried.means)  # of equals the cheaper one
    gained = tried.of(alone)[0] - tried.of(best)[0]
    low, high = interval_of(gained)
    helps = best is not alone and low > 0
    return Choice(best if helps else alone, helps, float(gained.mean()), (low, high))


def best_few(tried: Tried, kept: Sequence[Candidate], count: int, allowed: float) -> list[Candidate]:
    """Return the best settings that the budget allows, or the cheapest where it allows too few; `kept` apart."""

    def rank(candidate: Candidate) -> tuple[bool, float, float]:
        regret, spent = tried.means(candidate)
        return (True, spent, regret) if spent > allowed else (False, regret, spent)

    return sorted((each for each in tried.candidates if each not in kept), key=rank)[:count]


def _field(tried: Tried, pooled: Candidate, allowed: float) -> Floats:
    """Return the regrets of all settings that may be recommended (settings, worlds)."""
    return np.array(
        [tried.of(each)[0] for each in tried.candidates if each != pooled and tried.means(each)[1] <= allowed]
    )


def band_of(values: Floats) -> tuple[float, float]:
    """Return between what nine of ten draws are."""
    low, high = np.percentile(values, BAND)
    return float(low), float(high)


def _part(gain: float, ideal: float) -> float:
    return gain / ideal if ideal > 0 else float("nan")


def interval_of(values: Floats) -> tuple[float, float]:
    """Return the 95 % interval of a mean (Student's)."""
    half = float(student.ppf(0.975, len(values) - 1) * values.std(ddof=1) / np.sqrt(len(values)))
    return float(values.mean()) - half, float(values.mean()) + half
