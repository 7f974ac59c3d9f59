"""Means and slopes of the links, one at a time and in lanes."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import expit

from fedbandit.kernels.glm.links import IDENTITY, LANES, LOGISTIC, MARGIN, MEAN, POISSON, lanes, mean, means, slope

EXACT = {LOGISTIC: expit, IDENTITY: lambda z: z, POISSON: np.exp}
MARGINS = np.array([0.0, -0.0, 1e-300, -1e-9, 0.3465, -0.3466, 1.0, -1.0, 20.0, -20.0, 500.0, -500.0])


def in_lanes(link, margins):
    work = lanes()
    work.numbers[MARGIN] = np.resize(margins, LANES)
    means(link, work)
    return work.numbers[MEAN][: len(margins)].copy()


@pytest.mark.parametrize("link", EXACT)
def test_lanes_give_the_mean_to_the_last_places(link):
    np.testing.assert_allclose(in_lanes(link, MARGINS), EXACT[link](MARGINS), rtol=1e-15, atol=1e-300)


@pytest.mark.parametrize("link", EXACT)
@given(margins=st.lists(st.floats(-700, 700), min_size=1, max_size=LANES))
def test_lanes_and_single_margins_agree(link, margins):
    singly = [mean(link, margin) for margin in margins]
    np.testing.assert_allclose(in_lanes(link, np.array(margins)), singly, rtol=2e-15, atol=1e-300)


@pytest.mark.parametrize("link", EXACT)
@given(margin=st.floats(-5, 5))
def test_the_slope_is_the_derivative_of_the_mean(link, margin):
    step = 1e-5
    difference = (mean(link, margin + step) - mean(link, margin - step)) / (2 * step)
    assert abs(slope(link, mean(link, margin)) - difference) <= 1e-8 * max(1.0, abs(difference))


def test_margins_beyond_the_range_of_floats_saturate():
    assert in_lanes(LOGISTIC, np.array([1e6, -1e6])).tolist() == [1.0, pytest.approx(0.0, abs=1e-300)]
    assert np.isfinite(in_lanes(POISSON, np.array([1e6, -1e6]))).all()
    assert np.isfinite(mean(POISSON, 1e6))
