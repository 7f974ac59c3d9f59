"""Arrivals like those of a log: counts that luck explains are not repeated, and those that it does not are kept."""

import numpy as np
import pytest

from fedbandit.advice.model.arrivals import Rates, arrivals_of

TURNS = 2000


def log_of(shares, seed=0):
    """Return the sites of a log in which each turn is of a site by its share, and each site has a first row."""
    rng = np.random.default_rng(seed)
    site = rng.choice(len(shares), size=TURNS, p=np.array(shares) / np.sum(shares))
    site[: len(shares)] = np.arange(len(shares))
    return site


def counts(site, draws=40):
    """Return how often each site comes, in several draws (draws, sites)."""
    arrivals = arrivals_of(site)
    drawn = [site[arrivals.draw(np.random.default_rng(seed))] for seed in range(draws)]
    return np.array([np.bincount(each, minlength=site.max() + 1) for each in drawn])


def test_sites_that_come_alike_but_for_luck_come_alike():
    shares = np.ones(10)
    logged = [np.bincount(log_of(shares, seed)).std() for seed in range(20)]
    drawn = [counts(log_of(shares, seed), draws=5).std(axis=1).mean() for seed in range(20)]
    assert np.mean(drawn) == pytest.approx(np.mean(logged), rel=0.15)  # with the counts as rates it would be 1.4 times


def test_a_site_that_comes_more_often_than_luck_explains_does_so_again():
    site = log_of([8, 4, 2, 1, 1])
    assert counts(site).mean(axis=0) == pytest.approx(np.bincount(site), rel=0.06)


def test_rates_are_drawn_as_far_as_counts_leave_them_open():
    rates = Rates(np.array([100.0, 300.0]), np.array([200.0, 200.0]))
    variance = (2 * 100**2 - 400) / (2 * 200**2)
    assert rates.variance == pytest.approx([variance])
    shape, scale = 1 / variance + rates.count, 1 / (1 / variance + rates.expected)
    assert rates.mean == pytest.approx(shape * scale)
    drawn = np.array([rates.draw(np.random.default_rng(seed)) for seed in range(2000)])
    assert drawn.mean(axis=0) == pytest.approx(shape * scale, rel=0.01)
    assert drawn.std(axis=0) == pytest.approx(np.sqrt(shape) * scale, rel=0.1)


def test_counts_that_vary_less_than_luck_tell_of_no_difference():
    rates = Rates(np.array([99.0, 101.0]), np.array([100.0, 100.0]))
    assert rates.variance == 0
    assert (rates.mean == 1).all()
    assert (rates.draw(np.random.default_rng(0)) == 1).all()


def test_sites_begin_when_they_began():
    site = np.sort(log_of(np.ones(4)))
    _, first = np.unique(site, return_index=True)
    for seed in range(5):
        order = arrivals_of(site).draw(np.random.default_rng(seed))
        assert (order[first] == first).all()
        assert (np.unique(site[order], return_index=True)[1] == first).all()


def test_a_site_that_comes_in_a_part_of_the_time_does_so_again():
    rng = np.random.default_rng(0)
    site = np.where(np.arange(TURNS) < TURNS // 2, rng.integers(3, size=TURNS), rng.integers(1, 3, size=TURNS))
    order = arrivals_of(site).draw(np.random.default_rng(1))
    late = site[order][TURNS // 2 :]
    assert (late == 0).mean() < 0.02
    assert (site[order][: TURNS // 2] == 0).mean() == pytest.approx(1 / 3, abs=0.05)


def test_a_turn_is_a_row_of_its_tenth_of_the_time_if_the_site_has_one_there():
    site = log_of(np.ones(5))
    order = arrivals_of(site).draw(np.random.default_rng(0))
    assert (order * 10 // TURNS == np.arange(TURNS) * 10 // TURNS).all()
    rare = np.zeros(100, dtype=np.int64)
    rare[[3, 5, 90]] = 1  # the tenths between have none of it
    for seed in range(20):
        order = arrivals_of(rare).draw(np.random.default_rng(seed))
        for turn in np.flatnonzero(rare[order] == 1):
            assert order[turn] in ((3, 5) if turn < 50 else (90,) if turn >= 60 else (3, 5, 90))


def test_a_log_of_two_rows_has_no_luck():
    assert (arrivals_of(np.array([0, 1])).draw(np.random.default_rng(0)) == [0, 1]).all()
