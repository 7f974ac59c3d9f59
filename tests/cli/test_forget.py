"""`fedbandit forget`: what it does, what it says, and what it refuses."""

from __future__ import annotations

import hashlib
import json

import pytest

from fedbandit.core.errors import InvalidInput
from fedbandit.durable.coordinator.record import RecordKind, ServerRecord
from fedbandit.durable.coordinator.roster import Roster, Standing
from fedbandit.durable.journals.sqlite import SqliteJournal
from fedbandit.service.coordinator.receipts import verified
from fedbandit.service.keys.files import Keys
from fedbandit.simulation.replay import replay
from fedbandit.wire.frame import Frame
from fedbandit.wire.state import encode_state
from samples import pair
from samples.refusals import refused

FILE = """
{head}
[federations.demo]
algorithm = "async-linucb"
clients = 3
dimension = 3
arms = 2
horizon = 100
set = {{ upload_threshold = 1.0, download_threshold = 1.0 }}
{more}
"""
CHARTER = pair.charter(sites=3)


def prepare(folder, *, head="", more="keep_log = true"):
    """A journal in which three sites have sent something, and the file of its coordinator."""
    (folder / "coordinator.toml").write_text(FILE.format(head=head, more=more))
    (folder / "journals").mkdir()
    journal = SqliteJournal(folder / "journals" / "demo.db", keep_log=True)
    server = pair.open_server(CHARTER, journal)
    sites = [pair.open_site(CHARTER, number) for number in range(3)]
    for seed in range(9):
        pair.turn(sites[seed % 3], seed)
        pair.exchange(server, sites)
    server.save()
    records = list(journal.records())
    journal.close()
    return records


def opened(folder):
    return SqliteJournal(folder / "journals" / "demo.db", keep_log=True)


def test_a_site_is_forgotten_once_and_the_receipt_says_what_was(fedbandit, tmp_path):
    keys = Keys(tmp_path / "keys")
    keys.new("coordinator")
    records = prepare(tmp_path, head='broker = "tls://127.0.0.1:1"\ncredentials = "keys/coordinator.pem"')
    said = fedbandit("forget", "demo", "1")
    assert said.code == 0, said.err
    assert said.out.startswith("site 1 of demo is forgotten: 3 uploads with 3 observations\nreceipt: demo-1-rec")
    text = (tmp_path / "demo-1-receipt.json").read_text()
    receipt = verified(text, keys.authority)
    salt = bytes.fromhex((tmp_path / "demo-1-salt.txt").read_text())
    frames = [entry.data for entry in records if sender(entry) == 1]
    assert receipt["digest"] == hashlib.sha256(salt + b"".join(frames)).hexdigest()
    assert (receipt["federation"], receipt["site"], receipt["uploads"], receipt["observations"]) == ("demo", 1, 3, 3)
    journal = opened(tmp_path)
    server = pair.open_server(CHARTER, journal)
    state = encode_state(server.node.state)
    assert receipt["state_after"] == hashlib.sha256(state).hexdigest()
    assert encode_state(replay(CHARTER, journal.records()).state) == state
    assert server.accounts.observations == {0: 3, 2: 3}
    journal.close()
    with pytest.raises(InvalidInput, match="is not signed by a coordinator of"):
        verified(text.replace('"uploads": 3', '"uploads": 2'), keys.authority)
    again = fedbandit("forget", "demo", "1")
    assert (again.code, again.out) == (0, "site 1 of demo was forgotten before\n")
    assert (tmp_path / "demo-1-receipt.json").read_text() == text
    assert fedbandit("check", "journals/demo.db").code == 0


def sender(entry):
    record = ServerRecord.from_bytes(entry.data)
    return Frame.from_bytes(record.data).client if record.what is RecordKind.FRAME else None


