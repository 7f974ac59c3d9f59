"""A journal passes to one that waits for it when its holder ends or is mute; who has lost it can do nothing."""

from __future__ import annotations

import signal
import subprocess
import sys

import pytest

from fedbandit.durable.coordinator.server import DurableServer
from fedbandit.durable.journals.file_lease import FileHolder, beat_path
from fedbandit.durable.journals.journal import MemoryJournal, open_journal
from fedbandit.durable.journals.lease import LEASE, JournalLost, JournalTaken, Sign, Waiting, waiting_for
from fedbandit.durable.journals.sqlite import SqliteJournal
from samples import pair
from samples.waiting import until

STEP = LEASE / 5


class Seen:
    """A holder as a test says that it is."""

    def __init__(self):
        self.now, self.sign, self.ended = 0.0, Sign(7, 1), []
        self.waiting = Waiting(self, clock=lambda: self.now)

    def look(self):
        return self.sign

    def end(self, holder):
        self.ended.append(holder)

    def pass_by(self, seconds):
        """Look a few times in a lease."""
        for _ in range(round(seconds / STEP)):
            self.now += STEP
            self.waiting.may_take()


def test_a_holder_that_shows_signs_of_life_is_left_alone():
    seen = Seen()
    for beat in range(100):
        seen.sign = Sign(7, beat)
        seen.pass_by(LEASE - STEP)
    assert seen.ended == []


def test_one_that_is_mute_is_ended_once_in_a_lease():
    seen = Seen()
    seen.pass_by(LEASE)
    assert seen.ended == []
    seen.pass_by(STEP)
    assert seen.ended == [7]
    seen.pass_by(LEASE - STEP)
    assert seen.ended == [7]
    seen.pass_by(STEP)
    assert seen.ended == [7, 7]


def test_one_that_never_showed_a_sign_of_life_is_waited_for():
    seen = Seen()
    seen.sign = Sign(7, None)
    seen.pass_by(100 * LEASE)
    assert seen.ended == []
    seen.sign = None
    assert seen.waiting.may_take()


def test_a_new_holder_is_not_ended_for_the_silence_of_the_old_one():
    seen = Seen()
    seen.pass_by(LEASE)
    seen.sign = Sign(8, 1)
    seen.pass_by(LEASE)
    assert seen.ended == []


def test_one_who_waits_and_was_paused_itself_begins_to_count_anew():
    seen = Seen()
    seen.pass_by(LEASE)
    seen.now += 1000 * LEASE
    seen.waiting.may_take()
    seen.pass_by(LEASE - STEP)
    assert seen.ended == []


HOLD = """
import sys
from fedbandit.durable.journals.journal import open_journal
journal = open_journal(sys.argv[1], "demo")
journal.append(b"before")
journal.sync()
for line in sys.stdin:
    journal.beat()
    print("beat", flush=True)
"""


@pytest.fixture
def holding(tmp_path):
    """A process that has a journal in a file open, and shows a sign of life when it is told to."""
    command = [sys.executable, "-c", HOLD, str(tmp_path)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        yield process
        process.kill()


def beat(process):
    process.stdin.write("\n")
    process.stdin.flush()
    assert process.stdout.readline() == "beat\n"


def test_who_has_a_file_open_is_seen_with_its_last_sign_of_life(tmp_path, holding):
    holder = FileHolder(tmp_path / "demo.db")
    assert until(holder.look, "the journal") == Sign(holding.pid, None)
    beat(holding)
    assert holder.look() == Sign(holding.pid, 1)
    beat(holding)
    assert holder.look() == Sign(holding.pid, 2)
    holding.stdin.close()
    holding.wait()
    assert holder.look() is None


def test_who_has_a_file_open_and_is_mute_is_ended_and_the_file_can_be_had(tmp_path, holding):
    holder = FileHolder(tmp_path / "demo.db")
    until(holder.look, "the journal")
    beat(holding)
    holding.send_signal(signal.SIGSTOP)
    with pytest.raises(JournalTaken, match="another process has it open"):
        open_journal(str(tmp_path), "demo")
    holder.end(holding.pid)
    assert holding.wait() == -signal.SIGKILL
    assert holder.look() is None
    journal = open_journal(str(tmp_path), "demo")
    assert [entry.data for entry in journal.records()] == [b"before"]
    journal.close()


def test_a_process_that_does_not_have_the_file_open_is_never_ended(tmp_path, holding):
    holder = FileHolder(tmp_path / "demo.db")
    until(holder.look, "the journal")
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE, text=True) as bystander:
        holder.end(bystander.pid)
        bystander.communicate("\n")
        assert bystander.returncode == 0
    assert holding.poll() is None


def test_the_sign_of_life_of_one_that_is_gone_does_not_count_for_the_next(tmp_path, holding):
    until(FileHolder(tmp_path / "demo.db").look, "the journal")
    beat(holding)
    holding.kill()
    holding.wait()
    assert beat_path(tmp_path / "demo.db").exists()
    SqliteJournal(tmp_path / "demo.db").close()
    assert not beat_path(tmp_path / "demo.db").exists()


def test_a_journal_in_memory_is_nobodys_to_take():
    MemoryJournal().beat()


def taken_over(url, name):
    """A journal in a database whose holder was taken for mute, and the one that has it now."""
    first = open_journal(url, name)
    first.beat()
    waiting = waiting_for(url, name)
    assert not waiting.may_take()
    waiting._holder.end(waiting._holder.look().holder)
    until(waiting.may_take, "the journal")
    waiting.close()
    return first, open_journal(url, name)


def test_signs_of_life_in_a_database_are_seen(postgres_url):
    journal, holder = open_journal(postgres_url, "signs"), waiting_for(postgres_url, "signs")._holder
    assert holder.look().beat is None
    journal.beat()
    before = holder.look()
    journal.beat()
    assert holder.look().holder == before.holder
    assert holder.look().beat > before.beat
    journal.close()
    until(lambda: holder.look() is None, "the database to end the session")
    holder.close()


def test_one_whose_journal_in_a_database_was_taken_over_writes_nothing(postgres_url):
    first, second = taken_over(postgres_url, "written")
    first.append(b"late")
    with pytest.raises(JournalLost, match="the journal 'written' cannot be used"):
        first.sync()
    with pytest.raises(JournalLost):
        first.save(b"a snapshot")
    with pytest.raises(JournalLost):
        first.beat()
    first.rollback()
    first.close()
    second.append(b"record")
    second.sync()
    assert [entry.data for entry in second.records()] == [b"record"]
    second.close()


def test_nor_does_it_answer_though_there_is_nothing_to_write(postgres_url):
    """One that was paused would else refuse for good what it knows nothing of."""
    charter = pair.charter()
    journal = open_journal(postgres_url, "answered")
    server = DurableServer(charter, journal, epoch=1, now=0.0)
    journal.beat()
    waiting = waiting_for(postgres_url, "answered")
    waiting._holder.end(waiting._holder.look().holder)
    until(waiting.may_take, "the journal")
    assert server.receive(b"nonsense", now=1.0, sender=0).reason
    with pytest.raises(JournalLost):
        server.commit()
    waiting.close()
    journal.rollback()
    journal.close()
