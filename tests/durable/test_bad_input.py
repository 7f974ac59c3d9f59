"""What a coordinator is sent that it must not take in: all refused with a reason, and nothing changes."""

from __future__ import annotations

import struct
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fedbandit.algorithms.linear.shared.messages import Hello, Statistics
from fedbandit.durable.coordinator.outcome import Outcome
from fedbandit.durable.coordinator.postbox import posted
from fedbandit.wire.frame import Frame, Kind
from fedbandit.wire.header import HEADER
from fedbandit.wire.state import encode_state
from samples.bad_frames import BAD, BODY, GOOD, SITES, statistics, upload
from samples.coordinators import coordinator


def everything(server):
    """All that a coordinator remembers, as bytes."""
    return encode_state([server.node.memory, server.accounts, posted(server.postbox.latest_downloads())]), [
        *server.journal.records()
    ]


def test_there_are_at_least_thirty_kinds_of_bad_input():
    assert len(BAD) >= 30


def test_the_page_on_the_protocol_lists_all_of_them_with_what_is_said():
    page = (Path(__file__).parents[2] / "docs" / "protocol.md").read_text(encoding="utf-8")
    table = page.partition("| what is sent | what the coordinator says |\n| --- | --- |\n")[2].partition("\n\n")[0]
    assert table.splitlines() == [f"| {name} | {reason} |" for name, (_, reason) in BAD.items()]


@pytest.mark.parametrize("name", BAD)
def test_bad_input_is_refused_with_a_reason_and_changes_nothing(name):
    bad, reason = BAD[name]
    server = coordinator()
    before = everything(server)
    verdict = server.receive(bad if isinstance(bad, bytes) else bad.to_bytes(), now=0.0, sender=1)
    assert verdict.outcome in (Outcome.REFUSED, Outcome.NOT_YET)
    assert reason in verdict.reason
    assert everything(server) == before
    server.commit()
    assert everything(server) == before


def test_the_good_one_is_taken_in():
    assert coordinator().receive(GOOD.to_bytes(), now=0.0, sender=1).outcome is Outcome.ACCEPTED


def test_a_site_is_told_why_its_upload_was_refused():
    server = coordinator()
    server.receive(upload(statistics(observations=0)).to_bytes(), now=0.0, sender=1)
    ((site, answer),) = server.commit()
    assert (site, Frame.from_bytes(answer).verdict) == (1, (True, "sums that are not zero, of no observations"))


def test_a_site_learns_nothing_about_uploads_in_its_name_by_others():
    server = coordinator()
    server.receive(GOOD.to_bytes(), now=0.0, sender=2)
    assert server.commit() == []


def test_what_is_too_much_now_is_taken_in_later():
    server = coordinator()
    server.receive(GOOD.to_bytes(), now=100.0, sender=1)
    late = upload(statistics(observations=61), sequence=2).to_bytes()
    assert server.receive(late, now=100.0, sender=1).outcome is Outcome.NOT_YET
    assert server.receive(late, now=105.2, sender=1).outcome is Outcome.NOT_YET
    assert server.receive(late, now=105.4, sender=1).outcome is Outcome.ACCEPTED


def test_a_site_may_not_begin_lives_for_ever():
    server = coordinator()
    verdicts = [server.receive(replace(GOOD, epoch=each).to_bytes(), 0.0, 1).outcome for each in (7, 8, 9, 10)]
    assert verdicts == [Outcome.ACCEPTED] * 3 + [Outcome.NOT_YET]
    assert server.receive(replace(GOOD, client=2, epoch=10).to_bytes(), 0.0, 2).outcome is Outcome.ACCEPTED


def test_what_an_algorithm_cannot_take_in_is_undone(monkeypatch):
    """An algorithm that fails halfway leaves a state that is neither here nor there; the journal has the right one."""
    server = coordinator()
    server.receive(GOOD.to_bytes(), now=0.0, sender=1)
    server.commit()
    before = everything(server)
    receive = server.side.receive

    def fail_at_three(state, senders, message):
        outgoing = receive(state, senders, message)
        if message.observations[0] == 3:
            raise ZeroDivisionError("halfway")
        return outgoing

    monkeypatch.setattr(server.side, "receive", fail_at_three)
    bad = server.receive(upload(statistics(observations=3), sequence=2).to_bytes(), now=0.0, sender=1)
    assert bad.outcome is Outcome.REFUSED
    assert "cannot take in this upload: ZeroDivisionError('halfway')" in bad.reason
    assert everything(server) == before


