"""With `smallest_upload` clients take part in updates with enough, as the literal transcription does."""

from __future__ import annotations

from functools import partial

import numpy as np
import pytest

import fedbandit as fb
from algorithms.glm.test_fedglb_ucb import assert_same
from fedbandit.algorithms.glm.shared.messages import Call
from reference.recorded import glm_rounds

SIZES = {"rounds": 40, "clients": 5, "arms": 5, "dimension": 3}


@pytest.mark.parametrize("smallest_upload", [2, 9])
@pytest.mark.parametrize(
    ("name", "when"),
    [("fedglb-ucb", {"sync_threshold": 0.5}), ("fedglb-ucb-1", {"rounds_of_update": 25}),
     ("fedglb-ucb-2", {"rounds_of_update": 25}), ("fedglb-ucb-3", {"rounds_of_update": 25})],
)  # fmt: skip
def test_it_equals_the_transcription(tmp_path, name, when, smallest_upload):
    world = glm_rounds(seed=4, **SIZES)
    world["arms"][::4] = 0.0
    literal = assert_same(tmp_path, world, name, **when, smallest_upload=smallest_upload)
    assert literal["rounds"] > 3


class Federation:
    """Clients and server by hand, with all that clients have said."""

    def __init__(self, solver="accelerated", **parameters):
        shape = {"dimension": 2, "clients": 2, "sync_threshold": 0.0, "solver": solver, **parameters}
        self.clients = [fb.Client("fedglb-ucb", number=number, **shape) for number in range(2)]
        self.server = fb.Server("fedglb-ucb", **shape)
        self.rng = np.random.default_rng(1)
        self.said = []

    def turn(self, number):
        client = self.clients[number]
        client.choose(self.rng.standard_normal((3, 2)) / 4)
        return client.learn(float(self.rng.integers(0, 2)))

    def carry(self, envelopes, meanwhile=None):
        """Carry to the end; between two messages something may happen."""
        while envelopes:
            envelope = envelopes.pop(0)
            self.said.append((int(envelope.clients[0]), envelope.message))
            for answer in self.server.receive(envelope):
                envelopes += [more for each in self.clients for more in each.receive(answer)]
            if meanwhile is not None:
                meanwhile()

    def parts(self, number):
        return [message for sender, message in self.said if sender == number and message.kind == "glm.statistics"]


@pytest.mark.parametrize("solver", ["accelerated", "newton"])
def test_all_answers_of_an_update_are_over_the_same_observations(solver):
    """A client that learns between two probes answers as if it had not: else one subtraction tells what it learnt."""
    told = []
    for learns in (False, True):
        federation = Federation(solver, smallest_upload=4, suboptimality=1e-9)
        due = []
        while not due:
            due = federation.turn(0)
        federation.carry(due, partial(federation.turn, 0) if learns else None)
        told.append([message for sender, message in federation.said if sender == 0 and hasattr(message, "gradient")])
    assert len(told[0]) == len(told[1]) > 1
    for quiet, busy in zip(*told, strict=True):
        assert (quiet.gradient == busy.gradient).all()


def test_every_part_is_over_enough_and_the_gram_is_that_of_all_parts():
    federation = Federation(smallest_upload=6)
    for turn in range(60):
        federation.carry(federation.turn(turn % 3 % 2))
    counts = [int(part.told()[0]) for number in range(2) for part in federation.parts(number)]
    assert min(each for each in counts if each) >= 6
    assert len([each for each in counts if each]) > 4
    state = federation.server.node.state
    grams = sum(part.gram[0] for number in range(2) for part in federation.parts(number))
    np.testing.assert_allclose(state.gram, grams, atol=1e-12)
    assert state.taken.sum() == sum(counts)


def test_a_site_whose_store_was_lost_tells_nothing_of_too_few():
    """The server has 6 of its observations, of a life that is lost; in the new one it has 8."""
    federation = Federation(smallest_upload=6)
    for _ in range(6):
        federation.carry(federation.turn(0))
    assert federation.server.node.state.taken[0] == 6
    federation.clients[0] = fb.Client(
        "fedglb-ucb", number=0, dimension=2, clients=2, sync_threshold=0.0, smallest_upload=6
    )
    federation.said.clear()
    side, state = federation.clients[0].node.side, federation.clients[0].node.state
    for _ in range(8):
        federation.turn(0)
    state.rows.version[0] = 1
    who, since = np.zeros(1, dtype=np.int64), 6
    side.receive(state, who, Call(2, since=-1))
    (answer,) = side.receive(state, who, Call(2, since=since))
    assert answer.message.told()[0] == 0
    assert not answer.message.gram.any()
    assert state.rows.telling[0] == 2
