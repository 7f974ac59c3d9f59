"""An algorithm that says so learns from the chosen arms alone: a site need not keep what else was on offer."""

from __future__ import annotations

import numpy as np
import pytest

import fedbandit as fb
from contract.small_worlds import CLIENTS, algorithm_names, small_setting, small_turns
from fedbandit.core.interfaces import Cadence
from fedbandit.core.randomness import ClientStreams
from fedbandit.core.turns import Chosen, Observations
from fedbandit.protocol.client import ClientNode
from fedbandit.protocol.ledger import Ledger
from fedbandit.protocol.server import ServerNode
from fedbandit.simulation.wire import Wire
from fedbandit.wire.state import encode_state
from samples.needed import algorithm

ROUNDS = 12
KEEP_OFFERS = {"fn-ucb"}  # clients weigh the uncertainties of all arms that were last on offer


def narrowed(features, choice):
    turns = [Chosen.of(features[at : at + 1], choice[at : at + 1]) for at in range(len(choice))]
    return np.concatenate([each.features for each in turns]), np.concatenate([each.choice for each in turns])


def played(name, *, narrow):
    sides = algorithm(name).build(small_setting(name, ROUNDS))
    wire = Wire(ClientNode(sides.clients, CLIENTS), ServerNode(sides.server, CLIENTS), Ledger())
    turns, streams, clients = small_turns(name, ROUNDS, seed=5), ClientStreams(seed=3), wire.clients
    at_once = CLIENTS if clients.side.cadence is Cadence.ROUND else 1
    for start in range(0, ROUNDS * CLIENTS, at_once):
        now = slice(start, start + at_once)
        who, features = turns.client[now], turns.features[now]
        wire.noise.supply(clients)
        wire.carry(clients.ask(who))
        choice = clients.decide(who, features, streams.normals(who, clients.side.draws)).choices
        feedback = turns.outcomes.feedback(now, choice)
        seen = narrowed(features, choice) if narrow else (features, choice)
        wire.carry(clients.learn(who, Observations(*seen, feedback)))
    return clients.side, encode_state(clients.state), encode_state(wire.server.state)


@pytest.mark.parametrize("name", algorithm_names())
def test_what_was_not_chosen_changes_nothing(name):
    side, *whole = played(name, narrow=False)
    if side.learns_from_choice:
        assert played(name, narrow=True)[1:] == tuple(whole)
    else:
        assert fb.algorithms[name].shares_context or name in KEEP_OFFERS
