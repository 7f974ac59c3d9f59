"""Groups of records: what is sealed is made safe in order, what is not can be taken back."""

from __future__ import annotations

from threading import Event, Thread

from fedbandit.durable.journals.journal import MemoryJournal
from fedbandit.durable.server_record import ServerRecord, What
from fedbandit.durable.writing import Writing
from samples.waiting import PATIENCE


def record(time):
    return ServerRecord(What.DEADLINE, float(time))


def times(journal):
    return [ServerRecord.from_bytes(entry.data).time for entry in journal.records()]


def writing(*groups):
    journal = MemoryJournal()
    made = Writing(journal)
    sealed = []
    for group in groups:
        for time in group:
            made.append(record(time))
        sealed.append(made.seal())
    return made, journal, sealed


def test_only_what_was_sealed_is_made_safe():
    made, journal, (first,) = writing([1, 2])
    made.append(record(3))
    made.make_safe(first)
    journal.crash(survivors=0)
    assert times(journal) == [1, 2]


def test_taking_back_spares_what_was_sealed_though_nobody_has_made_it_safe_yet():
    made, journal, _ = writing([1, 2])
    made.append(record(3))
    made.append(record(4))
    assert made.rollback() == [record(3), record(4)]
    journal.crash(survivors=0)
    assert times(journal) == [1, 2]
    made.append(record(5))
    made.sync()
    assert times(journal) == [1, 2, 5]


def test_a_snapshot_makes_all_safe():
    made, journal, (first,) = writing([1])
    made.append(record(2))
    made.save(b"all")
    made.make_safe(first)
    assert journal.snapshot().position == 2
    assert made.rollback() == []


def test_whatever_else_is_done_waits_for_a_group_on_its_way():
    made, journal, (first,) = writing([1])
    begun, go_on, order = Event(), Event(), []
    sync = journal.sync

    def slow(up_to=None):
        order.append(f"sync {up_to}")
        begun.set()
        assert go_on.wait(PATIENCE)
        sync(up_to)
        order.append("synced")

    journal.sync = slow
    disk = Thread(target=made.make_safe, args=(first,))
    disk.start()
    assert begun.wait(PATIENCE)
    made.append(record(2))  # needs no waiting
    journal.save = lambda *_: order.append("saved")
    saving = Thread(target=made.save, args=(b"all",))
    saving.start()
    go_on.set()
    for each in (disk, saving):
        each.join(PATIENCE)
    assert order == ["sync 1", "synced", "saved"]
