"""Which of the tried settings is recommended, and how sure that is."""

import numpy as np
import pytest

from fedbandit.advice.frontier import best_few, choose, points
from fedbandit.advice.trials import Candidate, Tried, alone, pooled
from fedbandit.core.algorithm import algorithms

ALONE, POOLED = alone(0.1), pooled(0.1)


def setting(number):
    return Candidate("lean-linucb", "", algorithms["lean-linucb"].from_values({"upload_threshold": 1.0 + number}))


ONE, TWO, THREE = setting(1), setting(2), setting(3)


def tried(**regrets):
    """Regrets in four worlds; ONE sends 100 bytes, TWO 50, THREE 200."""
    known = {"one": ONE, "two": TWO, "three": THREE, "alone": ALONE, "pooled": POOLED}
    sent = {"one": 100, "two": 50, "three": 200, "alone": 0, "pooled": 1000}
    spent = [[sent[name]] * len(each) for name, each in regrets.items()]
    return Tried([known[name] for name in regrets], np.array(list(regrets.values()), float), np.array(spent, float))


WELL = {
    "one": [10, 12, 11, 10], "two": [11, 9, 14, 12], "three": [5, 6, 5, 6], "alone": [30, 31, 33, 30],
    "pooled": [5, 5, 5, 5],
}  # fmt: skip


def test_the_least_regret_within_the_budget_is_recommended():
    assert choose(tried(**WELL), ALONE, allowed=100).candidate == ONE
    assert choose(tried(**WELL), ALONE, allowed=99).candidate == TWO
    assert choose(tried(**WELL), ALONE, allowed=200).candidate == THREE


def test_of_equals_the_cheaper_is_recommended():
    same = tried(**{**WELL, "one": WELL["two"]})
    assert choose(same, ALONE, allowed=100).candidate == TWO
    assert best_few(same, (ALONE, POOLED), 1, allowed=100) == [TWO]


def with_bytes(found, **bytes):
    places = {"one": ONE, "two": TWO, "three": THREE}
    for name, spent in bytes.items():
        found.bytes[found.candidates.index(places[name])] = spent
    return found


def test_of_nearly_equal_regrets_the_one_with_steady_bytes_is_recommended():
    jumps = [50, 150, 50, 50]
    near = {**WELL, "two": [10.3, 12.3, 11.3, 10.3]}  # 2.8 % more than ONE
    assert choose(with_bytes(tried(**near), one=jumps), ALONE, allowed=100).candidate == TWO
    assert choose(with_bytes(tried(**near), one=jumps, two=[50, 50, 50, 80]), ALONE, allowed=100).candidate == TWO
    assert choose(with_bytes(tried(**near), one=jumps, two=[10, 150, 10, 10]), ALONE, allowed=100).candidate == ONE
    assert choose(with_bytes(tried(**near), one=[95, 105, 95, 105]), ALONE, allowed=100).candidate == ONE
    farther = {**near, "two": [10.4, 12.4, 11.4, 10.4]}  # 3.7 %
    assert choose(with_bytes(tried(**farther), one=jumps), ALONE, allowed=100).candidate == ONE


def test_every_site_alone_is_not_preferred_for_its_steady_bytes():
    alone = [10.3, 12.3, 11.3, 10.3]
    found = choose(with_bytes(tried(**{**WELL, "alone": alone}), one=[50, 150, 50, 50]), ALONE, allowed=100)
    assert found.candidate == ONE
    assert found.helps


def test_a_rival_may_have_a_regret_lower_by_more_than_a_tenth():
    assert choose(tried(**WELL), ALONE, allowed=100).rivals == (TWO,)  # it has 9 in the second world
    worse = {**WELL, "two": [13, 14, 14, 13]}
    assert choose(tried(**worse), ALONE, allowed=100).rivals == ()
    assert choose(tried(**worse), ALONE, allowed=181).rivals == ()
    assert choose(tried(**worse), ALONE, allowed=182).rivals == (THREE,)  # not within the budget, but within 1.1 of it


def test_raw_data_in_one_place_is_never_recommended():
    assert choose(tried(**WELL), ALONE, allowed=1e9).candidate == THREE


def test_without_any_within_the_budget_sites_stay_alone():
    found = choose(tried(**WELL), ALONE, allowed=10)
    assert found.candidate == ALONE
    assert not found.helps


def test_a_gain_that_may_be_none_does_not_help():
    found = choose(tried(**{**WELL, "alone": [10, 20, 8, 9]}), ALONE, allowed=100)
    assert found.candidate == ALONE
    assert not found.helps
    low, high = found.gain_interval
    assert low < 0 < found.gain < high
    gains = np.array([0, 8, -3, -1])
    half = 3.182446305284263 * gains.std(ddof=1) / 2  # Student's with 3 degrees of freedom
    assert (low, high) == pytest.approx((gains.mean() - half, gains.mean() + half))


def test_the_frontier_has_gains_over_alone_in_the_same_worlds():
    found = {each.candidate: each for each in points(tried(**WELL), ALONE, POOLED, allowed=100)}
    gains = np.array([20, 19, 22, 20])
    assert found[ONE].gain == gains.mean()
    assert found[ONE].gain_band == pytest.approx(tuple(np.percentile(gains, [5, 95])))
    assert found[ONE].share == pytest.approx(gains.mean() / np.mean([25, 26, 28, 25]))
    assert found[ALONE].gain == 0
    assert found[POOLED].share == 1


def test_sure_is_the_share_of_draws_in_which_it_is_nearly_the_best_that_the_budget_allows():
    found = {each.candidate: each for each in points(tried(**WELL), ALONE, POOLED, allowed=100)}
    assert found[ONE].sure == 3 / 4  # not in the second world, where 9 is the best
    assert found[TWO].sure == 2 / 4  # 11 <= 1.1 * 10 and 9
    assert found[ALONE].sure == 0


def test_the_best_few_are_within_the_budget_if_there_are_enough():
    assert best_few(tried(**WELL), (ALONE, POOLED), 2, allowed=100) == [ONE, TWO]
    assert best_few(tried(**WELL), (ALONE, POOLED), 3, allowed=99) == [TWO, ONE, THREE]  # then the cheaper ones


def test_of_the_best_few_each_did_something_else():
    same = tried(**{**WELL, "two": WELL["one"]})
    same.bytes[1] = same.bytes[0]
    assert best_few(same, (ALONE, POOLED), 3, allowed=200) == [THREE, ONE]
