"""The sums of a Lasso regression."""

import numpy as np

from fedbandit.kernels.lasso.sums import PENDING, column_on_support, correlate, observe
from samples.fits import empty_fit


def test_a_sparse_context_is_added_at_once_and_touches_its_own_entries_alone():
    fit = empty_fit(10)
    context = np.zeros(10)
    context[[2, 7]] = 1.0, -3.0
    observe(fit, context, 2.0)
    assert np.array_equal(fit.gram, np.outer(context, context))
    assert np.array_equal(fit.moment, 2.0 * context)
    assert fit.waiting[0] == 0


def test_dense_contexts_wait_and_are_folded_in_together():
    fit = empty_fit(4)
    contexts = np.random.default_rng(0).standard_normal((PENDING + 3, 4))
    for place, context in enumerate(contexts):
        observe(fit, context, 1.0)
        assert fit.waiting[0] == (place + 1) % PENDING
    waiting = fit.pending[: fit.waiting[0]]
    np.testing.assert_allclose(fit.gram + waiting.T @ waiting, contexts.T @ contexts, atol=1e-12)
    np.testing.assert_allclose(fit.diagonal, (contexts**2).sum(axis=0))


def test_correlations_and_columns_count_what_is_pending():
    fit = empty_fit(5)
    rng = np.random.default_rng(1)
    contexts, rewards = rng.standard_normal((PENDING + 3, 5)), rng.standard_normal(PENDING + 3)
    for context, reward in zip(contexts, rewards, strict=True):
        observe(fit, context, reward)
    fit.estimate[[3, 1]] = 0.5, -2.0
    fit.support[:2] = 3, 1
    fit.size[0] = 2
    correlation = np.empty(5)
    correlate(fit, correlation)
    np.testing.assert_allclose(correlation, contexts.T @ (rewards - contexts @ fit.estimate), atol=1e-12)
    np.testing.assert_allclose(column_on_support(fit, 4, 2), contexts[:, [3, 1]].T @ contexts[:, 4], atol=1e-12)
