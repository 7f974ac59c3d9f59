"""A journal that is damaged, or whose end is lost, is refused before anything is changed: never silently wrong sums."""

from __future__ import annotations

import itertools
import shutil
import sqlite3
import subprocess
import sys
from importlib import import_module

import numpy as np
import pytest

import fedbandit as fb
from fedbandit.core.errors import InvalidInput
from fedbandit.core.version import VERSION
from fedbandit.durable.client import DurableClient
from fedbandit.durable.journals import mark
from fedbandit.durable.journals.journal import open_journal
from fedbandit.durable.journals.sqlite import SqliteJournal
from fedbandit.durable.journals.sqlite_rows import reading_only
from fedbandit.wire.state import encode_state
from samples.pair import charter, exchange, offer, open_server, turn

ASYNC = charter()
TRIALS = 100
NUMBERS = itertools.count()
FILES = {
    "coordinator": ["coordinator.db"],
    "site": ["site.db"],
    "coordinator, killed": ["coordinator.db", "coordinator.db-wal"],
    "site, killed": ["site.db", "site.db-wal"],
}


def open_coordinator(folder):
    return open_server(ASYNC, open_journal(str(folder), "coordinator"))


def open_site(folder):
    return DurableClient(ASYNC, 0, fresh=900, journal=SqliteJournal(folder / "site.db"))


def known_of_coordinator(folder):
    server = open_coordinator(folder)
    known = encode_state([server.node.memory, server.accounts, server.postbox.memory()])
    server.journal.close()
    return known


def known_of_site(folder):
    site = open_site(folder)
    pending = {name: [each.features, each.choice] for name, each in site.life.decisions.pending.items()}
    known = encode_state([site.life.memory(), pending])
    site.journal.close()
    return known


KNOWN = {"coordinator": known_of_coordinator, "site": known_of_site}


@pytest.fixture(scope="module")
def disks(tmp_path_factory):
    """The folders of a coordinator and a site with snapshots and records after them: closed, and as if killed."""
    folder = tmp_path_factory.mktemp("disk")
    server, other = open_coordinator(folder), DurableClient(ASYNC, 1, fresh=901)
    site = DurableClient(ASYNC, 0, fresh=800, journal=SqliteJournal(folder / "site.db"))
    for seed in range(8):
        turn(site, seed)
        turn(other, seed)
        exchange(server, [site, other])
        if seed == 4:
            site.choose(offer(9), np.empty((1, 0)))
            site.save()
            server.save()
    turn(site, 20)  # flushed, not synced
    site.flush()
    killed = shutil.copytree(folder, tmp_path_factory.mktemp("killed") / "disk")
    server.journal.close()
    site.journal.close()
    return {"": folder, "killed": killed}


def flipped(path, rng):
    """Flip one bit of a file."""
    data = bytearray(path.read_bytes())
    data[rng.integers(len(data))] ^= 1 << rng.integers(8)
    path.write_bytes(data)


@pytest.mark.parametrize("which", FILES)
def test_a_flipped_bit_is_refused_or_does_no_harm(which, disks, tmp_path):
    who, _, how = which.partition(", ")
    disk, known_of = disks[how], KNOWN[who]
    right = known_of(shutil.copytree(disk, tmp_path / "right"))
    refused = 0
    for trial in range(TRIALS):
        folder = shutil.copytree(disk, tmp_path / str(trial))
        rng = np.random.default_rng([7, trial])
        flipped(folder / FILES[which][trial % len(FILES[which])], rng)
        before = {file.name: file.read_bytes() for file in folder.iterdir()}
        told = told_or_right(known_of, folder, right)
        if told:
            assert ".db" in told, "the sentence names the file"
            assert {file.name: file.read_bytes() for file in folder.iterdir()} == before, "nothing is changed"
            refused += 1
        shutil.rmtree(folder)
    assert refused > 5


def told_or_right(known_of, folder, right):
    """Return the sentence with which a folder is refused; if it is not, require that the sums are right."""
    try:
        known = known_of(folder)
    except InvalidInput as error:
        return str(error)
    assert known == right, "the sums are wrong, and nobody says so"
    return ""


