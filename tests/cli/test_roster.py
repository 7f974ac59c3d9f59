"""`fedbandit invite`, `join`, `sites`, `remove`, `revoke`: what they do, and what they say when something is wrong."""

from __future__ import annotations

import io

import pytest

from samples.refusals import refused
from samples.roster import serving

TABLE = {"algorithm": "async-linucb", "clients": 2, "dimension": 2}
PLAIN = """
broker = "{broker}"
http = "127.0.0.1:0"
{more}
[federations.demo]
algorithm = "async-linucb"
clients = 2
dimension = 2
"""
SECURE = 'credentials = "keys/coordinator.pem"\nauthority = "keys"'


@pytest.fixture(scope="module")
def rostered(tmp_path_factory):
    with serving(tmp_path_factory.mktemp("rostered"), {"demo": TABLE}) as made:
        yield made


def test_a_site_is_invited_joins_leaves_and_is_cut_off(fedbandit, rostered, monkeypatch):
    file = ("--file", rostered.file)
    token = fedbandit("invite", "demo", "north", *file).out
    assert token.startswith("fedbandit1.")
    assert len(token.splitlines()) == 1
    monkeypatch.setattr("sys.stdin", io.StringIO(token))
    said = fedbandit("join", "-", "--folder", "here")
    assert said.out == "here/demo.north.pem\n"
    assert said.err.startswith(f"north is site number 0 of {rostered.broker.url}/demo, until ")
    fedbandit("invite", "demo", "south", *file)
    listed = fedbandit("sites", "demo", *file).out.splitlines()
    assert listed == [
        "name   number  standing  last seen",
        "north       0  joined    not since the coordinator's start",
        "south       -  invited   never",
    ]
    refused(fedbandit("invite", "demo", "north", *file), "the name 'north' is taken in demo (joined): choose another")
    refused(fedbandit("invite", "demo", "east", *file), "demo has 2 numbers for sites, and all are given or promised")
    refused(fedbandit("join", token, "--folder", "there"), "this token was used already, with another key")
    assert fedbandit("remove", "demo", "south", *file).out == "south is removed from demo\n"
    assert fedbandit("revoke", "demo", "north", *file).out == "north is revoked in demo; connections ended: 0\n"
    refused(fedbandit("remove", "demo", "north", *file), "'north' was revoked, which is more")
    refused(fedbandit("revoke", "demo", "west", *file), "demo has no site 'west': see `fedbandit sites demo`")
    refused(fedbandit("invite", "demo", "3", *file), "'3' cannot name a site: begin with a letter")
    for now, before in (("--token-days", "--days"), ("--certificate-days", "--valid")):
        for option, days in ((now, "0"), (now, "nan"), (before, "0")):
            said = fedbandit("invite", "demo", "east", option, days, *file)
            refused(said, f"{now} must be more than 0 and at most 36500, not {days}: give days")


COMMANDS = [("invite", "demo", "north"), ("sites", "demo"), ("remove", "demo", "north"), ("revoke", "demo", "north")]


@pytest.mark.parametrize("command", COMMANDS)
def test_without_a_roster_there_is_nothing_to_change(fedbandit, tmp_path, command):
    refused(fedbandit(*command), "cannot read coordinator.toml: No such file or directory")
    (tmp_path / "coordinator.toml").write_text(PLAIN.format(broker="tls://127.0.0.1:1", more=""))
    refused(fedbandit(*command), "coordinator.toml names no authority, so its coordinator has no roster")
    (tmp_path / "coordinator.toml").write_text(PLAIN.format(broker="tls://127.0.0.1:1", more='authority = "keys"'))
    refused(fedbandit(*command), "coordinator.toml names no credentials, so its coordinator has no roster")
    refused(fedbandit(command[0], "demi", *command[2:]), "unknown federation 'demi': did you mean 'demo'?")


def test_a_coordinator_that_is_away_is_said_to_be(fedbandit, tmp_path):
    (tmp_path / "coordinator.toml").write_text(PLAIN.format(broker="tls://127.0.0.1:1", more=SECURE))
    refused(fedbandit("sites", "demo"), "no credential can be read from 'keys/coordinator.pem'")
    fedbandit("keys", "new", "coordinator")
    refused(fedbandit("sites", "demo"), "the broker at tls://127.0.0.1:1 cannot be reached")


def test_an_authority_needs_tls_a_key_and_a_name_of_its_own(fedbandit, tmp_path):
    file = tmp_path / "coordinator.toml"
    file.write_text(PLAIN.format(broker="nats://127.0.0.1:1", more='authority = "keys"'))
    refused(
        fedbandit("serve", file.name), "coordinator.toml: authority is of no use with nats://127.0.0.1:1: write tls"
    )
    text = PLAIN.format(broker="tls://127.0.0.1:1", more=SECURE)
    file.write_text(text + text[text.index("[federations") :].replace("demo", "demo-roster"))
    refused(
        fedbandit("serve", file.name), "coordinator.toml: federations.demo-roster: the roster of demo is kept under"
    )
    file.write_text(text)
    fedbandit("keys", "new", "coordinator")
    (tmp_path / "keys" / "ca.key").unlink()
    refused(fedbandit("serve", file.name), "the authority in keys cannot be used")


def test_a_broker_asks_the_coordinator_about_everybody_if_there_is_a_roster(fedbandit, tmp_path):
    (tmp_path / "coordinator.toml").write_text(PLAIN.format(broker="tls://127.0.0.1:4299", more=SECURE))
    fedbandit("keys", "new", "broker")
    said = fedbandit("broker", "coordinator.toml", "--print").out
    assert "auth_callout" in said
    assert "CN=demo" not in said
    credential = tmp_path / "keys" / "broker.pem"
    credential.write_text(credential.read_text().partition("\n")[2])  # as an earlier version made it
    refused(
        fedbandit("broker", "coordinator.toml", "--print"), f"{credential} does not name the authority's doorkeeper"
    )


@pytest.mark.parametrize("token", ["north", "fedbandit1.", "fedbandit1.abc"])
def test_what_is_no_token_is_said_to_be_none(fedbandit, tmp_path, token):
    refused(fedbandit("join", token), "this is no token of `fedbandit invite`, or not all of it: copy the whole line")
    assert not list(tmp_path.iterdir())
