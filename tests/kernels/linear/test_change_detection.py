"""When a client finds that the world has changed: not at one wild error, at two; and it changes its mind."""

import numpy as np

from fedbandit.kernels.linear.change_detection import no_watch, notice
from fedbandit.kernels.linear.ridge_rows import Model

ARM = np.array([0.6, 0.8])


def certain():
    """One client that knows theta = 0 very well."""
    gram = 1e6 * np.eye(2)
    return Model(gram[np.newaxis], np.zeros((1, 2)), 1e-6 * np.eye(2)[np.newaxis], np.zeros((1, 2)), np.zeros(1))


def play(rewards, scale=1.0, watch=None):
    """After which of some rewards the client changes its mind."""
    watch = no_watch(1) if watch is None else watch
    return [
        place
        for place, reward in enumerate(rewards)
        if notice(watch, 0, certain(), 0, ARM, scale * reward, scale * 0.1, 0.1)
    ]


def quiet(turns, seed=0):
    return (0.1 * np.random.default_rng(seed).standard_normal(turns)).tolist()


def test_one_wild_error_is_no_change_and_two_in_a_row_are():
    assert play([*quiet(50), 1e9, *quiet(50, seed=1)]) == []
    assert play([*quiet(50), 1e9, 1e9])[:1] == [51]


def first_notices(shift):
    """After how many turns each of 40 clients notices that rewards have shifted by so many deviations; 150: never."""
    found = [play([*quiet(150, seed), *(np.array(quiet(150, 100 + seed)) + 0.1 * shift)]) for seed in range(40)]
    return np.array([turns[0] - 150 if turns else 150 for turns in found])


def test_half_a_deviation_is_hardly_noticed_and_two_and_a_half_soon():
    assert np.count_nonzero(first_notices(0.5) < 150) <= 2
    noticed = first_notices(2.5)
    assert noticed.min() >= 0, "nothing before the shift"
    assert np.median(noticed) <= 6
    assert noticed.max() < 40


def test_it_changes_its_mind_when_all_is_quiet_again():
    first, second = play([*quiet(50), 1.0, 1.0, *quiet(50, seed=1)])
    assert first == 51
    assert 54 <= second <= 80


def test_the_unit_of_rewards_does_not_matter():
    rewards = [*quiet(50), 1.0, 1.0, *quiet(50, seed=1)]
    assert play(rewards, scale=2.0**10) == play(rewards)


def test_a_client_learns_what_its_rewards_vary_by():
    watch = no_watch(1)
    wide = (5 * np.array(quiet(300))).tolist()
    play(wide, watch=watch)
    assert 0.4 < np.sqrt(watch.squares[0] / watch.turns[0]) < 0.55
    assert play(wide[:100], watch=watch) == []


def test_without_noise_it_does_not_divide_by_zero():
    watch = no_watch(1)
    assert not any(notice(watch, 0, certain(), 0, ARM, 0.0, 0.0, 0.1) for _ in range(5))
    assert np.isfinite(watch.excess[0])
