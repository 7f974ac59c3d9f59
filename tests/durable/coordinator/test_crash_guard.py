"""A frame that stops the coordinator whenever it comes is put aside in the end, and all others are taken in."""

import pytest

from fedbandit.durable.coordinator.crash_guard import ENOUGH, OPENINGS, TRIES, CrashGuard
from fedbandit.durable.coordinator.outcome import Outcome
from fedbandit.durable.coordinator.record import RecordKind, ServerRecord
from fedbandit.durable.journals.journal import MemoryJournal, open_journal
from fedbandit.wire.frame import Frame, Kind
from samples.pair import charter, introduce, kinds, open_server, open_site, to_server, turn

ASYNC = charter()


class Stopped(BaseException):
    """The process ends, or is ended because it hangs."""


def uploads(number, count=1):
    site = open_site(ASYNC, number)
    for seed in range(count):
        turn(site, seed)
    return site.commit()


def start(journal, poison):
    """Open a coordinator that one frame stops."""
    server = open_server(ASYNC, journal)
    judge = server._judge

    def stop(frame, now):
        if frame.to_bytes() == poison:
            raise Stopped
        return judge(frame, now)

    server._judge = stop
    introduce(server, [poison])
    return server


def starts_until_it_lives(journal, poison, others=()):
    """Start the coordinator again and again, as its supervisor does, with what the broker delivers first each time."""
    for count in range(1, 20):
        server = start(journal, poison)
        try:
            for frame in others:
                server.receive(frame, 0.0)
                server.commit()
            verdict = server.receive(poison, 0.0, 0)
        except Stopped:
            journal.rollback()
        else:
            return count, server, verdict
    raise AssertionError("one frame stops the coordinator at every start")


@pytest.mark.parametrize("place", ["memory:", "sqlite"])
def test_a_frame_that_stops_the_coordinator_at_every_start_is_put_aside(place, tmp_path):
    (poison,) = uploads(0)
    journal = open_journal(place if place == "memory:" else str(tmp_path), "federation")
    count, server, verdict = starts_until_it_lives(journal, poison)
    assert count == OPENINGS + TRIES + 1
    assert verdict.outcome is Outcome.REFUSED
    assert "has stopped the coordinator before" in verdict.reason
    refusals = [Frame.from_bytes(data) for _, data in server.commit()]
    assert [each.verdict[0] for each in refusals if each.kind is Kind.REFUSAL] == [True], "the site is told: for good"
    ((concern),) = server.concerns
    assert (concern.kind, concern.site) == ("frame-put-aside", 0)
    assert to_server(server, uploads(1)) == ["accepted"]
    server.commit()
    server.save()
    assert poison in [entry.data[-len(poison) :] for entry in journal.kept()], "it is kept"
    again = start(journal, poison)
    assert again.receive(poison, 0.0, 0).outcome is Outcome.REFUSED, "also when it comes again"
    journal.close()


def test_a_frame_that_was_put_aside_is_told_of_until_it_has_not_come_for_a_day():
    (poison,) = uploads(0)
    journal = MemoryJournal()
    _, server, _ = starts_until_it_lives(journal, poison)
    for hours, is_told in ((0, True), (23, True), (25, False)):
        server.concerns.tidy(hours * 3600.0)
        assert bool(list(server.concerns)) == is_told
    for is_saved in (False, True):
        if is_saved:
            server.save()
        again = start(journal, poison)
        assert [each.kind for each in again.concerns] == ["frame-put-aside"], "it may have ended before it was told"
    again.receive(poison, 0.0, 0)
    again.receive(poison, 20 * 3600.0, 0)
    again.concerns.tidy(30 * 3600.0)
    assert [(each.kind, each.since) for each in again.concerns] == [("frame-put-aside", 0.0)]


def test_it_is_found_among_others_that_come_with_it():
    (poison,) = uploads(0)
    others = uploads(1, count=3)
    journal = MemoryJournal()
    introduce(open_server(ASYNC, journal), others)
    _, server, _ = starts_until_it_lives(journal, poison, [poison[:5], *others])
    assert server.accounts.aside
    assert [server.receive(frame, 0.0).outcome for frame in others] == [Outcome.NOT_YET] + [Outcome.NOT_YET] * 2
    introduce(server, others)
    assert [server.receive(frame, 0.0).outcome for frame in others] == [Outcome.ACCEPTED] * 3


