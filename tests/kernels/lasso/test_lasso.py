"""The Lasso solver against the conditions of its definition, the literal transcription, and its own certificate."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fedbandit.kernels.lasso.path import rebuild, refit
from fedbandit.kernels.lasso.sums import observe
from reference.lasso import lasso
from samples.fits import empty_fit

TOLERANCE = 1e-10


def stream_of(seed, rows, dimension, kind):
    """Yield contexts and rewards: dense, sparse numbers, or one-hot with columns that depend on each other."""
    rng = np.random.default_rng(seed)
    for _ in range(rows):
        context = rng.standard_normal(dimension)
        if kind == "sparse":
            context *= rng.random(dimension) < 0.2
        elif kind == "one-hot":
            context = (rng.random(dimension) < 0.3).astype(float)
            context[-1] = context[0]  # one column twice
        yield context, context[:2].sum() + 0.1 * rng.standard_normal()


def furthest(contexts, rewards, estimate, penalty):
    """Return how far the slope of |y - x b|^2 / n is from what definition 1.1 asks of it (no 1/2 anywhere)."""
    x, y = np.array(contexts), np.array(rewards)
    slope = 2 * x.T @ (y - x @ estimate) / len(y)
    active = estimate != 0
    on = np.abs(slope[active] - penalty * np.sign(estimate[active]))
    off = np.abs(slope[~active]) - penalty
    return max(on.max(initial=0), off.max(initial=0))


def duality_gap(contexts, rewards, estimate, penalty):
    """Return the objective of definition 1.1 minus the dual objective at the residual, scaled to be feasible."""
    x, y = np.array(contexts), np.array(rewards)
    level = len(y) * penalty / 2
    residual = y - x @ estimate
    scale = min(1.0, level / np.abs(x.T @ residual).max())
    primal = residual @ residual / 2 + level * np.abs(estimate).sum()
    dual = (y @ y - (y - scale * residual) @ (y - scale * residual)) / 2
    return (primal - dual) * 2 / len(y)


@settings(max_examples=25, deadline=None)
@given(
    st.integers(0, 10**6), st.integers(1, 14), st.sampled_from(["dense", "sparse", "one-hot"]), st.floats(0.001, 1.0)
)
def test_every_refit_of_a_growing_regression_satisfies_the_definition(seed, dimension, kind, scale):
    fit, contexts, rewards = empty_fit(dimension), [], []
    for context, reward in stream_of(seed, 25, dimension, kind):
        contexts.append(context)
        rewards.append(reward)
        observe(fit, context, reward)
        penalty = scale / np.sqrt(len(rewards))
        refit(fit, penalty, TOLERANCE)
        assert furthest(contexts, rewards, fit.estimate, penalty) < 1e-8


@pytest.mark.parametrize(("dimension", "kind"), [(6, "dense"), (15, "dense"), (12, "sparse")])
def test_warm_refits_equal_cold_coordinate_descent(dimension, kind):
    fit, contexts, rewards = empty_fit(dimension), [], []
    for context, reward in stream_of(dimension, 30, dimension, kind):
        contexts.append(context)
        rewards.append(reward)
        observe(fit, context, reward)
        refit(fit, 0.1, TOLERANCE)
        np.testing.assert_allclose(fit.estimate, lasso(contexts, rewards, 0.1, 1e-12), atol=1e-8)


def test_the_duality_gap_closes():
    fit, contexts, rewards = empty_fit(40), [], []
    for context, reward in stream_of(1, 60, 40, "dense"):
        contexts.append(context)
        rewards.append(reward)
        observe(fit, context, reward)
        refit(fit, 0.02, TOLERANCE)
    assert duality_gap(contexts, rewards, fit.estimate, 0.02) < 1e-10
    assert duality_gap(contexts, rewards, fit.estimate + 0.01, 0.02) > 1e-4


def test_the_penalty_is_twice_the_alpha_of_the_convention_with_one_half():
    # With x = 1 and y = 3: (3 - b)^2 + penalty b has its minimum at 3 - penalty / 2. The other convention,
    # (3 - b)^2 / 2 + alpha b, has it at 3 - alpha.
    fit = empty_fit(1)
    for _ in range(4):  # any number of equal observations: the square is a mean
        observe(fit, np.ones(1), 3.0)
    refit(fit, 1.0, TOLERANCE)
    np.testing.assert_allclose(fit.estimate, [2.5])


def test_no_data_leave_the_zero_estimate():
    fit = empty_fit(3)
    assert refit(fit, 0.1, TOLERANCE) == 0
    assert not fit.estimate.any()


def test_a_larger_penalty_empties_the_support_and_a_smaller_one_fills_it_again():
    fit = empty_fit(8)
    for context, reward in stream_of(3, 20, 8, "dense"):
        observe(fit, context, reward)
    refit(fit, 0.01, TOLERANCE)
    full = fit.estimate.copy()
    refit(fit, 100.0, TOLERANCE)
    assert fit.size[0] == 0
    assert not fit.estimate.any()
    refit(fit, 0.01, TOLERANCE)
    np.testing.assert_allclose(fit.estimate, full, atol=1e-9)


def test_a_penalty_of_zero_gives_least_squares():
    fit, contexts, rewards = empty_fit(5), [], []
    for context, reward in stream_of(4, 12, 5, "dense"):
        contexts.append(context)
        rewards.append(reward)
        observe(fit, context, reward)
    refit(fit, 0.0, TOLERANCE)
    np.testing.assert_allclose(fit.estimate, np.linalg.lstsq(contexts, rewards)[0], atol=1e-9)


def test_the_first_of_two_equal_columns_is_taken():
    fit = empty_fit(3)
    for value in (1.0, 2.0):
        observe(fit, np.array([0.0, value, value]), value)
    refit(fit, 0.1, TOLERANCE)
    assert fit.support[: fit.size[0]].tolist() == [1]


def test_a_damaged_factor_is_computed_afresh():
    fit = empty_fit(6)
    for context, reward in stream_of(5, 20, 6, "dense"):
        observe(fit, context, reward)
    refit(fit, 0.05, TOLERANCE)
    right = fit.estimate.copy()
    fit.factor[:] = np.triu(np.full((6, 6), 7.0))
    fit.estimate[fit.support[0]] += 0.1
    refit(fit, 0.05, TOLERANCE)
    np.testing.assert_allclose(fit.estimate, right, atol=1e-9)


def test_rebuilding_lets_go_of_columns_that_depend_on_others():
    fit = empty_fit(3)
    observe(fit, np.array([1.0, 1.0, 0.0]), 1.0)
    observe(fit, np.array([0.0, 0.0, 1.0]), 1.0)
    both = fit._replace(estimate=np.array([0.4, 0.4, 0.4]), support=np.arange(3), size=np.array([3]))
    rebuild(both)
    assert both.support[: both.size[0]].tolist() == [0, 2]
    assert both.estimate.tolist() == [0.4, 0.0, 0.4]
