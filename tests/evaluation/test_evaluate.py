"""Estimates of what a policy would have earned."""

import json
import logging
from pathlib import Path
from zipfile import ZipFile

import numpy as np
import pytest

import fedbandit as fb
from fedbandit.advice.model.worlds import LogWorld
from fedbandit.core.turns import Rewards, Turns
from fedbandit.simulation.in_process import simulate

VECTORS = Path(__file__).parents[1] / "vectors"
SMALL = dict(np.load(VECTORS / "small-log.npz"))
WANTED = json.loads((VECTORS / "small-log.json").read_text(encoding="utf-8"))
SHARED = list(WANTED["by_site"][0])


def log_of(arrays, **change):
    given = {"site": arrays["site"], "arms": arrays["x"], "choice": arrays["choice"], "reward": arrays["reward"]}
    return fb.Log.from_arrays(**{**given, "propensity": arrays["p"], **change})


def literal(arrays):
    """The estimators row after row, as the specification says."""
    count, arms, dimension = arrays["x"].shape
    weights, ips, dm, dr = [], [], [], []
    for t in range(count):
        others = [s for s in range(count) if s % 5 != t % 5]
        design = np.array([[1.0, *arrays["x"][s, arrays["choice"][s]]] for s in others])
        shrink = np.eye(dimension + 1)
        shrink[0, 0] = 0.0
        theta = np.linalg.solve(design.T @ design + shrink, design.T @ arrays["reward"][others])
        q = [theta @ [1.0, *arrays["x"][t, k]] for k in range(arms)]
        pi, a, r = arrays["policy"][t], arrays["choice"][t], arrays["reward"][t]
        w = pi[a] / arrays["p"][t]
        weights.append(w)
        ips.append(w * r)
        dm.append(sum(pi[k] * q[k] for k in range(arms)))
        dr.append(dm[-1] + w * (r - q[a]))
    return np.mean(ips), np.sum(ips) / np.sum(weights), np.mean(dm), np.mean(dr)


def test_the_estimates_of_the_specification():
    found = fb.evaluate(log_of(SMALL), SMALL["policy"])
    for name in SHARED:
        assert getattr(found, name) == pytest.approx(WANTED[name], rel=1e-9), name
    assert list(found.by_site) == ["0", "1", "2"]
    for one, wanted in zip(found.by_site.values(), WANTED["by_site"], strict=True):
        for name in SHARED:
            assert getattr(one, name) == pytest.approx(wanted[name], rel=1e-9), name


def test_the_estimates_are_those_of_the_literal_estimators():
    some = {name: array[:60] for name, array in SMALL.items()}
    found = fb.evaluate(log_of(some), some["policy"], anyway=True)
    assert (found.ips, found.snips, found.dm, found.dr) == pytest.approx(literal(some), rel=1e-9)


def test_intervals_are_two_errors_wide_to_either_side():
    found = fb.evaluate(log_of(SMALL), SMALL["policy"])
    low, high = found.interval("dr")
    assert (low + high) / 2 == pytest.approx(found.dr)
    assert high - low == pytest.approx(2 * 1.96 * found.dr_error)


def logged(site, rng, rows, arms=3, dimension=2, time=None):
    """Let a site decide, by rewards that are linear; return a log of its decisions."""
    theta = np.array([0.5, -0.2])
    vectors, choice, reward, propensity = rng.uniform(-1, 1, (rows, arms, dimension)), [], [], []
    for x in vectors:
        decision = site.choose(x)
        choice.append(decision.arm)
        propensity.append(decision.propensity)
        reward.append(x[decision.arm] @ theta + 0.1 * rng.standard_normal())
        site.learn(decision, reward[-1])
    site = np.zeros(rows, dtype=np.int64)
    log = fb.Log.from_arrays(site=site, arms=vectors, choice=choice, reward=reward, propensity=propensity, time=time)
    return log, vectors @ theta


