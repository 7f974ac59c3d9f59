"""The decision rule, and that regressions side by side do not touch each other."""

import numpy as np

from fedbandit.kernels.lasso import rows as kernel
from fedbandit.kernels.lasso.path import refit
from fedbandit.kernels.lasso.sums import observe
from samples.fits import empty_fit

CONTEXT = np.array([1.0])


def arm(screening, private, gap):
    return kernel.screened_arm(CONTEXT, np.array(screening)[:, None], np.array(private)[:, None], gap)


def test_the_screen_is_inclusive_and_the_private_estimate_decides():
    screening, private = [0.0, 1.0, 2.0], [9.0, 5.0, 5.0]
    assert arm(screening, private, 2.0) == 1
    assert arm(screening, private, 1.9) == 2
    assert arm(screening, private, np.inf) == 0


def test_a_tie_among_the_kept_goes_to_the_lowest_index():
    assert arm([0.0, 1.0, 1.0], [5.0, 3.0, 3.0 + 1e-10], 0.5) == 1
    assert arm([0.0, 1.0, 1.0], [5.0, 3.0, 3.0 + 1e-8], 0.5) == 2


def test_the_screen_has_no_tolerance():
    assert arm([1.0 - 1e-10, 1.0], [5.0, 3.0], 0.0) == 1


def test_who_is_told_plays_what_it_is_told():
    rows = np.array([1, 0])
    estimates = np.array([[[0.0], [1.0]], [[1.0], [0.0]]])
    choice = kernel.choose_each(np.ones((2, 1)), rows, np.array([-1, 0]), estimates, estimates, 1.0)
    assert choice.tolist() == [0, 0]


def test_each_regression_is_its_own():
    rng = np.random.default_rng(0)
    rows = kernel.empty_rows(2, 3, 4)
    alone = {(row, arm): empty_fit(4) for row in range(2) for arm in range(3)}
    for _ in range(10):
        row, arm = np.array([0, 1]), rng.integers(3, size=2)
        context, reward = rng.standard_normal((2, 4)), rng.standard_normal(2)
        kernel.observe_each(rows, row, arm, context, reward)
        kernel.refit_each(rows, row, arm, np.full(2, 0.1), 1e-10)
        for each in range(2):
            fit = alone[row[each], arm[each]]
            observe(fit, context[each], reward[each])
            refit(fit, 0.1, 1e-10)
    for (row, arm), fit in alone.items():
        assert np.array_equal(rows.estimate[row, arm], fit.estimate)
        assert rows.samples[row, arm] == fit.samples[0]
