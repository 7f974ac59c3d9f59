"""The server's bookkeeping for more clients than one block holds."""

from __future__ import annotations

import numpy as np

import fedbandit as fb
from fedbandit.environments.recorded import Recorded
from fedbandit.kernels.linear import download_check
from fedbandit.kernels.linear.download_check import BLOCK, no_contacts, set_level
from fedbandit.simulation.in_process import simulate
from reference.linear import async_linucb
from reference.recorded import linear_turns


def test_the_lowest_level_of_a_block_follows_its_clients():
    contacts = no_contacts(BLOCK + 3)
    set_level(contacts, BLOCK + 1, 5.0)
    set_level(contacts, BLOCK + 2, 4.0)
    assert contacts.lowest.tolist() == [np.inf, 4.0]
    set_level(contacts, BLOCK + 2, 6.0)
    assert contacts.lowest.tolist() == [np.inf, 5.0]


def test_more_clients_than_a_block_holds_get_the_same_downloads(tmp_path):
    world = linear_turns(seed=0, turns=2600, clients=1100, arms=2, dimension=2)
    np.savez(tmp_path / "turns.npz", **world)
    recorded = Recorded(path=str(tmp_path / "turns.npz"))
    assert recorded.setting().clients > download_check.BLOCK
    trace, _ = simulate(fb.algorithm("async-linucb", upload_threshold=20, download_threshold=3), recorded, 2600)
    literal = async_linucb(world, upload_threshold=20, download_threshold=3)
    assert trace.choice.tolist() == literal["arm"].tolist()
    assert np.cumsum(trace.messages).tolist() == literal["messages"].tolist()
