"""`fedbandit upgrade`: files of 0.1.0 become a federation whose sites come and go, and what cannot be is refused."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from zipfile import ZipFile

import pytest

from fedbandit.cli.broker import settings_for
from fedbandit.durable.coordinator.roster import Roster, Standing
from fedbandit.durable.coordinator.server import DurableServer
from fedbandit.durable.journals.journal import open_journal
from fedbandit.service.coordinator.settings import read_plan
from fedbandit.service.keys.files import DOORKEEPER, Keys
from golden import story
from samples.refusals import refused
from samples.revising import revise

GOLDEN = Path(story.__file__).parent / "0.1.0"
NAME = "async-linucb"
FILE = """# as it was with 0.1.0
{head}
[federations.clinics]
algorithm = "async-linucb"
clients = 3
dimension = 3
arms = 2
horizon = 60
set = {{ upload_threshold = 1.0, download_threshold = 1.0 }}
"""
WITH_TLS = 'broker = "tls://127.0.0.1:4222"\ncredentials = "keys/coordinator.pem"'


def prepare(folder, head=WITH_TLS):
    """The files of a coordinator of 0.1.0 and of its sites."""
    (folder / "coordinator.toml").write_text(FILE.format(head=head))
    (folder / "journals").mkdir()
    with ZipFile(GOLDEN / f"{NAME}.zip") as archive:
        archive.extractall(folder)
    shutil.move(folder / "coordinator.db", folder / "journals" / "clinics.db")
    keys = Keys(folder / "keys")
    for name in ("broker", "coordinator", "clinics.0", "clinics.1", "clinics.2"):
        keys.new(name)
    broker = keys.path("broker")
    head, _, credential = broker.read_bytes().partition(b"\n")
    assert head.startswith(DOORKEEPER.encode())
    broker.write_bytes(credential)  # 0.1.0 knew of no doorkeeper
    return keys


def opened(folder):
    return open_journal(str(folder / "journals"), "clinics")


def test_files_of_0_1_0_become_a_federation_whose_sites_come_and_go(fedbandit, tmp_path):
    keys = prepare(tmp_path)
    said = fedbandit("upgrade")
    assert (said.code, said.err) == (0, "")
    assert said.out.splitlines()[:4] == [
        "clinics: the journal is as this version writes it; sites that have sent something: 0, 1, 2",
        "clinics: on the roster: 0, 1, 2",
        "keys/broker.pem: names the doorkeeper now",
        "coordinator.toml: names the authority now",
    ]
    plan = read_plan(tmp_path / "coordinator.toml")
    assert plan.authority == tmp_path / "keys"
    assert "auth_callout" in settings_for(plan, tmp_path / "broker", "127.0.0.1", keys.folder).text
    assert fedbandit("check", "journals").out.count(": whole") == 2
    known = json.loads((GOLDEN / f"{NAME}.json").read_text())["coordinator"]
    journal = opened(tmp_path)
    server = DurableServer(plan.federations[0].charter, journal, epoch=7, now=2000.0)
    assert server.node.state.gram.ravel().tolist() == known["state"]["gram"]["values"]
    sites = [story.open_site(NAME, number, tmp_path / f"site-{number}.db") for number in range(3)]
    story.meet_again(server, sites, 2000.0)
    revise(server, {"upload_threshold": "2.0"}, now=2001.0)  # and it can be changed, with the sites that it had
    story.meet_again(server, sites, 2002.0)
    assert [site.revision for site in sites] == [1, 1, 1]
    journal.close()
    for site in sites:
        site.close()
    roster = Roster("clinics", 3, open_journal(str(tmp_path / "journals"), "clinics-roster"))
    assert {each.standing for each in roster.members.values()} == {Standing.JOINED}
    assert roster.number_of("2", "any certificate of clinics.2") == 2
    roster.remove("2", now=1.0)
    roster.close()


def test_what_is_done_already_is_left(fedbandit, tmp_path):
    keys = prepare(tmp_path)
    fedbandit("upgrade")
    texts = [(tmp_path / "coordinator.toml").read_text(), keys.path("broker").read_bytes()]
    roster = Roster("clinics", 3, open_journal(str(tmp_path / "journals"), "clinics-roster"))
    roster.revoke("1", now=1.0)
    roster.close()
    said = fedbandit("upgrade")
    assert said.code == 0
    assert "now" not in said.out
    assert [(tmp_path / "coordinator.toml").read_text(), keys.path("broker").read_bytes()] == texts
    roster = Roster("clinics", 3, open_journal(str(tmp_path / "journals"), "clinics-roster"))
    assert roster.members["1"].standing is Standing.REVOKED, "whoever was sent away stays away"
    roster.close()


def test_without_tls_journals_are_brought_up_to_date_and_there_is_no_roster(fedbandit, tmp_path):
    prepare(tmp_path, head="")
    said = fedbandit("upgrade")
    assert "is no tls://, so there is no roster: sites are known by their numbers, as before" in said.out
    assert [path.name for path in (tmp_path / "journals").glob("*.db")] == ["clinics.db"]
    assert "authority" not in (tmp_path / "coordinator.toml").read_text()


def take_away_the_authority(folder):
    (folder / "keys" / "ca.key").unlink()


def damage(folder):
    journal = folder / "journals" / "clinics.db"
    journal.write_bytes(journal.read_bytes()[:9000])


def take_away_the_journal(folder):
    (folder / "journals" / "clinics.db").unlink()


def name_no_credentials(folder):
    (folder / "coordinator.toml").write_text(FILE.format(head='broker = "tls://127.0.0.1:4222"'))


BAD = {
    "no authority": (take_away_the_authority, "the authority in keys cannot be used ("),
    "a damaged journal": (damage, "the journal journals/clinics.db cannot be used ("),
    "no journal": (take_away_the_journal, "there is no journal of 'clinics' at journals"),
    "no credentials": (name_no_credentials, "coordinator.toml names no credentials, which tls:// needs"),
    "no file": (lambda folder: (folder / "coordinator.toml").unlink(), "cannot read coordinator.toml"),
}


@pytest.mark.parametrize("what", BAD)
def test_what_cannot_be_is_refused_and_nothing_is_changed(fedbandit, tmp_path, what):
    make, sentence = BAD[what]
    prepare(tmp_path)
    make(tmp_path)
    before = {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}
    refused(fedbandit("upgrade"), sentence)
    assert {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()} == before


def test_a_coordinator_that_runs_is_left_alone(fedbandit, tmp_path):
    prepare(tmp_path)
    journal = opened(tmp_path)
    said = fedbandit("upgrade")
    journal.close()
    refused(said, "the journal journals/clinics.db cannot be used (database is locked): this process has it open")
    assert "authority" not in (tmp_path / "coordinator.toml").read_text()
