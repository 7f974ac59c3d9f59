"""What is seen to now and then: that snapshots come when they are due and not too often, and what is wrong is told."""

from __future__ import annotations

import asyncio
from types import SimpleNamespace

import pytest

from fedbandit.core.errors import InvalidInput
from fedbandit.durable.journals.journal import Entry
from fedbandit.durable.journals.lease import JournalLost
from fedbandit.service.coordinator.maintenance import MEASURE_SECONDS, NOTE_SECONDS, OVERDUE, Maintenance


class Journal:
    """A journal that notes, and may be damaged."""

    is_untidy = False

    def __init__(self):
        self.notes, self.fault = [], None

    def note(self, note):
        self.notes.append(note)

    def size(self):
        return 7

    def verify(self):
        if self.fault is not None:
            raise self.fault


class Server:
    """A server whose snapshots take as long as is said, by a clock that it moves."""

    def __init__(self, clock, seconds):
        self.clock, self.seconds, self.snapshot_age, self.saved = clock, seconds, 0.0, 0

    def look_at_sums(self, now):
        pass

    def take_snapshot(self):
        self.snapshot_age = 0.0
        return Entry(7, b"all")

    def storing(self, snapshot):
        assert snapshot == (7, b"all")
        self.clock.now += self.seconds / 2
        yield
        self.clock.now += self.seconds / 2
        self.saved += 1


@pytest.fixture
def seen(monkeypatch):
    """A maintenance at second 0, its server, its journal and what is told."""
    clock = SimpleNamespace(now=0.0)
    monkeypatch.setattr("fedbandit.service.coordinator.maintenance.time", SimpleNamespace(monotonic=lambda: clock.now))
    telling = SimpleNamespace(note=lambda: b"told", telemetry=SimpleNamespace(journal_bytes=0))
    server, journal = Server(clock, seconds=0.5), Journal()
    made = Maintenance(server, journal, telling)
    return SimpleNamespace(maintenance=made, server=server, journal=journal, telling=telling, clock=clock)


def make(seen, at):
    seen.clock.now = at
    return asyncio.run(seen.maintenance.make(now=at, elapsed=at))


def save(seen, at, between=0.0):
    """Have a snapshot stored if one is due, with so many seconds between its steps; tell whether it was."""
    seen.clock.now = at
    saved = seen.server.saved
    seen.maintenance.take_snapshot(at)
    while seen.maintenance.is_storing:
        asyncio.run(seen.maintenance.go_on())
        seen.clock.now += between
    return seen.server.saved > saved


def test_a_snapshot_is_taken_when_it_is_due(seen):
    assert not save(seen, 1.0)
    seen.server.snapshot_age = 1.0
    assert save(seen, 1.0)
    assert seen.server.saved == 1


def test_the_next_is_not_taken_so_soon_that_sites_would_notice_unless_it_is_overdue(seen):
    seen.server.snapshot_age = 1.0
    assert save(seen, 0.0)  # half a second: the next in fifty
    seen.server.snapshot_age = OVERDUE - 0.1
    assert not save(seen, 50.0)
    assert save(seen, 50.5)
    seen.server.snapshot_age = OVERDUE
    assert save(seen, 52.0)


def test_what_is_done_between_the_steps_of_a_snapshot_is_not_its_time(seen):
    seen.server.snapshot_age = 1.0
    assert save(seen, 0.0, between=30.0)  # over at 30.5
    seen.server.snapshot_age = 1.0
    assert not save(seen, 80.0)
    assert save(seen, 80.5)


def test_a_snapshot_is_stored_to_its_end_before_another_is_taken(seen):
    seen.server.snapshot_age = OVERDUE
    seen.maintenance.take_snapshot(0.0)
    seen.server.snapshot_age = OVERDUE
    seen.maintenance.take_snapshot(1.0)
    assert seen.server.snapshot_age == OVERDUE, "none was taken"


def test_the_journal_does_what_it_has_put_off_whether_a_snapshot_is_stored_or_not(seen):
    tidied = []
    seen.journal.is_untidy, seen.server.tidy = True, lambda: tidied.append(seen.server.saved)
    asyncio.run(seen.maintenance.go_on())
    seen.server.snapshot_age = 1.0
    save(seen, 0.0)
    assert tidied == [0, 0, 1]


def test_measurements_come_without_a_snapshot(seen):
    make(seen, 0.0)
    assert (seen.server.saved, seen.telling.telemetry.journal_bytes) == (0, 7)
    assert not seen.maintenance.is_due(MEASURE_SECONDS)
    assert seen.maintenance.is_due(MEASURE_SECONDS + 0.1)


def test_notes_are_kept_once_a_minute(seen):
    for at in (0.0, 20.0, NOTE_SECONDS + 1.0, NOTE_SECONDS + 20.0):
        make(seen, at)
    assert seen.journal.notes == [b"told"]


def test_what_is_wrong_with_the_journal_is_told_and_the_loss_of_it_raised(seen):
    assert make(seen, 0.0) == ""
    seen.journal.fault = InvalidInput("record 3 is missing")
    assert make(seen, 20.0) == "record 3 is missing"
    seen.journal.fault = JournalLost("another has it")
    with pytest.raises(JournalLost):
        make(seen, 40.0)
