"""What a site says of its choices is true: arms come up as often as told, and weights of 1 / propensity are fair."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import chi2

import fedbandit as fb
from samples.worlds import recorded

ARMS = np.array([[1.0, 0.0], [0.8, 0.3], [0.0, 1.0], [-0.5, 0.5]])
WAYS = [
    {"exploration": "igw"},
    {"exploration": "igw", "greed": 20.0, "explore": 0.05},
    {"exploration": "ucb", "explore": 0.1},
]


@pytest.mark.parametrize("decisions", [2_000, pytest.param(200_000, marks=pytest.mark.slow)])
@pytest.mark.parametrize("way", WAYS, ids=lambda way: "-".join(map(str, way.values())))
def test_arms_come_up_as_often_as_told(way, decisions):
    site = fb.Site("local-linucb", dimension=2, noise=0.5, fresh=3, **way)
    rng = np.random.default_rng(0)
    for _ in range(30):
        site.learn(decision := site.choose(ARMS), float(ARMS[decision.arm] @ [0.6, 0.4] + 0.5 * rng.standard_normal()))
    made = [site.choose(ARMS) for _ in range(decisions)]  # nothing is learnt meanwhile: the chances stay
    arm, told = np.array([each.arm for each in made]), np.array([each.propensity for each in made])
    counts = np.bincount(arm, minlength=len(ARMS))
    chances = np.array([told[arm == k][0] if counts[k] else 0.0 for k in range(len(ARMS))])
    assert (told == chances[arm]).all()
    assert chances.sum() == pytest.approx(1.0, abs=1e-12), "an arm that never came up had no chance"
    possible = chances > 0
    assert possible.sum() > 1
    distance = ((counts - decisions * chances)[possible] ** 2 / (decisions * chances[possible])).sum()
    assert distance < chi2.ppf(0.999, possible.sum() - 1)


@pytest.mark.slow
@pytest.mark.parametrize(
    "way", [*WAYS[1:], {"exploration": "thompson", "explore": 0.2}], ids=lambda way: "-".join(map(str, way.values()))
)
def test_the_value_of_another_policy_from_a_log_is_unbiased(tmp_path, way):
    """Over 200 logs the mean error of inverse propensity weighting is within 3.5 of its standard errors of 0."""
    errors = []
    for seed in range(200):
        rng = np.random.default_rng(seed)
        arms = rng.standard_normal((200, 4, 3))
        mean = arms @ np.array([0.5, -0.3, 0.2])
        world = {"client": np.arange(200) % 3, "arms": arms, "reward": mean + 0.3 * rng.standard_normal(mean.shape)}
        log = fb.run("async-linucb", recorded(tmp_path, world), seed=seed, noise=0.3, **way)
        other = arms[:, :, 1].argmax(axis=1)  # a policy that the log's has nothing to do with
        weighed = (log.choice == other) / log.propensity * log.turn_reward
        errors.append(weighed.mean() - mean[np.arange(200), other].mean())
    assert abs(np.mean(errors)) < 3.5 * np.std(errors) / np.sqrt(200)