@pytest.mark.slow
def test_estimates_on_logs_of_sites_with_igw_are_unbiased_and_their_intervals_hold_the_truth():
    names = ("ips", "snips", "dr")
    gaps, held = {name: [] for name in names}, dict.fromkeys(names, 0)
    for seed in range(200):
        rng = np.random.default_rng(seed)
        with fb.Site("local-linucb", dimension=2, exploration="igw", explore=0.4, seed=seed, fresh=1) as site:
            log, means = logged(site, rng, 200)
        chances = np.tile([0.6, 0.3, 0.1], (len(log), 1))
        truth = (chances * means).sum(axis=1).mean()
        found = fb.evaluate(log, chances, anyway=True)
        for name in names:
            gaps[name].append(getattr(found, name) - truth)
            low, high = found.interval(name)
            held[name] += low <= truth <= high
    for name, each in gaps.items():
        z = np.mean(each) / (np.std(each, ddof=1) / np.sqrt(len(each)))
        assert abs(z) < 3.5, (name, z)
        assert held[name] >= 0.93 * 200, (name, held[name])


def of_igw_without_explore(seed, rows=1000):
    """A log of a site that chooses by igw alone, and the rewards that arms have on average."""
    rng = np.random.default_rng(seed)
    arms = rng.uniform(-1, 1, (rows, 3, 2))
    means = arms @ [0.5, -0.2]
    turns = Turns(np.zeros(rows, dtype=np.int64), arms, Rewards(means + 0.1 * rng.standard_normal(means.shape), means))
    trace, _ = simulate(fb.algorithm("local-linucb", exploration="igw"), LogWorld(whole=turns), rows, seed)
    given = {"choice": trace.choice, "reward": trace.reward, "propensity": trace.propensity}
    return fb.Log.from_arrays(site=trace.client, arms=arms, **given), arms, means


@pytest.mark.parametrize("seeds", [range(3), pytest.param(range(3, 200), marks=pytest.mark.slow)], ids=["few", "many"])
def test_intervals_on_logs_of_igw_without_explore_are_refused_or_warned_of_unless_they_hold(seeds, caplog):
    told = missed = 0
    for seed in seeds:
        log, arms, means = of_igw_without_explore(seed)
        chances = np.eye(3)[(arms @ [0.3, -0.4]).argmax(axis=1)]
        caplog.clear()
        try:
            found = fb.evaluate(log, chances)
        except fb.InvalidInput:
            told += 1
            continue
        told += "hang on few rows" in caplog.text
        low, high = found.interval("snips")
        missed += not low <= (chances * means).sum(axis=1).mean() <= high and "hang on few rows" not in caplog.text
    assert missed <= 0.07 * len(seeds)
    assert told


def test_estimates_that_hang_on_few_rows_are_warned_of(caplog):
    found = fb.evaluate(log_of(SMALL), SMALL["policy"])
    weights = SMALL["policy"][np.arange(400), SMALL["choice"]] / SMALL["p"]
    assert found.carriers == pytest.approx((weights**2).sum() / weights.max() ** 2) == pytest.approx(37.8, abs=0.1)
    assert caplog.text == ""
    propensity = SMALL["p"].copy()
    propensity[np.argmax(weights)] /= 3
    fb.evaluate(log_of(SMALL, propensity=propensity), SMALL["policy"])
    assert "the estimates hang on few rows: 5.1 of the largest weight, 18.5, would vary as much as all" in caplog.text


def test_a_policy_is_judged_by_its_own_chances():
    rng = np.random.default_rng(3)
    with fb.Site("local-linucb", dimension=2, explore=0.5, seed=1, fresh=1) as site:
        log, means = logged(site, rng, 600)
        policy = site.policy()
    found = fb.evaluate(log, policy)
    best = np.eye(3)[means.argmax(axis=1)]
    mixed = 0.5 * best + 0.5 / 3
    assert found.dr == pytest.approx((mixed * means).sum(axis=1).mean(), abs=4 * found.dr_error)