def test_a_careful_coordinator_is_as_fast_as_ever_once_enough_was_taken_in():
    journal = MemoryJournal()
    for _ in range(OPENINGS + 1):
        server = open_server(ASYNC, journal)
    synced = []
    sync, journal.sync = journal.sync, lambda *up_to: (synced.append(1), sync(*up_to))
    frames = uploads(0, count=ENOUGH + 10)
    introduce(server, frames[:1])
    before = len(synced)
    for frame in frames:
        server.receive(frame, 0.0)
    assert len(synced) - before == ENOUGH
    assert open_server(ASYNC, journal)._guard.openings == 1


def test_a_normal_coordinator_waits_for_no_disk_before_a_commit_and_writes_nothing_beside_the_uploads():
    journal = MemoryJournal()
    server = open_server(ASYNC, journal)
    frames = uploads(0, count=5)
    introduce(server, frames)
    before = len(list(journal.records()))
    journal.sync, sync = None, journal.sync  # whoever calls it fails
    for frame in frames:
        server.receive(frame, 0.0)
    journal.sync = sync
    server.commit()
    assert len(list(journal.records())) == before + 5


def test_what_was_tried_and_did_no_harm_is_not_suspected():
    """A coordinator that is killed again and again while it waits, after a frame that it has dealt with."""
    journal = MemoryJournal()
    (frame,) = uploads(0)
    for _ in range(20):
        server = open_server(ASYNC, journal)
        introduce(server, [frame])
        server.receive(frame, 0.0)
        server.commit()
    assert not server.accounts.aside
    assert server.node.state.uploads == 1


def test_a_snapshot_ends_the_count():
    journal = MemoryJournal()
    for _ in range(2 * OPENINGS):
        server = open_server(ASYNC, journal)
        assert not server._guard.is_on
        server.save()


@pytest.mark.parametrize("error", [ZeroDivisionError("halfway"), MemoryError(), RecursionError(), KeyError("x")])
@pytest.mark.parametrize("place", ["check_ahead", "open"])
def test_whatever_goes_wrong_in_a_check_the_frame_is_refused_with_a_reason(place, error, monkeypatch):
    server = open_server(ASYNC)
    frames = uploads(0, count=2)
    introduce(server, frames)

    def fail(*_):
        raise error

    monkeypatch.setattr(server.validation, place, fail)
    verdict = server.receive(frames[0], 0.0, 0)
    assert verdict.outcome is Outcome.REFUSED
    assert type(error).__name__ in verdict.reason
    monkeypatch.undo()
    assert server.receive(frames[1], 0.0, 0).outcome is Outcome.ACCEPTED
    assert "ACKNOWLEDGEMENT" in kinds(server.commit())


def test_failures_are_forgotten_when_enough_was_taken_in():
    guard, opened = CrashGuard(), ServerRecord(RecordKind.OPENED, 0.0)
    for _ in range(OPENINGS + TRIES):
        guard.take_in(opened)
        guard.take_in(guard.before(b"frame", 0.0))
    guard.take_in(opened)
    assert guard.before(b"frame", 0.0).what is RecordKind.ASIDE
    assert guard.before(b"other", 0.0).what is RecordKind.TRIED
    for _ in range(ENOUGH):
        assert guard.is_on
        guard.take_in(ServerRecord(RecordKind.FRAME, 0.0))
    assert not guard.is_on
    assert guard.before(b"frame", 0.0).what is RecordKind.TRIED


def test_of_a_question_that_is_put_aside_an_operator_is_told_what_helps():
    store = MemoryJournal()
    site = open_site(ASYNC, 0, store)
    turn(site)
    question = site.resend()[0]
    _, server, _ = starts_until_it_lives(MemoryJournal(), question)
    (concern,) = server.concerns
    assert concern.text.endswith("it is a question, so start the site again: it then asks another one")
    assert site.resend()[0] == question, "till then it asks the same"
    (another, *_) = open_site(ASYNC, 0, store).resend()
    assert server.receive(another, 1.0, 0).outcome is Outcome.ACCEPTED
