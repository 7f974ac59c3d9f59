"""Journals keep what was synced, in order, and let go of what a snapshot replaces; all kinds behave alike."""

from __future__ import annotations

import itertools
import os
import random
import signal
import subprocess
import sys
from importlib import import_module

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from fedbandit.core.errors import InvalidInput
from fedbandit.durable.journals.journal import Entry, MemoryJournal, open_journal
from fedbandit.durable.journals.sqlite import SqliteJournal

NAMES = (f"journal-{number}" for number in itertools.count())


class Opener:
    """Opens one journal again and again."""

    def __init__(self, url, keep_log=False):
        self.url, self.name, self.keep_log = url, next(NAMES), keep_log

    def __call__(self):
        return open_journal(self.url, self.name, keep_log=self.keep_log)


@pytest.fixture(params=["sqlite", "postgresql"])
def url(request, tmp_path):
    return str(tmp_path) if request.param == "sqlite" else request.getfixturevalue("postgres_url")


def contents(journal):
    return journal.snapshot(), list(journal.records()), list(journal.kept())


def test_records_come_back_in_order_with_their_positions(url):
    opened = Opener(url)
    journal = opened()
    assert [journal.append(each) for each in (b"one", b"", b"\x00three")] == [1, 2, 3]
    journal.close()
    journal = opened()
    assert list(journal.records()) == [(1, b"one"), (2, b""), (3, b"\x00three")]
    assert list(journal.records(after=2)) == [(3, b"\x00three")]
    assert journal.append(b"four") == 4
    journal.close()


def test_a_snapshot_replaces_the_records_before_it_but_for_those_that_are_kept(url):
    opened = Opener(url)
    journal = opened()
    for number in range(6):
        journal.append(b"%d" % number, keep=number in (1, 3))
    journal.sync()
    journal.save(b"snapshot", released=[2])
    journal.append(b"after")
    journal.close()
    journal = opened()
    assert contents(journal) == (Entry(6, b"snapshot"), [(4, b"3"), (7, b"after")], [(4, b"3")])
    journal.save(b"later", released=[4])
    assert contents(journal) == (Entry(7, b"later"), [], [])
    assert journal.append(b"next") == 8, "positions are never given twice"
    journal.close()


def test_a_log_that_is_to_be_kept_is_kept(url):
    journal = Opener(url, keep_log=True)()
    journal.append(b"one")
    journal.save(b"snapshot")
    journal.append(b"two")
    journal.sync()
    assert [entry.data for entry in journal.records()] == [b"one", b"two"]
    journal.close()


def test_what_was_not_written_can_be_taken_back(url):
    journal = Opener(url)()
    journal.append(b"one")
    journal.sync()
    journal.append(b"two")
    journal.rollback()
    assert journal.append(b"three") == 2
    journal.sync()
    assert list(journal.records()) == [(1, b"one"), (2, b"three")]
    journal.close()


def test_a_journal_belongs_to_one_process_at_a_time(url):
    opened = Opener(url)
    journal = opened()
    with pytest.raises(InvalidInput, match=r"(this|another) process has it open"):
        opened()
    journal.close()
    opened().close()


def test_two_journals_do_not_touch_each_other(url):
    one, other = Opener(url)(), Opener(url)()
    one.append(b"one")
    one.save(b"snapshot")
    other.append(b"other")
    other.sync()
    assert contents(one) == (Entry(1, b"snapshot"), [], [])
    assert contents(other) == (None, [(1, b"other")], [])
    one.close()
    other.close()


DONE = ["flush", "sync", "sync some", "save", "rollback", "reopen"]
STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("append"), st.binary(max_size=5), st.booleans()),
        st.tuples(st.sampled_from(DONE), st.binary(max_size=5), st.booleans()),
    ),
    max_size=30,
)


@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
@given(steps=STEPS, keep_log=st.booleans())
def test_a_journal_on_disk_behaves_like_one_in_memory(url, steps, keep_log):
    opened = Opener(url, keep_log)
    journal, model = opened(), MemoryJournal(keep_log)
    kept = []
    for step, data, keep in steps:
        if step == "append":
            position = journal.append(data, keep=keep)
            assert model.append(data, keep=keep) == position
            if keep:
                kept.append(position)
        elif step == "save":
            last = max(model._synced, model._last - len(data)) if keep else model._last
            released = [each for each in kept if each <= last][::2]
            kept = [each for each in kept if each not in released]
            journal.save(data, released, up_to=last)
            model.save(data, released, up_to=last)
        elif step == "reopen":
            journal.close()
            model.close()
            journal = opened()
        elif step in ("flush", "sync"):
            getattr(journal, step)()
            model.sync()
        elif step == "sync some":
            for each in (journal, model):
                each.sync(max(0, model._last - len(data)))
        else:
            journal.rollback()
            model.rollback()
            kept = [position for position in kept if position <= model._last]
    journal.sync()
    model.sync()
    assert contents(journal) == contents(model)
    journal.close()


