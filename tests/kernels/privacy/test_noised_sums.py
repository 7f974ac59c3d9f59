"""Factors, sensitivity and noise of running sums: literal versions, the specification's figures, the worst pair."""

import math

import numpy as np
import pytest
from scipy.optimize import minimize

from fedbandit.kernels.privacy.noised_sums import GRAIN, NoisedSums, sensitivity
from fedbandit.kernels.privacy.prefix_sums import factorisation
from reference.private import factors, phi

MECHANISMS = ("toeplitz", "tree")
COLUMN = {1: (1, 1), 4: (1.219951331, 1.732050808), 16: (1.394230557, 2.236067977), 64: (1.545589890, 2.645751311)}
COLUMN |= {100: (1.591022348, 2.645751311), 1024: (1.809020218, 3.316624790)}
WORST = {1: (1, 1), 4: (1.488, 2.449), 16: (1.944, 4.472), 64: (2.389, 6.481), 100: (2.531, 6.481)}
WORST |= {1024: (3.273, 10.488)}


@pytest.mark.parametrize("releases", [1, 2, 3, 5, 16, 37])
@pytest.mark.parametrize("mechanism", MECHANISMS)
def test_factors_are_those_of_the_literal_matrices(mechanism, releases):
    left, right = factors(mechanism, releases)
    found = factorisation(mechanism, releases)
    np.testing.assert_allclose(left @ right, np.tri(releases), atol=1e-12)
    for k in range(1, releases + 1):
        weights = found.weights(k)
        np.testing.assert_allclose(weights, left[k - 1, : len(weights)], atol=1e-12)
        assert not left[k - 1, len(weights) :].any()
        assert found.variance(k) == pytest.approx(sum(left[k - 1] ** 2))
        assert found.exposure(k) == pytest.approx((right[:k] ** 2).sum(axis=0).max())
    assert found.variance(0) == found.exposure(0) == 0.0


@pytest.mark.parametrize("releases", COLUMN)
@pytest.mark.parametrize("mechanism", MECHANISMS)
def test_norms_are_the_published_ones(mechanism, releases):
    found, which = factorisation(mechanism, releases), MECHANISMS.index(mechanism)
    column = math.sqrt(found.exposure(releases))
    worst = max(math.sqrt(found.variance(k)) for k in range(1, releases + 1))
    assert column == pytest.approx(COLUMN[releases][which], abs=5e-10)
    assert column * worst == pytest.approx(WORST[releases][which], abs=6e-4)


@pytest.mark.parametrize(
    ("epsilon", "releases", "expected"),
    [(1, 16, (12.494982, 20.039461)), (1, 64, (13.851452, 23.711010)), (4, 64, (3.913189, 6.698623))],
)
def test_the_deviation_of_the_noise_is_the_published_one(epsilon, releases, expected):
    made = [NoisedSums(each, releases, 5, epsilon=epsilon, delta=1e-6).deviation for each in MECHANISMS]
    assert made == pytest.approx(expected, abs=6e-7)


@pytest.mark.parametrize(("length", "reward"), [(1.0, 1.0), (2.0, 0.5), (1.0, 3.0)])
def test_no_pair_of_observations_is_farther_apart_than_the_sensitivity_and_one_is_as_far(length, reward):
    size, bound = 3, {"length": length, "reward": reward}

    def distance(parts):
        first, second = parts[:size], parts[size : 2 * size]
        first, second = (length * x / max(1.0, np.linalg.norm(x)) for x in (first, second))
        scale = length / reward
        pair = [
            (np.outer(x, x), scale * x * reward * np.tanh(y)) for x, y in zip((first, second), parts[-2:], strict=True)
        ]
        return math.sqrt(sum(((a - b) ** 2).sum() for a, b in zip(*pair, strict=True)))

    rng = np.random.default_rng(0)
    found = max(-minimize(lambda parts: -distance(parts), rng.normal(size=2 * size + 2)).fun for _ in range(10))
    most = sensitivity(size, length, reward)
    assert found <= most
    assert found == pytest.approx(most, rel=1e-3)
    x, other = length * np.array([1.0, 0.0, 0.0]), length * np.array([0.5, math.sqrt(0.75), 0.0])
    worst = np.linalg.norm(phi(x, reward, **bound) - phi(other, -reward, **bound))
    assert worst == pytest.approx(1.5 * math.sqrt(2) * length**2, abs=1e-5)


def test_a_reward_beyond_its_bound_counts_as_the_bound():
    sums = NoisedSums("toeplitz", 4, 2, epsilon=1.0, delta=1e-6, reward_bound=0.5)
    arm = np.array([0.6, 0.8])
    np.testing.assert_array_equal(sums.products(arm, 7.0)[1], sums.products(arm, 0.5)[1])
    np.testing.assert_array_equal(sums.products(arm, -7.0)[1], sums.products(arm, -0.5)[1])


@pytest.mark.parametrize("mechanism", MECHANISMS)
def test_noise_is_symmetric_on_the_grid_and_as_large_as_it_says(mechanism):
    sums = NoisedSums(mechanism, 8, 3, epsilon=1.0, delta=1e-6, context_bound=2.0)
    normals = np.random.default_rng(1).standard_normal((4000, 8, sums.size))
    made = [sums.noise(7, each) for each in normals]
    gram, moment = np.array([each[0] for each in made]), np.array([each[1] for each in made])
    assert (gram == gram.transpose(0, 2, 1)).all()
    assert (np.rint(gram / GRAIN) * GRAIN == gram).all()
    assert (np.rint(moment / GRAIN) * GRAIN == moment).all()
    deviation = math.sqrt(sums.variance(7))
    assert gram[:, 1, 1].std() == pytest.approx(deviation, rel=0.05)
    assert gram[:, 0, 2].std() == pytest.approx(deviation / math.sqrt(2), rel=0.05)
    assert moment.std() == pytest.approx(deviation / 2.0, rel=0.05)


@pytest.mark.parametrize("mechanism", MECHANISMS)
def test_what_is_spent_grows_with_each_release_to_what_was_promised(mechanism):
    sums = NoisedSums(mechanism, 16, 3, epsilon=2.0, delta=1e-6)
    _, right = factors(mechanism, 16)
    longest = (right**2).sum(axis=0).max()
    for k in range(17):
        share = (right[:k] ** 2).sum(axis=0).max(initial=0.0) / longest
        assert sums.spent_mu(k) == pytest.approx(sums.mu * math.sqrt(share))
    spent = [sums.spent(k) for k in range(17)]
    assert spent == sorted(spent)
    assert (spent[0], spent[16]) == (0.0, pytest.approx(2.0))
