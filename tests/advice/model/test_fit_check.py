"""Whether rewards are linear in the features, asked of the later rows."""

import numpy as np
import pytest
from scipy.stats import chi2

from fedbandit.advice.model.fit_check import check_fit
from fedbandit.advice.model.fitted import Rows, fit


def made(curve, seed=0, count=2000, noise=0.1):
    rng = np.random.default_rng(seed)
    vectors = np.concatenate([np.ones((count, 2, 1)), rng.uniform(-1, 1, (count, 2, 1))], axis=2)
    choice = rng.integers(2, size=count)
    mean = curve(vectors[np.arange(count), choice, 1])
    return Rows(rng.integers(3, size=count), vectors, choice, mean + noise * rng.standard_normal(count))


def literal(rows):
    """Ten groups of the last fifth, each compared with what a fit of the others expects."""
    first = int(0.8 * len(rows.reward))
    early = Rows(*(each[:first] for each in (rows.site, rows.vectors, rows.choice, rows.reward)))
    theta = fit(early).posterior.expected()
    later = sorted(
        (float(rows.vectors[t, rows.choice[t]] @ theta[rows.site[t]]), rows.reward[t])
        for t in range(first, len(rows.reward))
    )
    deviation = np.std([reward for _, reward in later], ddof=1)
    total, gaps = 0.0, []
    for group in np.array_split(np.array(later), 10):
        missed = group[:, 1] - group[:, 0]
        gaps.append(abs(missed.mean()))
        total += len(group) * (missed.mean() / max(missed.std(ddof=1), 0.2 * deviation)) ** 2
    return chi2.sf(total, 10), max(gaps) / deviation


@pytest.mark.parametrize("curve", [lambda x: 0.5 + 0.3 * x, lambda x: np.sin(4 * x)])
def test_the_check_is_the_literal_one(curve):
    rows = made(curve)
    found = check_fit(rows)
    assert (found.p, found.gap) == pytest.approx(literal(rows))


def test_linear_rewards_fit():
    wrong = sum(check_fit(made(lambda x: 0.5 + 0.3 * x, seed)).p < 0.01 for seed in range(40))
    assert wrong <= 3
    assert not check_fit(made(lambda x: 0.5 + 0.3 * x)).is_bad


def test_bent_rewards_do_not_fit():
    assert check_fit(made(lambda x: x**2)).is_bad


def test_a_small_bend_in_many_rows_is_likely_and_does_not_matter():
    found = check_fit(made(lambda x: x + 0.05 * x**2, count=200_000))
    assert found.p < 0.01
    assert not found.is_bad


def test_too_few_rows_are_not_judged():
    found = check_fit(made(lambda x: x**2, count=300))
    assert np.isnan(found.p)
    assert not found.is_bad
