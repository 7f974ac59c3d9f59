"""Which setting to take: the tried ones side by side, and the best that the budget allows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.stats import t as student

from fedbandit.advice.trials import Candidate, Tried
from fedbandit.core.arrays import Floats

CLOSE = 1.1  # regret within 10 % of the best counts as good as the best
NEARLY = 1.03  # regret for which one with steady bytes is preferred
STEADY = 0.1  # bytes are steady if nine of ten draws lie within this part of their mean
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
    rivals: tuple[Candidate, ...]  # settings perhaps so much better that `candidate` is not within 10 % of them


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
    """Return the setting to recommend among those within the budget, or alone if it is not surely better.

    It is the one of least mean regret whose bytes are steady, if its regret is nearly the least of all; if there is
    none such, of those with nearly the least the one whose bytes vary the least.
    """
    within = [each for each in tried.candidates if not each.is_pooled and tried.means(each)[1] <= allowed]
    best = min(within, key=tried.means)  # of equals the cheaper one
    if best is not alone:
        best = _steadiest([each for each in within if each is not alone], tried)
    gained = tried.of(alone)[0] - tried.of(best)[0]
    low, high = interval_of(gained)
    helps = best is not alone and low > 0
    advised = best if helps else alone
    return Choice(advised, helps, float(gained.mean()), (low, high), _rivals(advised, tried, allowed))


def _rivals(advised: Candidate, tried: Tried, allowed: float) -> tuple[Candidate, ...]:
    """Return the settings beside which the advised one is perhaps not close to the best, the best first.

    The 95 % interval of its mean regret less 1.1 times theirs holds a number above 0. Bytes are predicted to a tenth,
    so settings that take up to a tenth more than the budget count.
    """
    regret = tried.of(advised)[0]

    def may_win(other: Candidate) -> bool:
        return interval_of(regret - CLOSE * tried.of(other)[0])[1] > 0

    others = (each for each in tried.candidates if each != advised and not each.is_pooled)
    affordable = (each for each in others if tried.means(each)[1] <= (1 + STEADY) * allowed)
    return tuple(sorted(filter(may_win, affordable), key=tried.means))


def _steadiest(some: Sequence[Candidate], tried: Tried) -> Candidate:
    least = min(tried.means(each)[0] for each in some)
    nearly = [each for each in some if tried.means(each)[0] <= NEARLY * least]
    steady = [each for each in nearly if is_steady(tried.of(each)[1])]
    return min(steady, key=tried.means) if steady else min(nearly, key=lambda each: spread_of(tried.of(each)[1]))


def spread_of(bytes: Floats) -> float:
    """Return how far bytes are from their mean in nine of ten draws, as a share of it; 0 where nothing is sent.

    >>> spread_of(np.array([95.0, 100.0, 105.0]))
    0.045
    """
    mean = float(bytes.mean())
    return max(abs(each - mean) / mean for each in band_of(bytes)) if mean else 0.0


def is_steady(bytes: Floats) -> bool:
    """Tell whether bytes are near their mean, in nine of ten draws."""
    return spread_of(bytes) <= STEADY


def best_few(tried: Tried, kept: Sequence[Candidate], count: int, allowed: float) -> list[Candidate]:
    """Return the best settings that the budget allows, or the cheapest where it allows too few; `kept` apart."""

    def rank(candidate: Candidate) -> tuple[bool, float, float]:
        regret, spent = tried.means(candidate)
        return (True, spent, regret) if spent > allowed else (False, regret, spent)

    ranked = sorted((each for each in tried.candidates if each not in kept), key=rank)
    return distinct(ranked, tried)[:count]


def distinct(some: Sequence[Candidate], tried: Tried) -> list[Candidate]:
    """Return settings without those that did the same as one before: with rare uploads some thresholds never matter."""
    found: dict[tuple[float, float], Candidate] = {}
    for each in some:
        found.setdefault(tried.means(each), each)
    return list(found.values())


def _field(tried: Tried, pooled: Candidate, allowed: float) -> Floats:
    """Return the regrets of all settings that may be recommended (settings, worlds)."""
    return np.array(
        [tried.of(each)[0] for each in tried.candidates if each != pooled and tried.means(each)[1] <= allowed]
    )


def band_of(values: Floats) -> tuple[float, float]:
    """Return the 5th and the 95th percentile: nine of ten draws lie between them."""
    low, high = np.percentile(values, BAND)
    return float(low), float(high)


def _part(gain: float, ideal: float) -> float:
    return gain / ideal if ideal > 0 else float("nan")


def interval_of(values: Floats) -> tuple[float, float]:
    """Return the 95 % interval of a mean (Student's)."""
    half = float(student.ppf(0.975, len(values) - 1) * values.std(ddof=1) / np.sqrt(len(values)))
    return float(values.mean()) - half, float(values.mean()) + half
