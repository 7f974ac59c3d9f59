"""The sampling plan of the Lasso family, and the errors that its members share."""

import numpy as np
import pytest

import fedbandit as fb
from fedbandit.algorithms.lasso.shared.family import TeamworkPlan
from reference.lasso import ends_stage, teamwork_stage


@pytest.mark.parametrize(("arms", "unit"), [(1, 1), (3, 1), (3, 2), (5, 4)])
def test_the_plan_is_that_of_the_transcription(arms, unit):
    plan = TeamworkPlan(arms, unit)
    turns = np.arange(1, 400)
    stages = [teamwork_stage(t, arms, unit) for t in turns]
    assert plan.is_teamwork(turns).tolist() == [stage is not None for stage in stages]
    told = [-1 if stage is None else t % arms for t, stage in zip(turns, stages, strict=True)]
    assert plan.told(turns).tolist() == told
    ended = [stage if ends_stage(t, arms, unit) else -1 for t, stage in zip(turns, stages, strict=True)]
    assert plan.ended_stage(turns).tolist() == ended


@pytest.mark.parametrize("algorithm", ["fedego-lasso", "lasso-bandit", "teamwork-lasso"])
def test_arms_with_features_of_their_own_are_refused(algorithm):
    world = fb.environment("linear", clients=2, arms=3, dimension=4, arrivals="round-robin")
    with pytest.raises(fb.InvalidInput, match="needs one context for all arms"):
        fb.run(algorithm, world, turns=4)


@pytest.mark.parametrize(
    ("name", "value"), [("unit", 0), ("gap", -1), ("forced_penalty", -0.1), ("private_penalty", -1), ("tolerance", 0)]
)
def test_a_bad_parameter_is_named(name, value):
    with pytest.raises(fb.InvalidInput, match=f"{name} must be at least"):
        fb.algorithm("fedego-lasso", **{name: value})


def test_an_incomplete_round_is_refused():
    world = fb.environment("sparse", clients=3, dimension=12)
    with pytest.raises(fb.InvalidInput, match="incomplete"):
        fb.run("fedego-lasso", world, turns=10)