def test_rows_from_before_a_policy_was_taken_are_left_out(caplog):
    rng = np.random.default_rng(3)
    with fb.Site("local-linucb", dimension=2, explore=0.5, seed=1, fresh=1) as site:
        policy = site.policy()
        log, _ = logged(site, rng, 600, time=policy.taken + np.arange(600) - 200)
    assert fb.Policy.from_bytes(policy.to_bytes()).taken == policy.taken
    assert fb.evaluate(log, policy, include_earlier=True).rows == 600
    with pytest.raises(fb.InvalidInput, match=r"give later ones, or include_earlier \(--include-earlier\), if it did"):
        fb.evaluate(log.take(np.arange(100)), policy)
    with caplog.at_level(logging.WARNING, "fedbandit.evaluation"):
        assert fb.evaluate(log, policy).rows == 400
    assert "200 rows from before the policy was taken are left out" in caplog.text
    with pytest.raises(fb.InvalidInput, match="all rows of the log are from before the policy was taken"):
        fb.evaluate(log.take(np.arange(150)), policy)


def test_a_policy_of_0_1_0_does_not_say_when_it_was_taken():
    with ZipFile(VECTORS.parent / "golden" / "0.1.0" / "async-linucb.zip") as archive:
        assert fb.Policy.from_bytes(archive.read("site-0.policy")).taken == 0.0


def test_a_policy_is_judged_with_the_features_of_its_site():
    features = fb.Features({"arm": {"price": {"kind": "number", "range": [0, 1]}}})
    with (
        fb.Site("local-linucb", features=features, fresh=1) as site,
        pytest.raises(fb.InvalidInput, match=r"but none were given: give those of its site \(--features FILE\)"),
    ):
        fb.evaluate(log_of(SMALL), site.policy())


def test_a_policy_that_chooses_by_a_sample_has_the_chances_of_many_samples():
    with fb.Site("local-linucb", dimension=2, exploration="thompson", noise=1.0, fresh=1) as site:
        chances = site.policy().chances(np.eye(2))
    assert chances.sum() == pytest.approx(1.0)
    assert chances[0] == pytest.approx(0.5, abs=0.08)
    with fb.Site("local-linucb", dimension=2, fresh=1) as site:
        assert site.policy().chances(np.eye(2)).tolist() == [1.0, 0.0]


@pytest.mark.parametrize(
    ("change", "policy", "reason"),
    [
        ({"propensity": None}, SMALL["policy"], "the log has no propensities, so no other policy can be judged"),
        ({"propensity": np.ones(400)}, SMALL["policy"], "all propensities are 1, so nothing is known"),
        (
            {"propensity": SMALL["p"] / 2},
            SMALL["policy"],
            r"mean weight 2.19 \+- 0.16: the propensities are not those of the choices; give",
        ),
        (
            {"propensity": np.minimum(2 * SMALL["p"], 1.0)},
            SMALL["policy"],
            "or this policy chooses what was so unlikely",
        ),
        ({}, SMALL["policy"][:, :2], r"policy has shape \(400, 2\), but the log \(400, 4\)"),
        ({}, SMALL["policy"] * 2, r"policy\[0\] is .*: chances are at least 0 and add up to 1"),
        ({}, "policy.bin", "policy must be a fb.Policy or chances"),
    ],
)
def test_a_log_that_cannot_tell_is_refused_in_one_sentence(change, policy, reason):
    with pytest.raises(fb.InvalidInput, match=reason):
        fb.evaluate(log_of(SMALL, **change), policy)


def test_too_few_rows_are_refused_unless_they_are_wanted_anyway(caplog):
    some = {name: array[:60] for name, array in SMALL.items()}
    with pytest.raises(fb.InvalidInput, match=r"\d+ effective rows: the log has too few .*; give anyway \(--anyway\)"):
        fb.evaluate(log_of(some), some["policy"])
    with caplog.at_level(logging.WARNING, "fedbandit.evaluation"):
        fb.evaluate(log_of(some), some["policy"], anyway=True)
    assert "effective rows" in caplog.text
