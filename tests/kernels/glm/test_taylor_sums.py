"""Near a centre the polynomial is the gradient of all losses, and what it leaves out is within its bound."""

from __future__ import annotations

import math
from itertools import combinations_with_replacement

import numpy as np
import pytest
from scipy.special import expit

from fedbandit.kernels.glm.kept_data import gradient_of_each, gram_of_each, is_full, keep, nothing_kept, with_more_room
from fedbandit.kernels.glm.links import IDENTITY, LOGISTIC, POISSON
from fedbandit.kernels.glm.taylor_sums import (
    ORDERS,
    add_up_to,
    begin_anew,
    gradient_near,
    largest_share,
    nothing_summed,
    rest,
    terms_of,
)

MEAN = {LOGISTIC: lambda z: 1.0 / (1.0 + np.exp(-z)), IDENTITY: lambda z: z, POISSON: np.exp}
COUNTS = (0, 5, 70)  # of three clients: none, less than is added at a time, more than a block


def observed(dimension, length=1.0, seed=0):
    rng = np.random.default_rng(seed)
    kept, arms, rewards = nothing_kept(len(COUNTS), dimension), [], []
    for client, count in enumerate(COUNTS):
        for _ in range(count):
            arm = rng.standard_normal(dimension)
            arms.append(length * arm / np.linalg.norm(arm))
            rewards.append(float(rng.random() < 0.5))
            while is_full(kept, client):
                kept = with_more_room(kept)
            keep(kept, client, arms[-1], rewards[-1])
    return kept, np.array(arms), np.array(rewards)


def summed(kept, link, centre, *stops):
    taylor = nothing_summed(len(COUNTS), len(centre), link)
    begin_anew(taylor, centre)
    for stop in stops or (kept.length,):
        add_up_to(taylor, kept, np.array(stop), link)
    return taylor


def derivative(link, k, z):
    """mu^(k)(z), by Cauchy's formula on a circle around z."""
    angle = 2.0 * np.pi * np.arange(64) / 64
    around = MEAN[link](z[:, np.newaxis] + 0.5 * np.exp(1j * angle))
    return math.factorial(k) * (around * np.exp(-1j * k * angle)).mean(axis=1).real / 0.5**k


@pytest.mark.parametrize("link", MEAN)
def test_every_sum_is_that_of_its_definition(link):
    kept, arms, rewards = observed(3)
    centre = np.array([0.5, -0.25, 0.125])
    taylor = summed(kept, link, centre)
    place = 1
    for degree in range(1, ORDERS[link] + 1):
        slopes = derivative(link, degree - 1, arms @ centre) - rewards * (degree == 1)
        for variables in combinations_with_replacement(range(3), degree):
            literal = (slopes * arms[:, variables].prod(axis=1)).sum()
            factorial = math.prod(math.factorial(variables.count(j)) for j in range(3))
            assert taylor.sums[place] == pytest.approx(literal, rel=1e-9, abs=1e-9), variables
            assert taylor.over[place] == pytest.approx(1.0 / factorial, rel=1e-15), variables
            place += 1
    assert place == taylor.sums.size == terms_of(link, 3)


@pytest.mark.parametrize("away", [0.0, 0.01, 0.1, 0.5, 1.0])
@pytest.mark.parametrize(("dimension", "length"), [(1, 1.0), (2, 3.0), (5, 1.0)])
@pytest.mark.parametrize("link", MEAN)
def test_the_gradient_is_that_of_a_pass_but_for_the_rest(link, dimension, length, away):
    kept, _, _ = observed(dimension, length)
    rng = np.random.default_rng(1)
    everyone, zeros = np.arange(len(COUNTS)), np.zeros(len(COUNTS), dtype=np.int64)
    gram = gram_of_each(kept, everyone, zeros, kept.length).sum(axis=0)
    for _ in range(4):
        centre, delta = rng.standard_normal((2, dimension)) / np.sqrt(dimension)
        delta *= away / np.linalg.norm(delta)
        taylor = summed(kept, link, centre)
        models = np.tile(centre + delta, (len(COUNTS), 1))
        wanted = gradient_of_each(kept, everyone, zeros, kept.length, models, link).sum(axis=0)
        left_out = np.linalg.norm(gradient_near(taylor, delta) - wanted)
        assert left_out <= rest(taylor, link, largest_share(link), gram, delta) + 1e-12 * max(1.0, abs(wanted).max())


def test_what_is_left_out_comes_near_to_its_bound():
    """All margins are 0, where the last derivative is largest: a smaller factor or a higher power would not do."""
    kept, _, _ = observed(1)
    taylor, delta = summed(kept, LOGISTIC, np.zeros(1)), np.array([0.2])
    everyone, zeros = np.arange(len(COUNTS)), np.zeros(len(COUNTS), dtype=np.int64)
    gram = gram_of_each(kept, everyone, zeros, kept.length).sum(axis=0)
    models = np.tile(delta, (len(COUNTS), 1))
    wanted = gradient_of_each(kept, everyone, zeros, kept.length, models, LOGISTIC).sum(axis=0)
    bound = rest(taylor, LOGISTIC, largest_share(LOGISTIC), gram, delta)
    assert 0.9 * bound < abs(gradient_near(taylor, delta) - wanted)[0] <= bound


@pytest.mark.parametrize("link", [LOGISTIC, IDENTITY])
def test_no_margin_has_a_steeper_last_derivative_than_the_largest(link):
    order = ORDERS[link]
    found = abs(derivative(link, order, np.linspace(-8, 8, 4001))).max() / math.factorial(order)
    assert found == pytest.approx(largest_share(link), rel=1e-5, abs=1e-12)


@pytest.mark.parametrize("link", MEAN)
def test_each_observation_is_added_once_in_however_many_steps(link):
    kept, _, _ = observed(2)
    centre = np.array([0.3, -0.6])
    bit_by_bit = summed(kept, link, centre, (0, 3, 1), (0, 3, 1), (0, 5, 13), (0, 2, 70))
    at_once = summed(kept, link, centre)
    np.testing.assert_allclose(bit_by_bit.sums, at_once.sums, rtol=1e-12, atol=1e-12)
    assert bit_by_bit.counted.tolist() == at_once.counted.tolist() == list(COUNTS)
    assert bit_by_bit.longest == at_once.longest


def test_the_means_of_the_test_are_those_of_the_links():
    np.testing.assert_allclose(MEAN[LOGISTIC](np.linspace(-3, 3, 7)), expit(np.linspace(-3, 3, 7)))
