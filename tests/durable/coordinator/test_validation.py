"""What depends on what a server has heard before, and what comes of an upload."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from contract.honest_runs import HonestRun
from fedbandit.core.bounds import Bounds
from fedbandit.core.errors import ProtocolError
from fedbandit.durable.coordinator.outcome import Outcome
from fedbandit.durable.coordinator.validation import Limits
from fedbandit.wire import decode, encode
from fedbandit.wire.frame import LARGEST_NUMBER, Frame, Kind
from fedbandit.wire.state import encode_state
from samples.bad_frames import GOOD, statistics, upload
from samples.coordinators import coordinator


class Recorded(HonestRun):
    """A run whose frames are kept."""

    def upload(self, frame, now):
        self.frames = [*getattr(self, "frames", []), frame]
        super().upload(frame, now)


def frames_of(name, rounds=3, **parameters):
    run = Recorded(name, rounds, seed=1, **parameters).play()
    return run, run.frames


def everything(server):
    return encode_state(server.node.memory), encode_state(server.accounts)


def test_a_gradient_that_overtakes_the_duels_it_speaks_of_is_asked_for_again():
    run, frames = frames_of("fldb-gd", rounds=1)
    server = coordinator(run.server.validation.limits, run.charter)
    first = [frame for frame in frames if frame.client == 0]
    information, gradient = first[0], next(each for each in first if decode(each.body).kind == "dueling.gradient")
    for frame in frames[1:3]:
        server.receive(frame.to_bytes(), 0.0, frame.client)
    server.deadline(0.0)  # the others begin without client 0, whose duel has not come
    question = server.node.state.questions.number
    message = decode(gradient.body)
    early = replace(gradient, body=encode(replace(message, number=np.array([question]))))
    verdict = server.receive(early.to_bytes(), 0.0, 0)
    assert verdict.outcome is Outcome.NOT_YET
    assert "uploads before it have not come" in verdict.reason
    assert server.receive(information.to_bytes(), 0.0, 0).outcome is Outcome.ACCEPTED
    assert server.receive(early.to_bytes(), 0.0, 0).outcome is Outcome.ACCEPTED


def test_a_gradient_of_duels_that_nobody_told_of_is_refused():
    run, frames = frames_of("fldb-gd", rounds=1)
    server = coordinator(run.server.validation.limits, run.charter)
    for frame in frames[:3]:
        server.receive(frame.to_bytes(), 0.0, frame.client)
    gradient = next(each for each in frames if decode(each.body).kind == "dueling.gradient")
    message = decode(gradient.body)
    long = replace(message, gradient=np.array([[0.0, 0.0, 0.0, 0.0, 4.1]]))  # one duel of arms of length 2: at most 4
    verdict = server.receive(replace(gradient, body=encode(long)).to_bytes(), 0.0, gradient.client)
    assert verdict.outcome is Outcome.REFUSED
    assert verdict.reason == "the length of the gradient is 4.1: no honest one is longer than 4"


@pytest.mark.parametrize("what", ["sums", "downloads"])
def test_an_upload_after_which_something_is_not_finite_is_undone(what, monkeypatch):
    server = coordinator()
    server.receive(GOOD.to_bytes(), now=0.0, sender=1)
    server.receive(replace(GOOD, client=2).to_bytes(), now=0.0, sender=2)
    server.commit()
    before = everything(server)
    receive = server.side.receive

    def spoil(state, senders, message):
        outgoing = receive(state, senders, message)
        if message.observations[0] != 7:
            return outgoing
        target = state if what == "sums" else outgoing[0].message
        target.moment[0] = np.nan
        return outgoing

    monkeypatch.setattr(server.side, "receive", spoil)
    seventh = upload(statistics(observations=7), sequence=2).to_bytes()
    verdict = server.receive(seventh, now=1.0, sender=1)
    monkeypatch.undo()
    assert verdict.outcome is Outcome.REFUSED
    assert "would not be finite" in verdict.reason
    assert everything(server) == before
    assert server.receive(seventh, now=1.0, sender=1).outcome is Outcome.ACCEPTED


def test_a_deadline_that_an_algorithm_cannot_meet_changes_nothing_and_ends_nothing(monkeypatch):
    run, frames = frames_of("sync-linucb", rounds=2)
    server = coordinator(None, run.charter)
    server.receive(frames[0].to_bytes(), 0.0, frames[0].client)
    server.commit()
    before, records = everything(server), server.journal.size()
    assert server.awaited().size

    def fail(state):
        state.version += 1
        raise ArithmeticError("no")

    monkeypatch.setattr(server.side, "deadline", fail)
    assert server.deadline(1.0).size == 0
    monkeypatch.undo()
    assert (everything(server), server.journal.size()) == (before, records)
    assert server.deadline(2.0).size == 2


def test_what_comes_early_in_many_epochs_is_remembered_no_longer_than_in_one():
    server = coordinator(Limits(uploads_ahead=8))
    for epoch in range(1, 50):
        for number in range(2, 9):
            server.receive(Frame(Kind.VOID, 1, epoch, number).to_bytes(), 0.0, 1)
    assert sum(len(window.early) for window in server.node.seen.windows.values()) == 8
    assert server.receive(GOOD.to_bytes(), 0.0, 1).outcome is Outcome.ACCEPTED, "the next number is always taken in"
    early = server.receive(replace(GOOD, sequence=3).to_bytes(), 0.0, 1)
    assert early.outcome is Outcome.NOT_YET
    other = replace(GOOD, client=2, sequence=3)
    assert server.receive(other.to_bytes(), 0.0, 2).outcome is Outcome.ACCEPTED, "others are not concerned"


@pytest.mark.parametrize("numbers", [(LARGEST_NUMBER, 1), (1, LARGEST_NUMBER)], ids=["epoch", "sequence"])
def test_the_largest_number_is_one_and_the_next_is_none(numbers):
    check = coordinator().validation.check_header
    check(Frame(Kind.UPLOAD, 0, *numbers), 0)
    beyond = [each + (each == LARGEST_NUMBER) for each in numbers]
    with pytest.raises(ProtocolError, match=f"{LARGEST_NUMBER + 1} is not a"):
        check(Frame(Kind.UPLOAD, 0, *beyond), 0)


def test_sums_whose_rounding_hides_a_negative_direction_are_refused():
    server = coordinator(Limits(Bounds(1.0, 1.0)))
    many = 10**10
    hidden = np.diag([many / 2, -1e-9 * many / 2.1, 0.0, 0.0])  # 1e-9 of a sum is thought to be its rounding
    verdict = server.receive(upload(statistics(many, hidden, np.zeros(4))).to_bytes(), 0.0, 1)
    assert verdict.outcome is Outcome.REFUSED
    assert "no inverse exists" in verdict.reason


def test_sums_that_hide_it_little_by_little_leave_half_of_the_ridge():
    server = coordinator(Limits(Bounds(1.0, 1.0)))
    many = 10**8
    hidden = np.diag([many / 2, -1e-9 * many / 2.1, 0.0, 0.0])
    for number in range(1, 100):
        frame = upload(statistics(many, hidden, np.zeros(4)), sequence=number)
        if server.receive(frame.to_bytes(), 0.0, 1).outcome is not Outcome.ACCEPTED:
            break
    gram, ridge = server.node.state.gram, server.side.ridge
    assert number < 99
    assert np.linalg.eigvalsh(gram)[0] > -0.5 * ridge
