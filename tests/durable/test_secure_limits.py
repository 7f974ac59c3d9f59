"""Sums are checked against the limits of a federation, as one upload of so many observations would be."""

from __future__ import annotations

import math

import numpy as np
import pytest

from fedbandit.core.bounds import Bounds
from fedbandit.durable.coordinator.abandoning import REFUSED
from fedbandit.durable.coordinator.record import RecordKind, ServerRecord
from fedbandit.durable.coordinator.validation import Limits
from fedbandit.secure.gathering import NONE
from fedbandit.secure.messages import Question
from fedbandit.simulation.replay import replay
from fedbandit.wire.state import encode_state
from samples import pair
from samples.secure_rounds import SITES, Rounds, total_gram

UNIT = Limits(Bounds(context=1.0, reward=1.0))
DIRECTION = np.array([math.cos(1.0), math.sin(1.0)])
DUELS = {"ridge": 1.0, "curvature": 0.25}
NEWTON = {"solver": "newton", "sync_threshold": 0.01}
FAMILIES = [
    ("sync-linucb", {"sync_threshold": 0.1}),
    ("fldb-ogd", DUELS | {"period": 2, "smallest_upload": 2}),
    ("fldb-gd", DUELS | {"solver": "gradient", "inner_steps": 2}),
    ("fedglb-ucb", NEWTON),
    ("fedglb-ucb", {"suboptimality": 1e-2, "sync_threshold": 0.01}),
    ("fedglb-ucb-3", {"rounds_of_update": 50}),
    ("fedego-lasso", {}),
]


def limited(name, limits=UNIT, **parameters):
    run = Rounds(name, **parameters)
    run.server = pair.open_server(run.charter, run.journal, limits=limits)
    return run


def extreme_turn(run, number, scale=1.0):
    """A decision among arms at the border of the limits, with the largest reward."""
    signs = np.array([1.0, -1.0, 1.0])[:, np.newaxis]
    arms = (scale * DIRECTION)[np.newaxis] if run.charter.algorithm.shares_context else scale * signs * DIRECTION
    name, _ = run.sites[number].choose(arms[np.newaxis] if arms.ndim == 2 and len(arms) > 1 else arms, pair.NO_LOTS)
    run.sites[number].learn(name, 1.0)


@pytest.mark.parametrize(
    ("name", "parameters"), [FAMILIES[0], *(pytest.param(*each, marks=pytest.mark.slow) for each in FAMILIES[1:])]
)
def test_honest_sums_at_the_border_of_the_limits_pass(name, parameters):
    run = limited(name, **parameters)
    for _ in range(4):
        for number in range(SITES):
            extreme_turn(run, number)
        run.exchange()
    gathering = run.state.gathering
    assert (gathering.refused, gathering.reason) == (0, "")
    assert gathering.finished >= 1


@pytest.mark.parametrize(
    ("name", "parameters", "said"),
    [
        (*FAMILIES[0], "the trace of the gram matrix is"),
        pytest.param(*FAMILIES[1], "the trace of the information is", marks=pytest.mark.slow),
        pytest.param(*FAMILIES[2], "the trace of the information is", marks=pytest.mark.slow),
        pytest.param(*FAMILIES[3], "the trace of the gram matrix is", marks=pytest.mark.slow),
    ],
)
def test_a_sum_beyond_the_limits_is_not_taken_in_and_somebody_is_told(name, parameters, said):
    run = limited(name, **parameters)
    before = encode_state(run.within)
    for number in range(SITES):
        for _ in range(2 if name == "fldb-ogd" else 1):
            extreme_turn(run, number, scale=4.0 if number == 2 else 1.0)
    run.exchange()
    gathering = run.state.gathering
    assert (gathering.refused, gathering.stage) == (1, NONE)
    assert said in gathering.reason
    assert encode_state(run.within) == before
    run.server.look_at_sums(1.0)
    (told,) = [each for each in run.server.concerns if each.kind == REFUSED]
    assert gathering.reason in told.text
    for number in range(SITES):
        for _ in range(2):
            extreme_turn(run, number)
    run.exchange()
    assert gathering.finished >= 1, "the next round is as ever"
    assert encode_state(replay(run.charter, run.journal.records()).state) == encode_state(run.state)


def test_gradients_beyond_the_limits_end_the_search_and_nothing_is_lost(monkeypatch):
    run = limited("fedglb-ucb", **NEWTON)
    for number in range(SITES):
        run.turn(number, 0)
    side = run.sites[1].life.side.within
    answers = run.exchange(until=lambda message: isinstance(message, Question) and message.step > 0)
    gradients = type(side.update).gradients
    monkeypatch.setattr(type(side.update), "gradients", lambda *given: _longer(gradients(*given)))
    run.carry(answers)
    assert (run.state.gathering.refused, run.within.version) == (1, 0)
    assert "the length of the gradient is" in run.state.gathering.reason
    assert run.state.pending.any(), "what was told counts in the next update"
    monkeypatch.undo()
    run.play(2, first=1)
    assert run.within.version > 0
    np.testing.assert_array_equal(total_gram(run), run.outer_products)


def _longer(message):
    message.gradient[:] = 100.0
    return message


def test_other_limits_are_a_record_of_the_journal():
    run = limited("sync-linucb", sync_threshold=0.1)
    run.play(1)
    run.server.validation.limits = Limits(Bounds(context=2.0, reward=1.0))
    run.play(1, first=1)
    records = [ServerRecord.from_bytes(entry.data) for entry in run.journal.records()]
    assert [each.data for each in records if each.what is RecordKind.LIMITED] == [b"1.0 1.0", b"2.0 1.0"]
    assert (run.state.context, run.state.reward) == (2.0, 1.0)
    assert encode_state(replay(run.charter, run.journal.records()).state) == encode_state(run.state)


def test_a_regression_that_does_not_converge_ends_its_update_and_leaves_nobody_waiting():
    run = Rounds("fedglb-ucb", link="identity", arm_bound=0.001, ridge=0.01, sync_threshold=0.01)
    run.play(1)
    gathering = run.state.gathering
    assert (gathering.stage, run.within.version, run.within.questions.is_open) == (NONE, 0, False)
    assert gathering.refused == 1
    assert "set arm_bound to the length of the longest arm" in gathering.reason
    assert run.state.pending.any(), "what was told counts in the next update"
    np.testing.assert_array_equal(total_gram(run), run.outer_products)
