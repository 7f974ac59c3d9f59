"""L-BFGS that sees gradients only: it finds the minimiser, never climbs, and starts warm."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from fedbandit.kernels.glm.descent import MOST_EVALUATIONS, advance, begin, is_descent, new_search
from reference.dueling import loss_gradient, minimise_loss


def loss(theta, data, ridge):
    return np.logaddexp(0.0, -data @ theta).sum() + ridge / 2 * theta @ theta


def minimise(search, data, ridge):
    """Run a search to its end; return where the gradient was asked for, and the places that were kept."""
    begin(search, data.T @ data, len(data), ridge)
    asked, stood = [], []
    for _ in range(MOST_EVALUATIONS + 1):
        asked.append(search.trial.copy())
        is_answer = advance(search, loss_gradient(search.trial, data, np.ones(len(data))), ridge)
        stood.append(search.point.copy())
        if is_answer:
            return asked, stood
    raise AssertionError("the search does not come to an end")


def duels(seed, size, count, length=1.0):
    return length * np.random.default_rng(seed).standard_normal((count, size))


@given(
    seed=st.integers(0, 2**16), size=st.integers(1, 6), count=st.integers(1, 60),
    ridge=st.sampled_from([1e-4, 0.002, 1.0]), length=st.sampled_from([0.1, 1.0, 5.0]),
)  # fmt: skip
def test_the_answer_is_the_minimiser(seed, size, count, ridge, length):
    data = duels(seed, size, count, length)
    search = new_search(size)
    asked, _ = minimise(search, data, ridge)
    assert len(asked) < MOST_EVALUATIONS
    slope = loss_gradient(search.trial, data, np.ones(count)) + ridge * search.trial
    assert np.linalg.norm(slope) <= 1e-11 * max(1.0, np.linalg.norm(data))
    np.testing.assert_allclose(search.trial, minimise_loss(data, np.ones(count), ridge), rtol=1e-5, atol=1e-5)


@given(seed=st.integers(0, 2**16), size=st.integers(1, 6), count=st.integers(1, 60))
def test_the_loss_never_rises(seed, size, count):
    data = duels(seed, size, count, 3.0)
    _, stood = minimise(new_search(size), data, 0.002)
    losses = np.array([loss(place, data, 0.002) for place in stood])
    assert (np.diff(losses) <= 1e-12 * losses[0]).all()


def test_a_search_starts_where_the_last_one_ended_and_remembers_the_hessian():
    data = duels(0, 5, 2000)
    data *= np.where(np.random.default_rng(1).random(2000) < 1 / (1 + np.exp(-data @ np.arange(5.0))), 1, -1)[:, None]
    warm, cold = new_search(5), new_search(5)
    minimise(warm, data[:1950], 0.002)
    after, _ = minimise(warm, data, 0.002)
    anew, _ = minimise(cold, data, 0.002)
    np.testing.assert_allclose(warm.trial, cold.trial, atol=1e-12)
    assert len(after) < len(anew)


def test_nothing_but_arms_that_meet_themselves_leaves_the_estimate_at_zero():
    search = new_search(3)
    asked, _ = minimise(search, np.zeros((4, 3)), 0.1)
    assert len(asked) == 1
    assert search.trial.tolist() == [0.0, 0.0, 0.0]


@given(
    fall=st.floats(1e-6, 10), rise=st.floats(-10, 10), curvature=st.floats(1e-6, 100), bend=st.floats(0.0, 1.0)
)  # fmt: skip
def test_a_certified_step_has_fallen_in_the_worst_case(fall, rise, curvature, bend):
    """The derivative climbs from -fall to rise at a rate of at most `curvature`, and then stays: the worst path."""
    rise = max(rise, -fall)
    curvature = max(curvature, fall + rise)  # the bound holds, so the derivative can get there in one step
    times = np.linspace(0, 1, 20_001)
    late = bend * (1 - (fall + rise) / curvature)
    derivative = np.clip(-fall + curvature * (times - late), -fall, rise)
    change = np.trapezoid(derivative, times)
    if is_descent(fall, rise, curvature):
        assert change <= 1e-6 * (fall + abs(rise))
    elif bend == 0.0:
        assert change >= -1e-6 * (fall + abs(rise))
