"""A journal or store has one owner: a second one is told so, and takes nothing away."""

from __future__ import annotations

import shutil
import sqlite3
import subprocess
import sys

import numpy as np
import pytest

import fedbandit as fb
from fedbandit.core.errors import InvalidInput
from fedbandit.durable.journals.sqlite import SqliteJournal
from fedbandit.durable.journals.sqlite_rows import reading_only


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
    with pytest.raises(InvalidInput, match="this process has it open"), reading_only(path):
        pass
    owners[0].append(b"a record")
    owners[0].sync()
    left = tmp_path / "left"  # what there is when the owner is killed
    left.mkdir()
    for each in tmp_path.glob("federation.db*"):
        shutil.copy(each, left)
    owners[0].close()
    assert [entry.data for entry in SqliteJournal(left / path.name).records()] == [b"a record"]
