"""What a global update sends, on the wire and in the ledger."""

from __future__ import annotations

import numpy as np
import pytest

import fedbandit as fb
from fedbandit.environments.logistic import Logistic
from fedbandit.protocol.ledger import Ledger
from fedbandit.simulation.in_process import simulate
from fedbandit.wire import decode, encode, weigh
from samples.runs import ByMessages

RUNS = [
    ("fedglb-ucb", {"sync_threshold": 0.5}),
    ("fedglb-ucb", {"sync_threshold": 0.5, "solver": "newton"}),
    ("fedglb-ucb-1", {"rounds_of_update": 3}),
    ("fedglb-ucb-3", {"rounds_of_update": 3}),
]


@pytest.mark.parametrize(("name", "parameters"), RUNS)
def test_every_message_survives_the_wire_and_weighs_what_it_takes(monkeypatch, name, parameters):
    carried = []
    monkeypatch.setattr(Ledger, "record", lambda ledger, envelope: carried.append(envelope))
    simulate(ByMessages(fb.algorithm(name, **parameters)), Logistic(clients=4, arms=5, dimension=3), 40)
    for envelope in carried:
        for one in envelope.split():
            data = encode(one.message)
            again = decode(data)
            assert len(data) == weigh(one.message).bytes
            assert type(again) is type(one.message)
            for field in again.layout():
                assert np.array_equal(getattr(again, field), getattr(one.message, field)), field
    assert len({envelope.message.kind for envelope in carried}) >= 4


@pytest.mark.parametrize("name", ["fedglb-ucb-1", "fedglb-ucb-3"])
def test_what_an_update_sends_does_not_grow_with_what_was_observed(name):
    """Clients send sums over their observations: an eps that the start already meets makes one question of it."""
    parameters = {"suboptimality": 1e3} if name == "fedglb-ucb-1" else {}
    algorithm = fb.algorithm(name, rounds_of_update=1, **parameters)
    world = Logistic(clients=3, arms=4, dimension=5)
    sent = [simulate(algorithm, world, 3 * rounds)[0].ledger.scalars for rounds in (2, 100)]
    assert sent[0] == sent[1] > 0
