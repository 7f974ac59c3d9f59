"""The path of an estimate: who enters the support next."""

import numpy as np
import pytest

from fedbandit.kernels.lasso.path import find_newcomer
from fedbandit.kernels.lasso.sums import observe
from samples.fits import empty_fit


@pytest.mark.parametrize(
    ("correlation", "found"),
    [
        ([0.5, 0.9, -0.8], -1),  # none is beyond the level
        ([1.2, -1.5, 1.1], 1),
        ([1.2, 1.2, 0.0], 0),  # of two alike the first
        ([1.0 + 1e-12, 0.0, 0.0], -1),  # it would move by less than the tolerance
    ],
)
def test_the_most_correlated_enters_if_it_would_move_at_all(correlation, found):
    fit = empty_fit(3)
    observe(fit, np.ones(3), 1.0)
    newcomer = find_newcomer(fit, np.array(correlation), 1.0, 1e-9, np.zeros(3, dtype=bool))
    assert newcomer == found


def test_neither_who_was_refused_nor_who_is_there_enters():
    fit = empty_fit(3)
    observe(fit, np.ones(3), 1.0)
    fit.estimate[1] = 0.5
    assert find_newcomer(fit, np.array([3.0, 2.5, 2.0]), 1.0, 1e-9, np.array([True, False, False])) == 2
