"""Groups of records: what is sealed is made safe in order, what is not can be taken back."""

from __future__ import annotations

from threading import Event, Thread

from fedbandit.durable.coordinator.postbox import posted
from fedbandit.durable.coordinator.record import RecordKind, ServerRecord
from fedbandit.durable.coordinator.writing import Writing
from fedbandit.durable.journals.journal import Entry, MemoryJournal, open_journal
from fedbandit.durable.journals.sqlite_pieces import PIECE_BYTES
from fedbandit.wire.state import encode_state
from samples.pair import charter, open_server, open_site, to_server, turn
from samples.waiting import PATIENCE

ASYNC = charter()


def record(time):
    return ServerRecord(RecordKind.DEADLINE, float(time))


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


def store(made, position, snapshot):
    for _ in made.storing(Entry(position, snapshot)):
        pass


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
    store(made, made.seal(), b"all")
    made.make_safe(first)
    assert journal.snapshot().position == 2
    assert made.rollback() == []


def test_records_after_a_snapshot_that_is_stored_later_stay():
    made, journal, (first,) = writing([1, 2])
    made.append(record(3))
    store(made, first, b"two")
    assert journal.snapshot() == (2, b"two")
    assert times(journal) == [3]
    assert made.rollback() == [record(3)], "it was not sealed"


def test_a_snapshot_does_not_replace_a_later_one_whose_records_have_gone():
    made, journal, (first, second) = writing([1], [2])
    store(made, second, b"two")
    store(made, first, b"one")
    assert journal.snapshot() == (2, b"two")


def test_a_journal_is_tidied_if_it_has_put_something_off():
    made, journal, _ = writing([1])
    tidied = []
    journal.tidy = lambda: tidied.append(True)
    made.tidy()
    assert not tidied
    journal.is_untidy = True
    made.tidy()
    assert tidied == [True]


def test_between_two_parts_of_a_snapshot_other_groups_are_made_safe(tmp_path):
    journal = open_journal(str(tmp_path), "parts")
    made, large = Writing(journal), bytes(3 * PIECE_BYTES)
    made.append(record(1))
    steps = made.storing(Entry(made.seal(), large))
    for number, _ in enumerate(steps):
        assert journal.snapshot() is None
        made.append(record(2 + number))
        made.sync()
    assert number == 3, "three parts, and the news that there are no more"
    assert journal.snapshot() == (1, large)
    assert times(journal) == [2, 3, 4, 5]
    journal.close()


def test_a_snapshot_in_parts_gives_way_to_a_later_one_that_is_stored_meanwhile(tmp_path):
    journal = open_journal(str(tmp_path), "overtaken")
    made = Writing(journal)
    made.append(record(1))
    steps = made.storing(Entry(made.seal(), bytes(2 * PIECE_BYTES)))
    next(steps)
    made.append(record(2))
    store(made, made.seal(), b"later")
    assert list(steps) == [None]
    assert journal.snapshot() == (2, b"later")
    journal.close()


def test_nothing_else_is_done_with_the_journal_by_who_has_it_alone():
    made, journal, (first,) = writing([1])
    storing = Thread(target=store, args=(made, first, b"one"))
    with made.alone():
        storing.start()
        assert made.rollback() == []
        assert journal.snapshot() is None
    storing.join(PATIENCE)
    assert journal.snapshot() == (1, b"one")


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
    journal.save = lambda *_, **__: order.append("saved")
    saving = Thread(target=store, args=(made, first, b"all"))
    saving.start()
    go_on.set()
    for each in (disk, saving):
        each.join(PATIENCE)
    assert order == ["sync 1", "synced", "saved"]


def test_what_is_taken_in_while_a_snapshot_is_stored_is_not_lost(tmp_path):
    site = open_site(ASYNC, 0)
    for seed in range(4):
        turn(site, seed)
    frames = site.commit()
    server = open_server(ASYNC, open_journal(str(tmp_path), "one"))
    to_server(server, frames[:2])
    server.commit()
    snapshot = server.take_snapshot()
    to_server(server, frames[2:])
    sealed = server.seal()
    for _ in server.storing(snapshot):
        pass
    server.make_safe(sealed)
    before = [server.node.memory, server.accounts, posted(server.postbox.latest_downloads())]
    assert server.journal.snapshot().position == snapshot.position
    server.journal.close()
    again = open_server(ASYNC, open_journal(str(tmp_path), "one"))
    assert encode_state([again.node.memory, again.accounts, posted(again.postbox.latest_downloads())]) == encode_state(
        before
    )
    again.journal.close()
