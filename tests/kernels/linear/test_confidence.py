"""The tie rule and the optimistic choice."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from fedbandit.kernels.linear.confidence import Width, first_best, optimistic_arm, width


@pytest.mark.parametrize(
    ("scores", "best"),
    [
        ([1.0, 1.0, 1.0], 0),
        ([1.0, 1.0 + 1e-12, 0.0], 0),
        ([1.0, 1.0 + 1e-8, 0.0], 1),
        ([0.0, 1e-10], 0),
        ([1e6, 1e6 + 1e-4], 0),
        ([1e6, 1e6 + 1e-2], 1),
        ([-5.0, -5.0 + 1e-10, -5.0 + 2e-8], 2),
        ([-1.0], 0),
    ],
)
def test_scores_within_the_tolerance_tie_and_the_lowest_index_wins(scores, best):
    assert first_best(np.array(scores)) == best


@given(arrays(np.float64, st.integers(1, 20), elements=st.floats(-1e6, 1e6)), st.integers(0, 2**32))
def test_two_expressions_of_the_same_score_never_change_the_choice(scores, seed):
    """Rounding noise far below the tolerance leaves the choice, unless a score sits at the tolerance's edge."""
    noise = np.random.default_rng(seed).uniform(-1, 1, scores.shape) * 1e-14 * np.maximum(1, np.abs(scores))
    edge = 1e-9 * max(1.0, abs(scores.max()))
    if (np.abs(scores.max() - scores - edge) < 1e-3 * edge).any():
        return
    assert first_best(scores) == first_best(scores + noise)


def test_the_choice_is_the_literal_argmax():
    rng = np.random.default_rng(0)
    for _ in range(50):
        arms, estimate = rng.standard_normal((9, 4)), rng.standard_normal(4)
        root = rng.standard_normal((4, 4))
        inverse = root @ root.T + np.eye(4)
        scores = arms @ estimate + 0.7 * np.sqrt(np.einsum("ki,ij,kj->k", arms, inverse, arms))
        assert optimistic_arm(arms, estimate, inverse, 0.7, np.empty((2, 9))) == scores.argmax()


def test_a_fixed_width_does_not_see_the_determinant():
    assert width(3.0, Width(0.5, 0.0, 0.0)) == width(30.0, Width(0.5, 0.0, 0.0)) == 0.5
