"""`fedbandit check` tells whether journals and stores are whole and what is in them, and changes nothing."""

from __future__ import annotations

import sqlite3
from importlib import import_module
from pathlib import Path
from zipfile import ZipFile

import numpy as np
import pytest

import fedbandit as fb
from fedbandit.core.version import VERSION
from fedbandit.durable.journals.journal import open_journal
from samples.pair import charter, exchange, open_server, open_site, turn

OLD = Path(__file__).parents[1] / "golden" / "0.1.0"


def contents(folder):
    return {file.name: file.read_bytes() for file in folder.iterdir()}


@pytest.fixture
def old(tmp_path):
    """The files of a federation of fedbandit 0.1, of which one site was killed."""
    folder = tmp_path / "old"
    with ZipFile(OLD / "async-linucb.zip") as archive:
        archive.extractall(folder)
    return folder


def served(url, name):
    """A coordinator's journal with a snapshot."""
    server, site = open_server(charter(), open_journal(url, name)), open_site(charter())
    for seed in range(4):
        turn(site, seed)
        exchange(server, [site])
        if seed == 1:
            server.save()
    server.journal.close()


def test_what_the_first_version_wrote_is_whole_and_stays_untouched(fedbandit, old):
    before = contents(old)
    said = fedbandit("check", old)
    assert (said.code, said.err) == (0, "")
    assert said.out.count(": whole") == 4
    assert "the store of site 2: async-linucb, 3 sites, dimension 3" in said.out
    assert "3 pending; 7 uploads unsent, 0 refused" in said.out
    assert said.out.count("written by fedbandit 0.1\n") == 4
    assert contents(old) == before


def test_only_the_journal_of_one_federation_is_looked_at_if_it_is_named(fedbandit, old):
    said = fedbandit("check", old, "--federation", "coordinator")
    assert said.out.splitlines()[0].endswith("coordinator.db: whole")
    assert said.out.count("whole") == 1


def test_a_journal_of_today_says_what_is_in_it(fedbandit, tmp_path):
    served(str(tmp_path / "journals"), "clinics")
    said = fedbandit("check", "journals/clinics.db")
    assert said.code == 0
    lines = [line.strip() for line in said.out.splitlines()]
    assert lines[:2] == [
        "journals/clinics.db: whole",
        "a coordinator's journal: async-linucb, 2 sites, dimension 3",
    ]
    assert "4 uploads of 1 site, with 4 observations" in lines[2]
    assert lines[3].startswith("a snapshot after record ")
    assert lines[4] == f"written by fedbandit {VERSION} from record 1 on"


def test_each_fault_is_a_sentence(fedbandit, tmp_path):
    served(str(tmp_path), "clinics")
    with sqlite3.connect(tmp_path / "clinics.db") as file:
        (last,) = file.execute("SELECT max(position) FROM records").fetchone()
        file.execute("UPDATE records SET data = x'00' WHERE position = ?", (last - 1,))
        file.execute("DELETE FROM records WHERE position = ?", (last,))
    file.close()
    before = contents(tmp_path)
    said = fedbandit("check", tmp_path)
    assert said.code == 2
    assert said.out.splitlines() == [f"{tmp_path}/clinics.db: damaged"]
    told = [line.removeprefix(f"fedbandit: {tmp_path}/clinics.db: ") for line in said.err.splitlines()]
    assert told[0] == f"record {last - 1} is damaged: its checksum does not fit"
    assert told[1].startswith(f"it ends at record {last - 1}, but had {last}")
    assert contents(tmp_path) == before


def test_records_that_are_whole_and_make_no_sense_are_a_fault(fedbandit, tmp_path):
    journal = open_journal(str(tmp_path), "strange")
    journal.append(b"what is this?")
    journal.close()
    said = fedbandit("check", tmp_path / "strange.db")
    assert said.code == 2
    assert "its records are whole, but cannot be gone through" in said.err


def test_a_journal_in_use_an_empty_one_and_none_at_all(fedbandit, tmp_path):
    with fb.Site("async-linucb", dimension=3, store=tmp_path / "site.db") as site:
        site.learn(site.choose(np.eye(3)), 1.0)
        said = fedbandit("check", tmp_path / "site.db")
        assert (said.code, "this process has it open: close it there" in said.err) == (2, True)
    open_journal(str(tmp_path / "new"), "empty").close()
    assert "nothing was ever written to it" in fedbandit("check", tmp_path / "new").out
    said = fedbandit("check", tmp_path / "nowhere")
    assert (said.code, len(said.err.splitlines())) == (2, 1)
    assert said.err.startswith(f"fedbandit: there is no journal at {tmp_path}/nowhere: give a file")


def test_a_database_is_checked_while_it_is_in_use(fedbandit, postgres_url):
    served(postgres_url, "checked-clinics")
    holder = open_journal(postgres_url, "checked-clinics")
    said = fedbandit("check", postgres_url, "--federation", "checked-clinics")
    assert (said.code, said.err) == (0, "")
    assert "4 uploads of 1 site" in said.out
    with import_module("psycopg").connect(postgres_url, autocommit=True) as base:
        base.execute("UPDATE fedbandit_snapshots SET data = 'x' WHERE name = 'checked-clinics'")
    said = fedbandit("check", postgres_url, "--federation", "checked-clinics")
    assert said.code == 2
    assert "the snapshot after record" in said.err
    holder.close()
