"""The widths of the lemmas, against their transcription."""

from __future__ import annotations

import numpy as np
import pytest

from fedbandit.algorithms.glm.shared.widths import FixedWidth, LikelihoodWidth, OfflineOnlineWidth, OnlineWidth
from fedbandit.kernels.glm.width import Model, likelihood_width, prediction_width
from reference.glb_steps import Setting, lemma_2, lemma_9, online_term

SETTINGS = [Setting(), Setting(ridge=0.5, delta=0.1, radius=2.0, noise_bound=1.5), Setting(link="poisson", radius=0.7)]
CLIENTS, DIMENSION = 7, 3


def constants(setting):
    return Model(
        DIMENSION, CLIENTS, setting.ridge, setting.radius, setting.noise_bound, setting.delta, setting.low, setting.high
    )


@pytest.mark.parametrize("setting", SETTINGS)
@pytest.mark.parametrize(("observations", "suboptimality"), [(0, 0.0), (1, 1.0), (50, 1e-4), (10**6, 1e-12)])
def test_lemma_nine(setting, observations, suboptimality):
    expected = lemma_9(observations, suboptimality, DIMENSION, setting)
    assert likelihood_width(constants(setting), observations, suboptimality) == pytest.approx(expected, rel=1e-12)
    frozen = LikelihoodWidth(constants(setting), 0.5)
    base, _ = frozen.at_update(observations, suboptimality, np.zeros((3, 3)), np.zeros(3))
    assert base == pytest.approx(0.5 * expected, rel=1e-12)


@pytest.mark.parametrize("setting", SETTINGS)
@pytest.mark.parametrize("observations", [0, 40])
def test_lemma_two(setting, observations):
    rng = np.random.default_rng(0)
    arms = rng.standard_normal((observations, DIMENSION))
    gram, model, moment = arms.T @ arms, rng.standard_normal(DIMENSION), rng.standard_normal(DIMENSION)
    estimate, square, newton = rng.standard_normal(DIMENSION), 0.3, 1.7
    eps = 1.0 / observations**2 if observations else 0.0
    expected = lemma_2(observations, eps, model, gram, newton, square, estimate, moment, CLIENTS, setting)
    rule = OfflineOnlineWidth(constants(setting), 1.0)
    base, offline = rule.at_update(observations, eps, gram, model)
    loss = offline + rule.shape.weight * newton
    found = prediction_width(constants(setting), base, loss, estimate @ moment - square)
    assert found == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("setting", SETTINGS)
def test_lemma_fourteen(setting):
    gamma, newton, fit = 0.02, 3.0, -0.4
    bound = newton / (2 * gamma) + 2 * gamma * setting.ridge * setting.radius**2
    expected = np.sqrt(setting.ridge * setting.radius**2 + online_term(bound, CLIENTS, setting) + fit)
    rule = OnlineWidth(constants(setting), 1.0, gamma)
    base, offline = rule.at_update(10, 0.0, np.zeros((3, 3)), np.zeros(3))
    found = prediction_width(constants(setting), base, offline + rule.shape.weight * newton, fit)
    assert found == pytest.approx(expected, rel=1e-12)


def test_a_negative_square_is_a_width_of_nothing():
    assert prediction_width(constants(Setting()), 0.0, 0.0, -1e9) == 0.0


def test_a_fixed_width_is_not_scaled_nor_changed():
    assert FixedWidth(0.7).at_update(100, 0.1, np.eye(3), np.ones(3)) == (0.7, 0.0)
