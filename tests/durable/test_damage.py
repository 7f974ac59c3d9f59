"""A journal that is damaged, or whose end is lost, is refused before anything is changed: never silently wrong sums."""

from __future__ import annotations

import shutil

import numpy as np
import pytest

from fedbandit.core.errors import InvalidInput
from fedbandit.core.version import VERSION
from fedbandit.durable.coordinator.postbox import posted
from fedbandit.durable.journals import mark
from fedbandit.durable.journals.journal import open_journal
from fedbandit.durable.journals.sqlite import SqliteJournal
from fedbandit.durable.journals.sqlite_rows import reading_only
from fedbandit.durable.site.client import DurableClient
from fedbandit.wire.state import encode_state
from samples.pair import charter, exchange, offer, open_server, turn

ASYNC = charter()
TRIALS = 50
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
    known = encode_state([server.node.memory, server.accounts, posted(server.postbox.latest_downloads())])
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


def test_a_journal_says_which_versions_wrote_it(tmp_path, monkeypatch):
    path = two_ages(tmp_path)
    monkeypatch.setattr("fedbandit.durable.journals.sqlite.VERSION", "99.0")
    for record in (b"three", b"four"):  # the second time by the same version
        journal = SqliteJournal(path)
        journal.append(record)
        journal.close()
        with reading_only(path) as rows:
            assert rows.writers() == {1: VERSION, 3: "99.0"}
