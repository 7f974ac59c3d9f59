"""A membership audit: an attacker who knows all but one observation tells two possible ones apart as well as promised.

Two neighbours as far apart as any, in the first batch of a stream; the attacker sees all releases, undoes the left
factor, and projects on the direction in which they differ. A lower bound of the epsilon that the tries show, sure to
99%, is below the claim, and above it where half of the noise is left out: the audit can fail.
"""

import math

import numpy as np
import pytest
from scipy.stats import beta

from algorithms.linear.planted_private import HalfTheNoise, NoColumnNorm
from fedbandit.kernels.privacy.gaussian import epsilon_for
from fedbandit.kernels.privacy.noised_sums import NoisedSums
from reference.private import factors, phi

DELTA, RELEASES, SURE = 1e-5, 4, 0.99
FIRST = np.array([1.0, 0.0]), 1.0
SECOND = np.array([0.5, math.sqrt(0.75)]), -1.0


def statistics(claimed, runs, bug=NoisedSums, resends=1, mechanism="toeplitz"):
    """What the attacker computes in each run of the mechanism: one column for each of the two neighbours."""
    sums = bug(mechanism, RELEASES, 2, epsilon=claimed, delta=DELTA)
    left, right = factors(mechanism, RELEASES)
    away = phi(*SECOND) - phi(*FIRST)
    rows, columns = np.triu_indices(2)
    scale = np.where(rows == columns, 1.0, math.sqrt(2))
    rng, undo = np.random.default_rng(4), np.linalg.inv(left)
    found = np.empty((runs // 2, 2))
    for which, (arm, reward) in enumerate((FIRST, SECOND)):
        gram, moment = sums.products(arm, reward)
        for run in range(runs // 2):
            seen = np.zeros((RELEASES, sums.size))
            for _ in range(resends):
                normals = rng.standard_normal((RELEASES, sums.size))
                for k in range(RELEASES):
                    more, other = sums.noise(k + 1, normals)
                    seen[k, :3] += (gram + more)[rows, columns] * scale
                    seen[k, 3:] += moment + other
            found[run, which] = right[:, 0] @ undo @ (seen / resends) @ away
    return found


def shown_by_counts(found):
    """A lower bound without any assumption: how often a threshold is passed (Clopper and Pearson)."""
    low, high = found[:, 0], found[:, 1]
    half = len(found) // 2
    least, most = np.quantile(low, 0.5), np.quantile(high, 0.999)
    best = max(np.linspace(least, most, 60), key=lambda at: _ratio(low[:half], high[:half], at))
    return max(0.0, _ratio(low[half:], high[half:], best))


def _ratio(low, high, at):
    tries, level = len(low), (1 - SURE) / 2
    caught, wrong = int((high > at).sum()), int((low > at).sum())
    rightly = beta.ppf(level, caught, tries - caught + 1) if caught else 0.0
    wrongly = beta.ppf(1 - level, wrong + 1, tries - wrong)
    return math.log(max(rightly - DELTA, 1e-300) / wrongly)


def shown_by_moments(found):
    """A lower bound for normal statistics: how many deviations the means are apart."""
    low, high = found[:, 0], found[:, 1]
    deviation = math.sqrt((low.var() + high.var()) / 2)
    apart = (high.mean() - low.mean()) / deviation - 2.33 * math.sqrt(2 / len(found))
    return epsilon_for(max(0.0, apart), DELTA)


FEW = 6_000


def test_few_runs_show_no_more_than_is_claimed():
    assert 0.6 < shown_by_moments(statistics(1.0, FEW)) < 1.0
    assert 3.0 < shown_by_moments(statistics(4.0, FEW, mechanism="tree")) < 4.0


@pytest.mark.parametrize("bug", [HalfTheNoise, NoColumnNorm])
def test_few_runs_show_that_noise_is_missing(bug):
    assert shown_by_moments(statistics(1.0, FEW, bug)) > 1.0


def test_few_runs_show_new_noise_on_what_is_sent_again():
    assert shown_by_moments(statistics(1.0, FEW // 4, resends=4)) > 1.0


@pytest.mark.slow
@pytest.mark.parametrize("claimed", [1.0, 4.0])
def test_four_hundred_thousand_runs_show_no_more_than_is_claimed(claimed):
    found = statistics(claimed, 400_000)
    assert 0.4 * claimed < shown_by_counts(found) < claimed
    assert 0.95 * claimed < shown_by_moments(found) < claimed


@pytest.mark.slow
def test_four_hundred_thousand_runs_show_that_half_of_the_noise_is_missing():
    found = statistics(1.0, 400_000, HalfTheNoise)
    assert shown_by_counts(found) > 1.0
    assert shown_by_moments(found) > 2.0


def main():
    """Print what 400,000 runs show."""
    print("| mechanism | claimed | shown by counts | shown by moments |")
    print("| --- | --- | --- | --- |")
    cases = [("as it is", 1.0, NoisedSums), ("as it is", 4.0, NoisedSums), ("half of the noise", 1.0, HalfTheNoise)]
    for name, claimed, kind in [*cases, ("no column norm", 1.0, NoColumnNorm)]:
        found = statistics(claimed, 400_000, kind)
        print(f"| {name} | {claimed:g} | {shown_by_counts(found):.2f} | {shown_by_moments(found):.3f} |", flush=True)


if __name__ == "__main__":
    main()
