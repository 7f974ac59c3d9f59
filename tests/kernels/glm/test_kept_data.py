"""Sums over the observations that clients keep."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import expit

from fedbandit.kernels.glm.kept_data import (
    LANES,
    curvature_of_each,
    gradient_of_each,
    gram_of_each,
    is_full,
    keep,
    nothing_kept,
    recall,
    with_more_room,
)
from fedbandit.kernels.glm.links import IDENTITY, LOGISTIC, POISSON

MEAN = {LOGISTIC: expit, IDENTITY: lambda z: z, POISSON: np.exp}
SLOPE = {LOGISTIC: lambda z: expit(z) * expit(-z), IDENTITY: np.ones_like, POISSON: np.exp}
DIMENSION = 3


def observed(counts, seed=0):
    """Keep so many random observations of each client; return them kept and as plain arrays."""
    rng = np.random.default_rng(seed)
    kept = nothing_kept(len(counts), DIMENSION)
    plain = []
    for client, count in enumerate(counts):
        arms, rewards = rng.standard_normal((count, DIMENSION)), rng.random(count)
        for arm, reward in zip(arms, rewards, strict=True):
            while is_full(kept, client):
                kept = with_more_room(kept)
            keep(kept, client, arm, reward)
        plain.append((arms, rewards))
    return kept, plain


@pytest.mark.parametrize("link", MEAN)
@given(data=st.data())
def test_every_window_of_every_client_sums_to_its_own_gradient_curvature_and_gram(link, data):
    counts = data.draw(st.lists(st.integers(0, 2 * LANES + 3), min_size=1, max_size=3))
    stop = np.array([data.draw(st.integers(0, count)) for count in counts])
    start = np.array([data.draw(st.integers(0, last)) for last in stop])
    kept, plain = observed(counts)
    who = np.array(data.draw(st.permutations(range(len(counts)))))
    models = np.random.default_rng(1).standard_normal((len(who), DIMENSION))
    gradients = gradient_of_each(kept, who, start, stop, models, link)
    curvatures = curvature_of_each(kept, who, stop, models[0], link)
    grams = gram_of_each(kept, who, start, stop)
    for each, client in enumerate(who):
        arms, rewards = (part[start[client] : stop[client]] for part in plain[client])
        residual = MEAN[link](arms @ models[each]) - rewards
        np.testing.assert_allclose(gradients[each], arms.T @ residual, rtol=1e-11, atol=1e-11)
        np.testing.assert_allclose(grams[each], arms.T @ arms, rtol=1e-11, atol=1e-11)
        arms = plain[client][0][: stop[client]]
        weighted = SLOPE[link](arms @ models[0])[:, np.newaxis] * arms
        np.testing.assert_allclose(curvatures[each], arms.T @ weighted, rtol=1e-11, atol=1e-11)
        assert (curvatures[each] == curvatures[each].T).all()


def test_observations_survive_growth_in_order():
    kept, plain = observed([5 * LANES + 1, 2])
    arm = np.empty(DIMENSION)
    for client, (arms, rewards) in enumerate(plain):
        assert kept.length[client] == len(rewards)
        for place in range(len(rewards)):
            assert recall(kept, client, place, arm) == rewards[place]
            assert arm.tolist() == arms[place].tolist()


def test_room_runs_out_at_the_end_of_the_last_block():
    kept, _ = observed([LANES - 1])
    assert not is_full(kept, 0)
    keep(kept, 0, np.ones(DIMENSION), 1.0)
    assert is_full(kept, 0)
