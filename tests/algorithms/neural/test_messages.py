"""What no honest site can have sent, and what another variant exchanges, is refused and changes nothing."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import fedbandit as fb
from fedbandit.algorithms.neural.shared.messages import Contribution, DiagonalContribution
from fedbandit.core.bounds import Bounds
from fedbandit.core.errors import ProtocolError
from fedbandit.core.messages import Download, Upload
from fedbandit.protocol.schema import Schema
from fedbandit.wire import encode
from fedbandit.wire.state import encode_state

SETTING = fb.Setting(clients=3, arms=2, dimension=2, horizon=5)
PHI = np.random.default_rng(0).standard_normal((5, 6)).astype(np.float32)
REWARDS = np.array([1.0, -1.0, 0.5, 0.25, -1.0], dtype=np.float32)
GRAM, INVERSE = PHI.T @ PHI, np.linalg.inv(0.1 * np.eye(6) + PHI.T @ PHI).astype(np.float32)
GOOD = Contribution(
    GRAM[None], (REWARDS @ PHI)[None], np.ones((1, 6)), np.array([0.5]), INVERSE[None], np.array([0]), np.array([5])
)
DIAGONAL = DiagonalContribution(
    np.diag(GRAM)[None], GOOD.moment, GOOD.weights, GOOD.ratio, np.diag(INVERSE)[None], GOOD.version, GOOD.observations
)
TILTED = GRAM.copy()
TILTED[0, 1] = TILTED[1, 0] = 1.01 * np.sqrt(GRAM[0, 0] * GRAM[1, 1])
IMPOSSIBLE = {
    "a weight above 1": ({"ratio": np.array([1.5])}, r"the ratio is \[1.5\], not from 0 to 1"),
    "a weight below 0": ({"ratio": np.array([-0.1])}, "not from 0 to 1"),
    "fewer observations than none": ({"observations": np.array([-1])}, "is -1, but it counts something"),
    "sums of no observations": ({"observations": np.array([0])}, "not zero, of no observations"),
    "a moment that is too long": ({"moment": 9 * GOOD.moment}, "no rewards in bounds give both"),
}


@pytest.mark.parametrize("message", [GOOD, DIAGONAL], ids=["full", "diagonal"])
class TestContribution:
    def test_an_honest_one_is_taken_in(self, message):
        message.check(Bounds(reward=1.0))
        message.check(Bounds())
        nothing = replace(message, gram=0 * message.gram, moment=0 * message.moment, observations=np.array([0]))
        nothing.check(Bounds(reward=1.0))

    @pytest.mark.parametrize(("changes", "reason"), IMPOSSIBLE.values(), ids=IMPOSSIBLE)
    def test_an_impossible_one_is_refused(self, message, changes, reason):
        with pytest.raises(ProtocolError, match=reason):
            replace(message, **changes).check(Bounds(reward=1.0))

    @pytest.mark.parametrize(("field", "name"), [("gram", "gram matrix"), ("inverse", "inverse")])
    def test_a_matrix_with_negative_numbers_on_its_diagonal_is_refused(self, message, field, name):
        with pytest.raises(ProtocolError, match=f"the diagonal of the {name} has -"):
            replace(message, **{field: -getattr(message, field)}).check(Bounds())


def test_a_gram_matrix_that_two_coordinates_show_to_be_none_is_refused():
    with pytest.raises(ProtocolError, match="the gram matrix is not positive semi-definite"):
        replace(GOOD, gram=TILTED[None]).check(Bounds())


def built(name, **changes):
    pytest.importorskip("jax", reason="needs JAX: pip install '.[neural]'")
    return fb.algorithm(name, width=4, train_steps=1, **changes).build(SETTING)


def contribution_of(sides):
    """What a client that has seen nothing answers to a call."""
    call = sides.server.receive(sides.server.start(3), np.array([0]), hello(sides))[0]
    return sides.clients.receive(sides.clients.start(1), np.array([0]), call.message)[0].message


def hello(sides):
    return sides.server.kinds[0](np.array([0]))


@pytest.mark.parametrize("diagonal", [False, True])
def test_a_server_refuses_contributions_of_the_other_kind_before_it_has_changed(diagonal):
    mine, other = built("fn-ucb-less", diagonal=diagonal), built("fn-ucb-less", diagonal=not diagonal)
    state = mine.server.start(3)
    before, message = encode_state(state), contribution_of(other)
    with pytest.raises(ProtocolError, match="this federation exchanges"):
        mine.server.receive(state, np.array([1]), message)
    assert encode_state(state) == before
    assert message.kind not in Schema.of(mine.server, Upload, SETTING).known


@pytest.mark.parametrize("name", ["fn-ucb", "fn-ucb-less"])
@pytest.mark.parametrize("diagonal", [False, True])
def test_a_client_refuses_a_consensus_of_another_kind_before_it_has_changed(name, diagonal):
    other = built("fn-ucb-less" if name == "fn-ucb" else "fn-ucb", diagonal=diagonal)
    state = other.server.start(3)
    other.server.receive(state, np.array([0]), hello(other))
    other.server.receive(state, np.array([0]), contribution_of(other))
    (consensus,) = other.server.deadline(state)
    mine = built(name, diagonal=diagonal)
    site = mine.clients.start(1)
    before = encode_state(site)
    with pytest.raises(ProtocolError, match="this federation exchanges"):
        mine.clients.receive(site, np.array([0]), consensus.message)
    assert encode_state(site) == before
    assert consensus.message.kind not in Schema.of(mine.clients, Download, SETTING).known


@pytest.mark.parametrize("diagonal", [False, True])
@pytest.mark.parametrize("precision", ["float32", "float64"])
def test_the_largest_message_that_is_declared_is_the_one_that_is_sent(diagonal, precision):
    sides = built("fn-ucb", diagonal=diagonal, precision=precision)
    message = contribution_of(sides)
    assert Schema.of(sides.server, Upload, SETTING).most_bytes == len(encode(message))