@pytest.mark.parametrize("who", KNOWN)
def test_a_write_ahead_log_that_is_cut_short_is_refused(who, disks, tmp_path):
    right = KNOWN[who](shutil.copytree(disks["killed"], tmp_path / "right"))
    whole = (disks["killed"] / f"{who}.db-wal").stat().st_size
    refused = 0
    for size in range(0, whole, 4096 + 24):
        folder = shutil.copytree(disks["killed"], tmp_path / str(size))
        with (folder / f"{who}.db-wal").open("r+b") as log:
            log.truncate(size)
        refused += "its end is lost" in told_or_right(KNOWN[who], folder, right)
    assert refused > 5


def test_after_a_power_cut_only_what_was_synced_is_asked_for(tmp_path, monkeypatch):
    journal = SqliteJournal(tmp_path / "cut.db")
    journal.append(b"one")
    journal.sync()
    synced = (tmp_path / "cut.db-wal").read_bytes()
    journal.append(b"two")
    journal.flush()
    disk = shutil.copytree(tmp_path, tmp_path.with_name("disk"))
    (disk / "cut.db-wal").write_bytes(synced)
    with pytest.raises(InvalidInput, match="it ends at record 1, but had 2"):
        SqliteJournal(disk / "cut.db")
    monkeypatch.setattr(mark, "machine_start", lambda: b"started anew, yes"[:16])
    again = SqliteJournal(disk / "cut.db")
    assert [entry.data for entry in again.records()] == [b"one"]
    again.close()
    (disk / "cut.db-mark").write_bytes((tmp_path / "cut.db-mark").read_bytes())
    journal.close()


def two_ages(folder):
    """A journal of two records, and beside it a copy from when it had one."""
    path = folder / "aged.db"
    for record in (b"one", b"two"):
        journal = SqliteJournal(path)
        journal.append(record)
        journal.close()
        if record == b"one":
            shutil.copy(path, folder / "backup.db")
    return path


def test_an_old_backup_of_which_nobody_tells_is_refused_with_both_remedies(tmp_path):
    path = two_ages(tmp_path)
    shutil.copy(tmp_path / "backup.db", path)
    told = r"ends at record 1, but had 2: it is an old backup.* restored=True, or delete .*aged\.db-mark"
    with pytest.raises(InvalidInput, match=told):
        SqliteJournal(path)
    journal = SqliteJournal(path, restored=True)
    journal.append(b"another two")
    journal.close()
    SqliteJournal(path).close()


def test_a_journal_whose_mark_is_gone_damaged_or_of_another_is_opened(tmp_path):
    path = two_ages(tmp_path)
    aged = mark.mark_path(path)
    aged.write_bytes(aged.read_bytes()[:-1] + b"?")
    SqliteJournal(path).close()
    aged.unlink()
    SqliteJournal(path).close()
    path.unlink()
    journal = SqliteJournal(path)
    assert list(journal.records()) == []
    journal.close()


@pytest.fixture(params=["sqlite", "postgresql"])
def tampered(request, tmp_path):
    """A function that writes a journal of some records, and lets SQL loose on it; gives what opens it again."""
    url = str(tmp_path) if request.param == "sqlite" else request.getfixturevalue("postgres_url")
    name = f"tampered-{next(NUMBERS)}"

    def tamper(statement, records=6):
        journal = open_journal(url, name)
        for number in range(records):
            journal.append(b"%d" % number)
            if number == 2:
                journal.save(b"snapshot")
        journal.close()
        if request.param == "sqlite":
            with sqlite3.connect(tmp_path / f"{name}.db") as base:
                base.execute(statement)
            base.close()
        else:
            with import_module("psycopg").connect(url, autocommit=True) as base:
                places = {"records": "fedbandit_records", "snapshots": "fedbandit_snapshots"}
                for short, long in places.items():
                    statement = statement.replace(f" {short} ", f" {long} ")
                where = " AND" if "WHERE" in statement else " WHERE"
                base.execute(f"{statement}{where} name = %s", (name,))
        return lambda: open_journal(url, name)

    return tamper


@pytest.mark.parametrize(
    ("statement", "told"),
    [
        ("DELETE FROM records WHERE position = 5", "record 5 is missing"),
        ("DELETE FROM records WHERE position IN (4, 5)", "records 4 to 5 are missing"),
        ("DELETE FROM records WHERE position = 6", "it ends at record 5, but had 6"),
        ("UPDATE records SET data = '7' WHERE position = 5", "record (5|b'7'|'7') is damaged"),
        ("UPDATE records SET seal = NULL WHERE position = 5", "record 5 is damaged: it has no checksum"),
        ("UPDATE records SET position = 7 WHERE position = 6", "record 6 is missing"),
        ("UPDATE snapshots SET position = 2", "the snapshot after record 2 is damaged: its checksum does not fit"),
        ("DELETE FROM snapshots ", "records 1 to 3 are missing"),
    ],
)
def test_records_that_are_missing_moved_or_changed_are_named(statement, told, tampered):
    opened = tampered(statement)
    for _ in range(2):  # and it is not left locked
        with pytest.raises(InvalidInput, match=f"{told}.*restore a backup"):
            opened()


