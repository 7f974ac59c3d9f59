"""Runs of the linear family on recorded turns, compared with a literal transcription."""

from __future__ import annotations

import numpy as np

import fedbandit as fb
from fedbandit.environments.recorded import Recorded
from fedbandit.simulation.in_process import simulate


def play(folder, world, name, **parameters):
    path = str(folder / "turns.npz")
    np.savez(path, **world)
    recorded = Recorded(path=path)
    return simulate(fb.algorithm(name, **parameters), recorded, recorded.setting().horizon)


def assert_same(trace, wire, literal):
    assert trace.choice.tolist() == literal["arm"].tolist()
    assert np.cumsum(trace.messages).tolist() == literal["messages"].tolist()
    assert np.cumsum(trace.scalars).tolist() == literal["scalars"].tolist()
    assert (trace.ledger.uploads, trace.ledger.downloads) == (literal["uploads"], literal["downloads"])
    np.testing.assert_allclose(wire.server.state.gram, literal["V_g"], atol=1e-9)
    np.testing.assert_allclose(wire.server.state.moment, literal["b_g"], atol=1e-9)
