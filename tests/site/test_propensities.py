"""A site says exactly how likely each decision was, or that it does not know."""

from __future__ import annotations

import numpy as np
import pytest

import fedbandit as fb
from fedbandit.core.lots import arm_by_lot, lot_of
from fedbandit.core.randomness import stream

ARMS = np.array([[1.0, 0.0], [0.0, 1.0], [0.5, 0.5]])
THOMPSON = {"exploration": "thompson", "dimension": 2, "noise": 1.0, "fresh": 5}


def site(**parameters):
    return fb.Site("async-linucb", **{"dimension": 2, "fresh": 5, **parameters})


def test_without_randomness_a_decision_is_certain():
    assert site().choose(ARMS).propensity == 1.0


def test_of_a_sample_alone_it_is_not_known():
    assert site(**THOMPSON).choose(ARMS).propensity is None


def test_with_a_lot_it_is_what_the_lot_gave_the_arm():
    one, lots = site(explore=0.3), stream(0, "exploration", 5)
    for _ in range(40):
        decision = one.choose(ARMS)  # all arms alike at first, so the algorithm names arm 0
        chances = np.array([0.7 * 1.0 + 0.3 / 3, 0.3 / 3, 0.3 / 3])
        assert decision.arm == arm_by_lot(chances, lot_of(lots.standard_normal()))
        assert decision.propensity == chances[decision.arm]


def test_of_a_sample_and_a_lot_it_is_given_the_sample():
    one, side = site(explore=0.3, **THOMPSON), fb.algorithm("async-linucb", exploration="thompson", noise=1.0)
    sampler, lots = side.build(fb.Setting(1, 3, 2, 1)).clients, stream(0, "exploration", 5)
    state, who = sampler.start(1), np.zeros(1, dtype=np.int64)
    for _ in range(40):
        decision, normals = one.choose(ARMS), lots.standard_normal((1, 3))
        named = sampler.choose(state, who, ARMS[np.newaxis], normals[:, 1:])[0]
        assert decision.propensity == pytest.approx(0.7 * (decision.arm == named) + 0.1, abs=1e-15)


def test_further_samples_change_what_is_said_and_not_what_is_chosen():
    few, many = site(explore=0.3, **THOMPSON), site(explore=0.3, propensity_samples=9, **THOMPSON)
    pairs = [(few.choose(ARMS), many.choose(ARMS)) for _ in range(40)]
    assert all(one.arm == other.arm for one, other in pairs)
    told = {round((other.propensity - 0.1) / 0.7 * 10, 9) for _, other in pairs}
    assert told <= {float(count) for count in range(11)}, "a tenth of the mix for each of ten samples"
    assert len(told) > 2


def test_given_all_samples_each_of_which_may_decide_it_is_exact():
    """The mean of 1 / propensity where an arm is chosen is 1: so often it would be, were it chosen always."""
    for samples in (0, 4):
        one = site(explore=0.3, propensity_samples=samples, **THOMPSON)
        made = [one.choose(ARMS) for _ in range(4000)]
        for arm in range(3):
            weights = np.array([(each.arm == arm) / each.propensity for each in made])
            assert abs(weights.mean() - 1) < 4 * weights.std() / np.sqrt(len(made))


def test_further_samples_are_there_for_a_site_whose_sums_are_aggregated_securely():
    how = {"clients": 4, "explore": 0.3, "propensity_samples": 9, **THOMPSON}
    plain, secured = (fb.Site("sync-linucb", secure_aggregation=each, **how) for each in (False, True))
    told = [[each.choose(ARMS).propensity for each in (plain, secured)] for _ in range(20)]
    assert all(one == other for one, other in told)
    assert len({one for one, _ in told}) > 2


@pytest.mark.parametrize("parameters", [{}, {"explore": 0.1}, {"exploration": "thompson"}])
def test_further_samples_that_would_change_nothing_are_refused(tmp_path, parameters):
    with pytest.raises(fb.InvalidInput, match="propensity_samples=5 is for samples mixed with uniform choices"):
        site(propensity_samples=5, store=tmp_path / "s.db", **parameters)
    assert not (tmp_path / "s.db").exists()


@pytest.mark.parametrize("samples", [-1, 0.5, "many", True])
def test_a_number_of_samples_that_is_none_is_refused(samples):
    with pytest.raises(fb.InvalidInput, match="propensity_samples must be a whole number of at least 0"):
        site(propensity_samples=samples)


def test_a_decision_by_lot_survives_a_restart(tmp_path):
    with site(explore=0.5, store=tmp_path / "s.db") as one:
        decisions = [one.choose(ARMS) for _ in range(8)]
        one.learn(decisions[0], 1.0)
    with site(explore=0.5, store=tmp_path / "s.db") as again:
        assert again.pending == 7
        assert all(again.learn(each.id, 0.5) for each in decisions[1:])


def test_a_late_reward_is_compared_with_what_was_expected_when_its_arm_was_chosen(tmp_path):
    """E of `greed=auto`: the estimate has moved on when the reward comes, over a restart, too."""
    parameters = {"exploration": "igw", "upload_threshold": np.inf}
    with site(store=tmp_path / "s.db", **parameters) as one:
        first = one.choose(ARMS)
        one.learn(one.choose(ARMS), 1.0)
        second, estimate = one.choose(ARMS), one.node.life.node.state.rows.estimate[0].copy()
        one.node.save()
        third = one.choose(ARMS)
        one.learn(one.choose(ARMS[:1]), 0.25)
        moved = ARMS[0] @ estimate
    with site(store=tmp_path / "s.db", **parameters) as again:
        for decision in (first, second, third):
            again.learn(decision, 0.5)
        errors = again.node.life.node.state.errors
    expected = [0.0, *(ARMS[each.arm] @ estimate for each in (second, third))]
    squares = 1.0 + (0.25 - moved) ** 2 + sum((0.5 - each) ** 2 for each in expected)
    assert errors.squares[0] == pytest.approx(squares, rel=1e-12)
    assert errors.turns[0] == 5
    assert np.abs(expected).max() > 0
