"""The state of every algorithm goes to bytes and back without a pickle and without losing a bit."""

from __future__ import annotations

from dataclasses import fields, is_dataclass

import numpy as np
import pytest

from contract.small_worlds import CLIENTS, algorithm_names, small_setting, small_turns
from fedbandit.core.interfaces import Cadence
from fedbandit.core.randomness import ClientStreams
from fedbandit.core.turns import Observations
from fedbandit.protocol.client import ClientNode
from fedbandit.protocol.ledger import Ledger
from fedbandit.protocol.server import ServerNode
from fedbandit.simulation.wire import Wire
from fedbandit.wire.state import decode_state, encode_state
from samples.needed import algorithm

ROUNDS = 24


class Played:
    """A simulation that can be stopped between two rounds."""

    def __init__(self, name):
        setting = small_setting(name, ROUNDS)
        sides = algorithm(name).build(setting)
        self.turns = small_turns(name, ROUNDS, seed=5)
        self.wire = Wire(ClientNode(sides.clients, CLIENTS), ServerNode(sides.server, CLIENTS), Ledger())
        self.streams = ClientStreams(seed=3)
        self.chosen = []

    def play(self, first, last):
        clients = self.wire.clients
        at_once = CLIENTS if clients.side.cadence is Cadence.ROUND else 1
        for start in range(first * CLIENTS, last * CLIENTS, at_once):
            now = slice(start, start + at_once)
            who, features = self.turns.client[now], self.turns.features[now]
            self.wire.noise.supply(clients)
            self.wire.carry(clients.ask(who))
            choice = clients.decide(who, features, self.streams.normals(who, clients.side.draws)).choices
            self.chosen.append(choice)
            self.wire.carry(
                clients.learn(who, Observations(features, choice, self.turns.outcomes.feedback(now, choice)))
            )

    def states(self):
        return [self.wire.clients.state, self.wire.server.state]


def arrays_of(value):
    if isinstance(value, np.ndarray):
        yield value
    elif is_dataclass(value):
        for each in fields(value):
            yield from arrays_of(getattr(value, each.name))
    elif isinstance(value, dict):
        for each in value.values():
            yield from arrays_of(each)
    elif isinstance(value, tuple | list):
        for each in value:
            yield from arrays_of(each)


@pytest.mark.parametrize("name", algorithm_names())
def test_both_states_come_back_bit_for_bit(name):
    played = Played(name)
    for first in range(0, ROUNDS, 6):
        for state in played.states():
            data = encode_state(state)
            again = decode_state(data, type(state))
            assert type(again) is type(state)
            assert encode_state(again) == data
        played.play(first, first + 6)


@pytest.mark.parametrize("name", algorithm_names())
def test_a_run_goes_on_from_stored_states_as_if_nothing_had_happened(name):
    whole, stopped = Played(name), Played(name)
    whole.play(0, ROUNDS)
    stopped.play(0, ROUNDS // 2)
    wire = stopped.wire
    for node in (wire.clients, wire.server):
        node.state = decode_state(encode_state(node.state), type(node.state))
    stopped.play(ROUNDS // 2, ROUNDS)
    assert all((one == other).all() for one, other in zip(whole.chosen, stopped.chosen, strict=True))
    for one, other in zip(whole.states(), stopped.states(), strict=True):
        assert encode_state(one) == encode_state(other)


@pytest.mark.parametrize("name", algorithm_names())
def test_no_two_arrays_of_a_state_share_memory(name):
    """They would after a restart no longer do so, and the run would go on otherwise."""
    played = Played(name)
    played.play(0, ROUNDS)
    for state in played.states():
        arrays = [each for each in arrays_of(state) if each.size]
        for place, one in enumerate(arrays):
            assert not any(np.shares_memory(one, other) for other in arrays[:place])