def test_a_journal_that_is_served_tells_when_its_newest_records_have_gone(tmp_path):
    journal = open_journal(str(tmp_path), "served")
    journal.append(b"one")
    journal.sync()
    journal.append(b"not yet written")
    journal.verify()
    journal.rollback()
    (tmp_path / "served.db").rename(tmp_path / "elsewhere.db")
    with pytest.raises(InvalidInput, match="its file has gone"):
        journal.verify()
    (tmp_path / "elsewhere.db").rename(tmp_path / "served.db")
    journal._file.execute("DELETE FROM records")
    with pytest.raises(InvalidInput, match="record 1 is missing"):
        journal.verify()
    journal.close()


def test_a_journal_in_a_database_tells_when_its_newest_records_have_gone(postgres_url):
    journal = open_journal(postgres_url, "served")
    journal.append(b"one")
    journal.sync()
    journal.verify()
    journal._base.execute("UPDATE fedbandit_records SET data = 'two' WHERE name = 'served'")
    with pytest.raises(InvalidInput, match="record 1 is damaged"):
        journal.verify()
    journal._base.execute("DELETE FROM fedbandit_records WHERE name = 'served'")
    with pytest.raises(InvalidInput, match="record 1 is missing"):
        journal.verify()
    journal.close()


def test_a_journal_says_which_versions_wrote_it(tmp_path, monkeypatch):
    path = two_ages(tmp_path)
    monkeypatch.setattr("fedbandit.durable.journals.sqlite.VERSION", "99.0")
    for record in (b"three", b"four"):  # the second time by the same version
        journal = SqliteJournal(path)
        journal.append(record)
        journal.close()
        with reading_only(path) as rows:
            assert rows.writers() == {1: VERSION, 3: "99.0"}


def open_the_site(store, number=0):
    return fb.Site("async-linucb", dimension=3, clients=2, number=number, store=store)


def test_a_store_that_is_refused_is_not_left_locked(tmp_path):
    open_the_site(tmp_path / "site.db").close()
    with pytest.raises(InvalidInput, match="the store belongs to site 0, not to 1") as told:
        open_the_site(tmp_path / "site.db", number=1)
    open_the_site(tmp_path / "site.db").close()
    assert told.value is not None  # it has been alive all the time


SECOND = """
import sys
import fedbandit as fb
try:
    fb.Site("async-linucb", dimension=3, clients=2, store=sys.argv[1])
except fb.InvalidInput as error:
    print(error)
"""


def test_a_second_process_that_opens_a_store_is_told_in_one_sentence(tmp_path):
    store = tmp_path / "site.db"
    with open_the_site(store) as site:
        command = [sys.executable, "-c", SECOND, str(store)]
        said = subprocess.run(command, check=True, capture_output=True, text=True).stdout.splitlines()
        site.learn(site.choose(np.eye(3)), 1.0)
    assert len(said) == 1
    assert "site.db cannot be used (database is locked): another process has it open: end that one" in said[0]


def test_who_finds_a_journal_taken_deletes_nothing_of_its_owner(tmp_path, monkeypatch):
    path = tmp_path / "federation.db"
    SqliteJournal(path).close()
    owners = []
    connect = sqlite3.connect

    def connect_too_late(*arguments, **more):
        monkeypatch.setattr(sqlite3, "connect", connect)
        owners.append(SqliteJournal(path))  # another process opens it just now, and has written nothing yet
        return connect(*arguments, **more)

    monkeypatch.setattr(sqlite3, "connect", connect_too_late)
    with pytest.raises(InvalidInput, match="another process has it open"), reading_only(path):
        pass
    owners[0].append(b"a record")
    owners[0].sync()
    left = tmp_path / "left"  # what there is when the owner is killed
    left.mkdir()
    for each in tmp_path.glob("federation.db*"):
        shutil.copy(each, left)
    owners[0].close()
    assert [entry.data for entry in SqliteJournal(left / path.name).records()] == [b"a record"]
