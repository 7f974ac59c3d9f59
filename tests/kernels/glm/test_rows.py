"""What a client notes of an observation, and that its inverses are computed afresh now and then."""

from __future__ import annotations

import numpy as np
import pytest

import fedbandit as fb
from fedbandit.kernels.glm.kept_data import nothing_kept
from fedbandit.kernels.glm.rows import GRADIENT_STEP, REFIT, REFRESH, STEP, empty_rows, follow_likelihood, see

RIDGE, SIZE = 0.5, 3


def a_rule(local):
    setting = fb.Setting(clients=1, arms=2, dimension=SIZE, horizon=10)
    return fb.algorithm("fedglb-ucb").build(setting).clients.rule._replace(local=local, ridge=RIDGE)


@pytest.mark.parametrize("local", [STEP, GRADIENT_STEP])
def test_after_many_updates_inverses_are_computed_afresh_in_the_working_space_that_is_there(local):
    rows = empty_rows(1, SIZE, RIDGE, RIDGE, metrics=1)
    seen = np.random.default_rng(1).standard_normal((20, SIZE))
    rows.gram[0] = seen.T @ seen
    rows.metric[0] = 0.25 * rows.gram[0]
    rows.inverse[0] = rows.metric_inverse[0] = np.eye(SIZE)  # far from right
    rows.updates[0] = REFRESH - 1
    room = np.full((3, SIZE + 2, SIZE + 2), 7.0)
    see(rows, 0, np.array([0.6, 0.0, 0.8]), 0.5, a_rule(local), room[:2])
    assert rows.updates[0] == 0
    np.testing.assert_allclose(rows.inverse[0], np.linalg.inv(rows.gram[0] + RIDGE * np.eye(SIZE)), rtol=1e-12)
    if local == GRADIENT_STEP:
        wanted = np.linalg.inv(rows.metric[0] + RIDGE * np.eye(SIZE))
        np.testing.assert_allclose(rows.metric_inverse[0], wanted, rtol=1e-12)
    assert (room[2] == 7.0).all(), "nothing is written beyond the working space"


def test_between_two_refits_the_gradients_of_new_observations_are_summed():
    rows, kept = empty_rows(1, SIZE, RIDGE, RIDGE, metrics=1), nothing_kept(1, SIZE)
    kept.length[0] = 1  # of three, when it is time to refit
    rule = a_rule(REFIT)._replace(refit_every=3)
    for arm, residual in (([0.6, 0.0, 0.8], 0.5), ([0.5, -0.25, 0.0], -0.75)):
        follow_likelihood(rows, kept, 0, np.array(arm), 0.3, residual, rule)
    np.testing.assert_allclose(rows.moment[0], [0.3 - 0.375, 0.1875, 0.4], rtol=1e-15)
