"""Groups of records: what is sealed is made safe in order, what is not can be taken back."""

from __future__ import annotations

from threading import Event, Thread

from fedbandit.durable.journals.journal import Entry, MemoryJournal, open_journal
from fedbandit.durable.server_record import ServerRecord, What
from fedbandit.durable.writing import Writing
from fedbandit.wire.state import encode_state
from samples.pair import charter, open_server, open_site, to_server, turn
from samples.waiting import PATIENCE

ASYNC = charter()


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
    made.put_away(Entry(made.seal(), b"all"))
    made.make_safe(first)
    assert journal.snapshot().position == 2
    assert made.rollback() == []


def test_records_after_a_snapshot_that_is_stored_later_stay():
    made, journal, (first,) = writing([1, 2])
    made.append(record(3))
    made.put_away(Entry(first, b"two"))
    assert journal.snapshot() == (2, b"two")
    assert times(journal) == [3]
    assert made.rollback() == [record(3)], "it was not sealed"


def test_a_snapshot_does_not_replace_a_later_one_whose_records_have_gone():
    made, journal, (first, second) = writing([1], [2])
    made.put_away(Entry(second, b"two"))
    made.put_away(Entry(first, b"one"))
    assert journal.snapshot() == (2, b"two")


def test_a_journal_is_tidied_when_no_snapshot_is_stored_so_that_nobody_waits_for_both():
    made, journal, (first,) = writing([1])
    tidied = []
    journal.is_untidy, journal.tidy = True, lambda: tidied.append(journal.snapshot())
    made.put_away(Entry(first, b"one"))
    assert not tidied
    made.put_away(None)
    assert tidied == [(1, b"one")]


def test_nothing_else_is_done_with_the_journal_by_who_has_it_alone():
    made, journal, (first,) = writing([1])
    storing = Thread(target=made.put_away, args=(Entry(first, b"one"),))
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
    saving = Thread(target=made.put_away, args=(Entry(first, b"all"),))
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
    server.put_away(snapshot)
    server.make_safe(sealed)
    before = [server.node.memory, server.accounts, server.postbox.memory()]
    assert server.journal.snapshot() == snapshot
    server.journal.close()
    again = open_server(ASYNC, open_journal(str(tmp_path), "one"))
    assert encode_state([again.node.memory, again.accounts, again.postbox.memory()]) == encode_state(before)
    again.journal.close()
