"""Kernel regression chooses as the literal transcription does; so do the linear baselines with a fixed width."""

from __future__ import annotations

import numpy as np
import pytest

import fedbandit as fb
from fedbandit.core.randomness import ClientStreams
from fedbandit.simulation.in_process import simulate
from reference import linear_ends
from reference import nonlinear as reference
from samples.worlds import recorded

WORLD = {"seed": 0, "rounds": 80, "clients": 2, "arms": 4, "dimension": 3}


def play(folder, world, name, **parameters):
    environment = recorded(folder, world)
    return simulate(fb.algorithm(name, **parameters), environment, environment.setting().horizon)[0]


@pytest.mark.parametrize("parameters", [{}, {"ridge": 0.1, "width": 1.0}, {"length": 0.3}, {"width": 0.0}], ids=str)
def test_kernel_ucb_equals_the_transcription(tmp_path, parameters):
    """Eighty observations are more than there is room for at first."""
    world = reference.nonlinear_rounds(**WORLD)
    assert play(tmp_path, world, "kernel-ucb", **parameters).choice.tolist() == (
        reference.kernel(world, **parameters)["arm"].tolist()
    )


def test_kernel_ts_equals_the_transcription(tmp_path):
    world = reference.nonlinear_rounds(**{**WORLD, "rounds": 40})
    draws = ClientStreams(seed=0).normals(world["client"], 4)
    literal = reference.kernel(world, draws=draws, width=0.5)
    assert play(tmp_path, world, "kernel-ts", width=0.5).choice.tolist() == literal["arm"].tolist()


def test_observations_beyond_the_limit_change_nothing(tmp_path):
    world = reference.nonlinear_rounds(**{**WORLD, "rounds": 30})
    changed = {**world, "reward": world["reward"].copy()}
    changed["reward"][20:] = 100.0
    few, same = (play(tmp_path, each, "kernel-ucb", observations=10).choice for each in (world, changed))
    assert few.tolist() == same.tolist()
    assert play(tmp_path, changed, "kernel-ucb").choice.tolist() != few.tolist()


@pytest.mark.parametrize(("name", "exploration"), [("linear-ucb", "ucb"), ("linear-ts", "thompson")])
def test_the_linear_baselines_are_the_linear_family_alone(tmp_path, name, exploration):
    world = reference.nonlinear_rounds(**WORLD)
    draws = ClientStreams(seed=0).normals(world["client"], 3)
    literal = linear_ends.local_linucb(world, ridge=1.0, alpha=0.3, exploration=exploration, draws=draws)
    trace = play(tmp_path, world, name, width=0.3)
    assert trace.choice.tolist() == literal["arm"].tolist()
    assert trace.ledger.messages == 0


def test_thompson_sampling_by_hand_needs_the_number_of_arms():
    client = fb.Client("kernel-ts", dimension=3, arms=4)
    with pytest.raises(fb.InvalidInput, match="2 arms on offer, but arms=4 when the algorithm was built"):
        client.choose(np.eye(3)[:2])
