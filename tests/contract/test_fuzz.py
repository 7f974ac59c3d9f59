"""A taste of the fuzz of `contract.fuzz` for every algorithm; the whole of it is run by hand, and at night."""

from __future__ import annotations

import pytest

from contract.fuzz import WITHOUT, fuzz
from contract.small_worlds import NEEDS_JAX
from fedbandit.durable.coordinator.outcome import Outcome

TALKING = [
    "async-linucb", "async-linucb-am", "clustered-linucb", "sync-linucb", "pooled-linucb", "fedglb-ucb",
    "fedglb-ucb-1", "fedglb-ucb-2", "fedglb-ucb-3", "one-ucb-glm", "fldb-gd", "fldb-ogd", "fedego-lasso",
    "teamwork-lasso",
]  # fmt: skip
NEURAL = ["fn-ucb", "fn-ucb-less"]


def assert_withstands(name, frames, seed):
    for share, more in ((2 * frames // 3, {}), (frames // 3, {"limits": WITHOUT})):
        tally = fuzz(name, share, seed, **more)
        assert tally.frames >= share
        assert tally.outcomes[Outcome.ACCEPTED] > 0
        assert tally.outcomes[Outcome.REFUSED] > share / 10


@pytest.mark.parametrize("name", TALKING)
def test_no_frame_harms_a_coordinator(name):
    assert_withstands(name, frames=1500, seed=11)


@pytest.mark.slow
@NEEDS_JAX
@pytest.mark.parametrize("name", NEURAL)
def test_no_frame_harms_a_coordinator_of_networks(name):
    assert_withstands(name, frames=2000, seed=12)


@pytest.mark.slow
@pytest.mark.parametrize("name", TALKING)
def test_no_frame_of_many_harms_a_coordinator(name):
    assert_withstands(name, frames=20_000, seed=13)
