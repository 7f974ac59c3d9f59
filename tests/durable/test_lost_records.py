"""Records of a journal that are missing, moved, changed or gone from its end are named."""

from __future__ import annotations

import itertools
import sqlite3
from importlib import import_module

import pytest

from fedbandit.core.errors import InvalidInput
from fedbandit.durable.journals.journal import open_journal

NUMBERS = itertools.count()


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