def test_what_others_sent_just_before_is_not_undone_with_it(monkeypatch):
    """One site's upload that fails must not cost the uploads that are to be synced together with it."""
    server = coordinator()
    receive = server.side.receive

    def fail_at_three(state, senders, message):
        outgoing = receive(state, senders, message)
        if message.observations[0] == 3:
            raise ZeroDivisionError("halfway")
        return outgoing

    monkeypatch.setattr(server.side, "receive", fail_at_three)
    server.receive(replace(GOOD, client=2).to_bytes(), now=0.0, sender=2)
    before = everything(server)
    bad = server.receive(upload(statistics(observations=3), sequence=1).to_bytes(), now=0.0, sender=1)
    assert bad.outcome is Outcome.REFUSED
    assert everything(server) == before
    answers = [(site, Frame.from_bytes(frame)) for site, frame in server.commit()]
    assert [frame.sequence for site, frame in answers if frame.kind is Kind.ACKNOWLEDGEMENT and site == 2] == [1]


def test_downloads_that_wait_to_be_sent_are_not_forgotten_with_it(monkeypatch):
    """The second upload of a group that fails finds a snapshot of what came before: its downloads have yet to leave."""
    server = coordinator()
    for client in range(SITES):
        server.receive(upload(Hello(), client).to_bytes(), now=0.0, sender=client)
    server.commit()
    receive = server.side.receive

    def fail_at_three(state, senders, message):
        if isinstance(message, Statistics) and message.observations[0] == 3:
            raise ZeroDivisionError("halfway")
        return receive(state, senders, message)

    monkeypatch.setattr(server.side, "receive", fail_at_three)
    monkeypatch.setattr("fedbandit.durable.coordinator.server.LONG_WAY", 0)
    server.receive(upload(client=2, sequence=2).to_bytes(), now=0.0, sender=2)
    for _ in range(2):
        bad = server.receive(upload(statistics(observations=3), sequence=2).to_bytes(), now=0.0, sender=1)
        assert bad.outcome is Outcome.REFUSED
    sent = [(site, Frame.from_bytes(frame).kind) for site, frame in server.commit()]
    assert [site for site, kind in sent if kind is Kind.DOWNLOAD] == sorted(server.postbox.latest)
    assert server.postbox.latest


@st.composite
def damaged(draw):
    """A frame that was right once: bytes changed, dropped, added or moved."""
    data = bytearray(draw(st.sampled_from([GOOD.to_bytes(), upload(Hello()).to_bytes()])))
    for _ in range(draw(st.integers(1, 4))):
        at = draw(st.integers(0, max(0, len(data) - 1)))
        action = draw(st.integers(0, 3))
        if action == 0 and data:
            data[at] = draw(st.integers(0, 255))
        elif action == 1:
            del data[at : at + draw(st.integers(1, 16))]
        elif action == 2:
            data[at:at] = draw(st.binary(max_size=16))
        else:
            data[at : at + 8] = struct.pack("<d", draw(st.floats()))
    return bytes(data)


ANYTHING = st.one_of(
    damaged(),
    st.binary(max_size=200),
    st.binary(max_size=120).map(lambda tail: GOOD.to_bytes()[:21] + b"FB\x01" + tail),
    st.tuples(st.integers(0, 255), st.integers(0, 2**32 - 1), st.integers(0, 2**64 - 1), st.integers(0, 2**64 - 1)).map(
        lambda header: HEADER.pack(*header) + BODY
    ),
)


class Untouched:
    """A coordinator that has taken in nothing; a new one whenever it has."""

    def __init__(self):
        self.server = coordinator()
        self.before = everything(self.server)

    def check(self, data):
        """Whatever comes, the coordinator decides, gives a reason if it refuses, and then has changed nothing."""
        verdict = self.server.receive(data, now=0.0, sender=1)
        if verdict.outcome is Outcome.ACCEPTED:
            assert np.isfinite(self.server.node.state.gram).all()
            self.__init__()
        else:
            assert verdict.reason
            assert everything(self.server) == self.before
            self.server.postbox.drop()


def test_anything_may_come():
    untouched = Untouched()
    settings(max_examples=400)(given(ANYTHING)(lambda data: untouched.check(data)))()


@pytest.mark.slow
def test_anything_may_come_a_hundred_thousand_times():
    untouched = Untouched()
    settings(max_examples=100_000)(given(ANYTHING)(lambda data: untouched.check(data)))()