def test_a_site_with_a_name_is_revoked_too(fedbandit, tmp_path):
    Keys(tmp_path / "keys").new("coordinator")
    head = 'broker = "tls://127.0.0.1:1"\ncredentials = "keys/coordinator.pem"\nauthority = "keys"'
    prepare(tmp_path, head=head)
    where = tmp_path / "journals" / "demo-roster.db"
    roster = Roster("demo", 3, SqliteJournal(where))
    roster.invite("north", "token", until=9e9, days=1.0, now=0.0)
    number = roster.join("token", "key", now=1.0, sign=lambda _: "certificate").number
    roster.close()
    assert f"site {number} of demo is forgotten" in fedbandit("forget", "demo", "north").out
    roster = Roster("demo", 3, SqliteJournal(where))
    assert roster.members["north"].standing is Standing.REVOKED
    roster.close()


def test_without_tls_a_receipt_has_no_signature(fedbandit, tmp_path):
    prepare(tmp_path)
    (tmp_path / "receipts").mkdir()
    assert fedbandit("forget", "demo", "0", "--folder", "receipts").code == 0
    told = json.loads((tmp_path / "receipts" / "demo-0-receipt.json").read_text())
    assert told["signature"] is None
    assert told["receipt"]["site"] == 0


BAD = {
    "no such federation": (("dem", "1"), "unknown federation 'dem': did you mean 'demo'?"),
    "no such number": (("demo", "3"), "there is no site 3 in this federation: give a number from 0 to 2"),
    "a name without a roster": (("demo", "north"), "'north' names no site (there is no roster): give the number"),
    "nowhere to write": (("demo", "1", "--folder", "none"), "--folder none is no folder: make it first"),
    "no file": (("demo", "1", "--file", "none.toml"), "cannot read none.toml"),
}


@pytest.mark.parametrize("name", BAD)
def test_what_cannot_be_is_refused_and_nothing_is_changed(fedbandit, tmp_path, name):
    arguments, sentence = BAD[name]
    prepare(tmp_path)
    before = (tmp_path / "journals" / "demo.db").read_bytes()
    said = fedbandit("forget", *arguments)
    assert (said.code, said.out) == (2, "")
    assert said.err.startswith(f"fedbandit: {sentence}"), said.err
    assert (tmp_path / "journals" / "demo.db").read_bytes() == before
    assert not list(tmp_path.glob("*receipt*"))


def test_while_it_is_served_it_is_refused(fedbandit, tmp_path):
    prepare(tmp_path)
    journal = opened(tmp_path)
    said = fedbandit("forget", "demo", "1")
    journal.close()
    refused(said, "the journal journals/demo.db cannot be used (database is locked): this process has it open")
    assert not list(tmp_path.glob("*receipt*"))


def test_of_an_algorithm_that_tells_sites_apart_it_is_refused(fedbandit, tmp_path):
    text = FILE.format(head="", more="keep_log = true").replace("async-linucb", "clustered-linucb")
    (tmp_path / "coordinator.toml").write_text(text.replace("set = ", "# set = "))
    (tmp_path / "journals").mkdir()
    journal = opened(tmp_path)
    pair.open_server(pair.charter("clustered-linucb", sites=3), journal).save()
    journal.close()
    before = (tmp_path / "journals" / "demo.db").read_bytes()
    refused(fedbandit("forget", "demo", "1"), "clustered-linucb cannot forget a site: what it has told of each site")
    assert (tmp_path / "journals" / "demo.db").read_bytes() == before


def test_without_a_log_it_is_refused(fedbandit, tmp_path):
    prepare(tmp_path, more="")
    said = fedbandit("forget", "demo", "1")
    assert said.code == 2
    assert said.err.startswith("fedbandit: federations.demo has no keep_log = true, and what one site has sent cannot")


def test_without_a_journal_none_is_made(fedbandit, tmp_path):
    (tmp_path / "coordinator.toml").write_text(FILE.format(head="", more="keep_log = true"))
    (tmp_path / "journals").mkdir()
    said = fedbandit("forget", "demo", "1")
    assert said.code == 2
    assert "there is no journal of 'demo' at" in said.err
    assert not list((tmp_path / "journals").iterdir())