KILLED = """
import os, signal, sys
from fedbandit.durable.journals.sqlite import SqliteJournal
journal = SqliteJournal(sys.argv[1])
for number in range(50):
    journal.append(b"%d" % number)
    {write}
journal.append(b"never written")
os.kill(os.getpid(), signal.SIGKILL)
"""


@pytest.mark.parametrize("write", ["journal.flush()", "journal.sync()"])
def test_what_was_flushed_or_synced_survives_kill_9(tmp_path, write):
    path = tmp_path / "killed.db"
    ended = subprocess.run([sys.executable, "-c", KILLED.format(write=write), str(path)], env=os.environ, check=False)
    assert ended.returncode == -signal.SIGKILL
    assert [entry.data for entry in SqliteJournal(path).records()] == [b"%d" % number for number in range(50)]


def test_a_sync_waits_for_the_disk(tmp_path):
    """In write-ahead mode SQLite waits for the disk at each commit only if it is told FULL."""
    journal = SqliteJournal(tmp_path / "full.db")
    seen = []
    journal._file.set_trace_callback(seen.append)
    journal.append(b"one")
    journal.flush()
    assert not any("FULL" in each for each in seen)
    journal.sync()
    assert "PRAGMA synchronous=FULL" in seen[seen.index("COMMIT") :]
    assert seen[-1] == "PRAGMA synchronous=NORMAL"
    before = len(seen)
    journal.sync()
    assert len(seen) == before, "nothing is left to be synced"


def test_a_snapshot_waits_for_the_disk(tmp_path):
    journal = SqliteJournal(tmp_path / "full.db")
    journal.append(b"one")
    seen = []
    journal._file.set_trace_callback(seen.append)
    journal.save(b"snapshot")
    modes = [each for each in seen if each == "COMMIT" or "synchronous" in each]
    assert modes == ["PRAGMA synchronous=FULL", "COMMIT", "PRAGMA synchronous=NORMAL"]


def test_a_copy_in_memory_goes_on_with_the_next_position():
    assert MemoryJournal.holding(None, [], []).append(b"first") == 1
    assert MemoryJournal.holding(Entry(3, b"snapshot"), [Entry(2, b"kept")], []).append(b"fourth") == 4
    assert MemoryJournal.holding(Entry(3, b"snapshot"), [], [Entry(4, b"after")]).append(b"fifth") == 5


def test_a_file_that_is_no_journal_is_refused(tmp_path):
    path = tmp_path / "text.db"
    path.write_text("this is no database, and it is long enough to be looked at as one" * 20)
    with pytest.raises(InvalidInput, match=r"text\.db cannot be used \(file is not a database\)"):
        SqliteJournal(path)


def test_a_database_that_is_not_there_is_told_without_its_password():
    pytest.importorskip("psycopg")
    with pytest.raises(InvalidInput, match=r"no PostgreSQL at postgresql://127\.0\.0\.1:1/nothing") as told:
        open_journal("postgresql://me:secret@127.0.0.1:1/nothing", "name")
    assert "secret" not in str(told.value)


def test_a_name_that_could_be_a_path_is_refused(tmp_path):
    with pytest.raises(InvalidInput, match="cannot name a journal"):
        open_journal(str(tmp_path), "../elsewhere")


def test_a_journal_knows_how_much_room_it_takes(url):
    journal = open_journal(url, "room")
    before = journal.size()
    journal.append(random.Random(1).randbytes(100_000))
    journal.sync()
    assert journal.size() >= before + 50_000
    journal.close()


def test_a_database_that_goes_away_is_named(postgres_url):
    journal = open_journal(postgres_url, "gone")
    journal.append(b"record")
    journal._base.execute("SELECT 1")
    with import_module("psycopg").connect(postgres_url, autocommit=True) as other:
        other.execute("SELECT pg_terminate_backend(%s)", (journal._base.info.backend_pid,))
    with pytest.raises(InvalidInput, match=r"the journal 'gone' cannot be used \(.*\): see that the database runs"):
        journal.sync()
