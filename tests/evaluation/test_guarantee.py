"""Intervals that hold whatever the rewards are."""

import logging
import math

import numpy as np
import pytest

import fedbandit as fb
from evaluation.test_evaluate import SMALL, log_of
from fedbandit.evaluation.guarantee import bernstein
from fedbandit.evaluation.terms import terms_of

GIVEN = {"guaranteed": True, "rewards": (-2.0, 3.0), "largest_weight": 20.0}


def test_the_interval_of_the_specification():
    terms = terms_of(SMALL["x"], SMALL["choice"], SMALL["reward"], SMALL["p"], SMALL["policy"])
    found = bernstein(terms.doubly_robust, width=10)
    assert found == pytest.approx((0.24746019256595375, 1.030802294193124), rel=1e-9)


def literal(arrays, low, high, largest):
    """The intervals row after row: a ridge regression on the earlier half, terms of the later one."""
    count, arms, dimension = arrays["x"].shape
    half = count // 2
    design = np.array([[1.0, *arrays["x"][s, arrays["choice"][s]]] for s in range(half)])
    shrink = np.diag([0.0] + [1.0] * dimension)
    theta = np.linalg.solve(design.T @ design + shrink, design.T @ arrays["reward"][:half])
    weighted, robust = [], []
    for t in range(count):
        a, r = arrays["choice"][t], arrays["reward"][t]
        w = arrays["policy"][t][a] / arrays["p"][t]
        weighted.append(w * r)
        if t >= half:
            q = [min(max(theta @ [1.0, *arrays["x"][t, k]], low), high) for k in range(arms)]
            robust.append(sum(arrays["policy"][t][k] * q[k] for k in range(arms)) + w * (r - q[a]))

    def interval(values, width):
        reach = math.sqrt(2 * np.var(values, ddof=1) * math.log(80) / len(values))
        reach += 7 * width * math.log(80) / (3 * (len(values) - 1))
        return np.mean(values) - reach, np.mean(values) + reach

    return interval(weighted, largest * (high - low)), interval(robust, (high - low) * (1 + 2 * largest))


def test_the_intervals_are_the_literal_ones():
    found = fb.evaluate(log_of(SMALL), SMALL["policy"], **GIVEN).guaranteed
    ips, dr = literal(SMALL, -2.0, 3.0, 20.0)
    assert found.ips == pytest.approx(ips, rel=1e-9)
    assert found.dr == pytest.approx(dr, rel=1e-9)
    assert found.dr_rows == 200


def test_weighted_rewards_of_one_sign_reach_to_nothing():
    rewards = {"reward": np.abs(SMALL["reward"])}
    narrow = fb.evaluate(log_of(SMALL, **rewards), SMALL["policy"], **{**GIVEN, "rewards": (0.0, 3.0)}).guaranteed.ips
    wide = fb.evaluate(log_of(SMALL, **rewards), SMALL["policy"], **{**GIVEN, "rewards": (-1.0, 3.0)}).guaranteed.ips
    assert wide[1] - wide[0] - (narrow[1] - narrow[0]) == pytest.approx(2 * 7 * 20.0 * math.log(80) / (3 * 399))


def test_nothing_is_guaranteed_unless_it_is_asked_for():
    assert fb.evaluate(log_of(SMALL), SMALL["policy"]).guaranteed is None


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"rewards": None}, "guaranteed intervals need the range of rewards"),
        ({"rewards": (3.0, -2.0)}, "rewards 3 -2 are no range"),
        ({"rewards": (0.0, 0.5)}, "rewards of the log lie between"),
        ({"largest_weight": None}, "how large a weight can be is not in the log: give largest_weight"),
        ({"largest_weight": 1.0}, "largest_weight is 1, but a row has the weight 6.17937"),
        ({"largest_weight": -1.0}, "largest_weight is -1: give a number above 0"),
        ({"guaranteed": False}, "rewards and largest_weight are for guaranteed intervals"),
    ],
)
def test_what_cannot_be_guaranteed_is_refused(change, sentence):
    with pytest.raises(fb.InvalidInput, match=sentence):
        fb.evaluate(log_of(SMALL), SMALL["policy"], **{**GIVEN, **change})


def test_a_site_that_learnt_is_refused_and_its_exploring_bounds_the_weights(tmp_path, caplog):
    rng = np.random.default_rng(0)
    with fb.Site("local-linucb", dimension=2, explore=0.5, seed=1, fresh=1, log=tmp_path / "decisions") as site:
        for x in rng.uniform(-0.5, 0.5, (300, 4, 2)):
            site.learn(site.choose(x), float(rng.random()))
    log = fb.Log.read(tmp_path / "decisions")
    assert log.explored == 0.5
    chances = np.full((300, 4), 0.25)
    given = {"guaranteed": True, "rewards": (0.0, 1.0)}
    with pytest.raises(fb.InvalidInput, match="the site learnt from rows before it decided later ones"):
        fb.evaluate(log, chances, **given)
    with caplog.at_level(logging.WARNING, "fedbandit.evaluation"):
        found = fb.evaluate(log, chances, anyway=True, **given)
    assert "need independent rows" in caplog.text
    assert found.guaranteed == fb.evaluate(log, chances, anyway=True, largest_weight=4 / 0.5, **given).guaranteed


@pytest.mark.slow
def test_guaranteed_intervals_hold_the_truth_in_nearly_all_logs():
    held = {"ips": 0, "dr": 0}
    for seed in range(300):
        rng = np.random.default_rng(seed)
        arms, choice = rng.uniform(-1, 1, (400, 3, 2)), rng.integers(3, size=400)
        means = 0.5 + arms @ [0.2, -0.1]
        reward = (rng.random(400) < means[np.arange(400), choice]).astype(float)
        chances = np.tile([0.6, 0.3, 0.1], (400, 1))
        truth = 0.5  # arms are around 0
        log = fb.Log.from_arrays(
            site=np.zeros(400, int), arms=arms, choice=choice, reward=reward, propensity=np.full(400, 1 / 3)
        )
        found = fb.evaluate(log, chances, guaranteed=True, rewards=(0.0, 1.0), largest_weight=3.0).guaranteed
        for name in held:
            low, high = getattr(found, name)
            held[name] += low <= truth <= high
    assert min(held.values()) >= 0.99 * 300, held
