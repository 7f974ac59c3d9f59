"""Refits reach the ridge maximum likelihood, from near and from far."""

from __future__ import annotations

import numpy as np
import pytest

from fedbandit.kernels.glm.kept_data import gradient_of, is_full, keep, nothing_kept, with_more_room
from fedbandit.kernels.glm.links import IDENTITY, LOGISTIC, POISSON
from fedbandit.kernels.glm.refit import damping, refit
from reference.glb_steps import Setting, maximum_likelihood
from reference.recorded import glm_rounds

LINKS = {"logistic": LOGISTIC, "identity": IDENTITY, "poisson": POISSON}


def kept_world(link, count=150, dimension=4):
    world = glm_rounds(seed=5, rounds=count, clients=1, arms=1, dimension=dimension, link=link)
    arms, rewards = world["arms"][:, 0], world["reward"][:, 0]
    kept = nothing_kept(1, dimension)
    for arm, reward in zip(arms, rewards, strict=True):
        while is_full(kept, 0):
            kept = with_more_room(kept)
        keep(kept, 0, arm, reward)
    return kept, arms, rewards


def gradient_at(kept, model, ridge, link):
    out = np.empty(len(model))
    gradient_of(kept, 0, 0, int(kept.length[0]), model, link, out)
    return out + ridge * model


@pytest.mark.parametrize("link", LINKS)
@pytest.mark.parametrize("start", [0.0, 0.3, -3.0])
def test_it_finds_the_minimum_from_any_start_and_any_curvature(link, start):
    kept, arms, rewards = kept_world(link)
    model, inverse = np.full(4, start), np.eye(4)  # a wrong curvature: it must notice
    news = gradient_at(kept, model, 2.0, LINKS[link])
    refit(kept, 0, 2.0, LINKS[link], 1.0, model, inverse, news)
    np.testing.assert_allclose(model, maximum_likelihood(arms, rewards, Setting(link=link)), rtol=0, atol=1e-10)


@pytest.mark.parametrize("link", LINKS)
def test_from_the_minimum_it_hardly_moves(link):
    kept, _, _ = kept_world(link)
    model, inverse = np.zeros(4), np.eye(4) / 2.0
    refit(kept, 0, 2.0, LINKS[link], 1.0, model, inverse, gradient_at(kept, model, 2.0, LINKS[link]))
    before = model.copy()
    assert refit(kept, 0, 2.0, LINKS[link], 1.0, model, inverse, np.zeros(4)) <= 2
    np.testing.assert_allclose(model, before, rtol=0, atol=1e-10)


def test_long_steps_are_damped_and_short_ones_are_not():
    assert damping(0.1) == 1.0
    assert damping(10.0) == pytest.approx(np.log(11.0) / 10.0)
    assert damping(0.126) < 1.0


@pytest.mark.parametrize("scale", [1e-3, 1e-2])
def test_a_curvature_with_which_steps_stay_short_and_shrink_slowly_is_computed_afresh(scale):
    kept, arms, rewards = kept_world("logistic")
    model = maximum_likelihood(arms, rewards, Setting(link="logistic")) + 0.05
    inverse = np.eye(4) * scale  # steps of a hundredth of their length: none is long, and none ends it
    passes = refit(kept, 0, 2.0, LOGISTIC, 1.0, model, inverse, gradient_at(kept, model, 2.0, LOGISTIC))
    assert passes <= 6
    np.testing.assert_allclose(gradient_at(kept, model, 2.0, LOGISTIC), 0.0, atol=1e-9)
