"""Whose turn it is."""

import numpy as np
import pytest
from scipy import stats

from fedbandit.environments.arrivals import ARRIVALS, Arrivals


def drawn(kind, count, clients=10, skew=1.0, seed=0):
    return Arrivals(kind, clients, skew).next(np.random.default_rng(seed), count)


def test_round_robin_visits_all_in_order_for_ever():
    assert drawn("round-robin", 25, clients=10).tolist() == [*range(10), *range(10), *range(5)]


@pytest.mark.parametrize("kind", ARRIVALS)
@pytest.mark.parametrize("clients", [1, 3, 1000])
def test_however_turns_are_cut_into_blocks_the_clients_are_the_same(kind, clients):
    whole = drawn(kind, 200, clients)
    arrivals, rng = Arrivals(kind, clients, 1.0), np.random.default_rng(0)
    parts = [arrivals.next(rng, count) for count in (1, 7, 0, 92, 100)]
    assert np.concatenate(parts).tolist() == whole.tolist()
    assert whole.dtype == np.int64
    assert set(whole.tolist()) <= set(range(clients))


def test_uniform_arrivals_are_uniform():
    counts = np.bincount(drawn("uniform", 20_000), minlength=10)
    assert stats.chisquare(counts).pvalue > 1e-4


@pytest.mark.parametrize("skew", [0.5, 1.0, 2.0])
def test_skewed_arrivals_follow_zipf(skew):
    counts = np.bincount(drawn("skewed", 20_000, skew=skew), minlength=10)
    weights = np.array([1 / rank**skew for rank in range(1, 11)])
    assert stats.chisquare(counts, 20_000 * weights / weights.sum()).pvalue > 1e-4
    uniform = np.full(10, 2_000)
    assert stats.chisquare(counts, uniform).pvalue < 1e-9, "the test can tell skewed from uniform"


def test_no_skew_is_uniform():
    counts = np.bincount(drawn("skewed", 20_000, skew=0.0), minlength=10)
    assert stats.chisquare(counts).pvalue > 1e-4
