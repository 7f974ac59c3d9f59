"""`fedbandit serve`, `keys` and `broker`: what they do, and what they say when something is wrong."""

from __future__ import annotations

import os
import socket
import stat
import subprocess

import pytest

from fedbandit.durable.journals.journal import open_journal
from fedbandit.transport.nats.broker import Broker, free_port, server_program
from fedbandit.transport.nats.broker_settings import BrokerSettings
from samples.deployed import PROGRAM

GOOD = """
broker = "{broker}"
http = "127.0.0.1:0"
[federations.demo]
algorithm = "async-linucb"
clients = 3
dimension = 2
"""
NOWHERE = "nats://127.0.0.1:1"


@pytest.fixture(scope="module")
def broker(tmp_path_factory):
    with Broker(BrokerSettings(tmp_path_factory.mktemp("broker"), port=free_port())) as running:
        yield running


def refused(said, sentence):
    assert said.code == 2
    assert said.out == ""
    assert len(said.err.splitlines()) == 1
    assert said.err.startswith(f"fedbandit: {sentence}"), said.err


BAD = {
    "not TOML": ("federations = [", "serve.toml is not valid TOML"),
    "nothing": ("", "serve.toml: there is no federation: add a table [federations.NAME]"),
    "an unknown key": ("brokr = 1", "serve.toml: unknown key 'brokr': did you mean 'broker'?"),
    "no table": ("[federations]\ndemo = 3", "serve.toml: federations.demo must be a table, not 3"),
    "no algorithm": ("[federations.demo]\nclients = 3", "serve.toml: federations.demo.algorithm is missing"),
    "an unknown algorithm": (
        GOOD.replace("async-linucb", "async-linucv"),
        "serve.toml: federations.demo: unknown algorithm 'async-linucv': did you mean 'async-linucb'?",
    ),
    "an unknown parameter": (
        GOOD + "set = { rigde = 1 }",
        "serve.toml: federations.demo: async-linucb has no parameter 'rigde': did you mean 'ridge'?",
    ),
    "a parameter out of range": (
        GOOD + "set = { ridge = -1 }",
        "serve.toml: federations.demo: ridge must be greater than 0, not -1",
    ),
    "clients in words": (GOOD.replace("3", '"three"'), "serve.toml: clients must be a whole number, not 'three'"),
    "no clients": (GOOD.replace("clients = 3", "clients = 0"), "serve.toml: federations.demo: clients must be a whole"),
    "an unknown key of a federation": (
        GOOD + "algoritm = 1",
        "serve.toml: unknown key 'federations.demo.algoritm': did you mean 'federations.demo.algorithm'?",
    ),
    "a name that no file can have": (
        GOOD.replace("federations.demo", 'federations."a/b"'),
        "serve.toml: 'a/b' cannot name a federation: use letters, digits, - and _",
    ),
    "an unknown limit": (GOOD + "limits = { contxt = 1 }", "serve.toml: federations.demo: unknown key 'limits.contxt'"),
    "a limit of nothing": (
        GOOD + "limits = { observations_per_second = 0 }",
        "serve.toml: federations.demo: observations_per_second must be greater than 0",
    ),
    "a deadline of nothing": (
        GOOD + "deadline = 0",
        "serve.toml: federations.demo.deadline must be greater than 0, not 0: give seconds, or leave it out",
    ),
    "a deadline without rounds": (
        GOOD + "deadline = 3",
        "serve.toml: federations.demo.deadline has no meaning for async-linucb: leave it out",
    ),
    "messages that no broker takes": (
        GOOD.replace("dimension = 2", "dimension = 1500"),
        "federations.demo: async-linucb has messages of 9018047 bytes, and 8388315 can be carried: lower the dimension",
    ),
    "a broker of another kind": (
        GOOD.replace("{broker}", "http://localhost"),
        "serve.toml: 'http://localhost' is no address of a broker: write nats://HOST:PORT or tls://HOST:PORT",
    ),
    "a page nowhere": (GOOD.replace("127.0.0.1:0", "here"), "serve.toml: http 'here' is no address: write HOST:PORT"),
    "TLS without a credential": (GOOD.replace("{broker}", "tls://127.0.0.1:1"), "tls://127.0.0.1:1 asks"),
    "a credential without TLS": (
        'credentials = "x.pem"\n' + GOOD,
        f"credentials are of no use with {NOWHERE}: write tls:// to be known and encrypted",
    ),
    "a credential that is not there": (
        'credentials = "x.pem"\n' + GOOD.replace("{broker}", "tls://127.0.0.1:1"),
        "no credential can be read from 'x.pem' (No such file or directory): give its path",
    ),
    "no replicas": ("replicas = 0" + GOOD, "serve.toml: replicas must be from 1 to 5, not 0: give 3, or leave it out"),
    "replicas in words": ('replicas = "3"' + GOOD, "serve.toml: replicas must be a whole number, not '3'"),
    "standby in words": ('standby = "yes"' + GOOD, "serve.toml: standby must be true or false, not 'yes'"),
    "standing by for what nobody can have": (
        'standby = true\njournal = "memory:"' + GOOD,
        "serve.toml: standby has no meaning with journal = 'memory:', for which nobody can wait: give a folder",
    ),
    "standing by without a broker": ("standby = true" + GOOD, f"the broker at {NOWHERE} cannot be reached"),
    "no broker": (GOOD, f"the broker at {NOWHERE} cannot be reached"),
    "no PostgreSQL": (
        'journal = "postgresql://nobody@127.0.0.1:1/none"\n' + GOOD,
        "no PostgreSQL at postgresql://127.0.0.1:1/none",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", BAD)
def test_a_coordinator_says_in_one_line_what_is_wrong(fedbandit, tmp_path, name):
    text, sentence = BAD[name]
    if name == "no PostgreSQL":
        pytest.importorskip("psycopg")
    (tmp_path / "serve.toml").write_text(text.replace("{broker}", NOWHERE))
    refused(fedbandit("serve", "serve.toml"), sentence)


def test_a_file_that_is_not_there(fedbandit):
    refused(fedbandit("serve", "none.toml"), "cannot read none.toml: No such file or directory: give the path")


def write_good(folder, broker):
    (folder / "serve.toml").write_text(GOOD.replace("{broker}", broker.url))


def test_a_journal_of_another_federation_is_not_touched(fedbandit, tmp_path, broker):
    write_good(tmp_path, broker)
    text = (tmp_path / "serve.toml").read_text()
    (tmp_path / "serve.toml").write_text(text.replace("dimension = 2", "dimension = 3"))
    process = subprocess.Popen([*PROGRAM, "serve", "serve.toml"], cwd=tmp_path, stderr=subprocess.PIPE, text=True)
    assert any("serving at" in line for line in process.stderr)
    refused(fedbandit("serve", "serve.toml"), "the journal journals/demo.db cannot be used (database is locked)")
    process.terminate()
    process.communicate()
    (tmp_path / "serve.toml").write_text(text)
    before = (tmp_path / "journals" / "demo.db").read_bytes()
    refused(fedbandit("serve", "serve.toml"), "the journal belongs to another federation, whose dimension is 3, not 2")
    assert (tmp_path / "journals" / "demo.db").read_bytes() == before


def test_a_journal_that_is_no_journal(fedbandit, tmp_path, broker):
    write_good(tmp_path, broker)
    (tmp_path / "journals").mkdir()
    (tmp_path / "journals" / "demo.db").write_text("this is no database, but it is long enough to be one" * 100)
    refused(fedbandit("serve", "serve.toml"), "the journal journals/demo.db cannot be used (file is not a database)")


def test_a_port_that_is_taken(fedbandit, tmp_path, broker):
    write_good(tmp_path, broker)
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        refused(
            fedbandit("serve", "serve.toml", "--http", f"127.0.0.1:{port}"), f"port {port} of 127.0.0.1 cannot be had"
        )


def test_options_stand_in_for_the_file(fedbandit, tmp_path):
    (tmp_path / "serve.toml").write_text(GOOD.replace("{broker}", "nats://127.0.0.1:2"))
    said = fedbandit("serve", "serve.toml", "--broker", NOWHERE, "--journal", "elsewhere", "--http", "127.0.0.1:0")
    refused(said, f"the broker at {NOWHERE} cannot be reached")
    open_journal("elsewhere", "demo").close()
    assert not (tmp_path / "journals").exists()
    refused(fedbandit("serve", "serve.toml", "--broker", "nats://"), "'nats://' is no address of a broker")
    refused(fedbandit("serve", "serve.toml", "--credentials", "x.pem"), "credentials are of no use")


def test_a_credential_is_one_file_that_only_its_owner_can_read(fedbandit, tmp_path):
    assert fedbandit("keys", "new", "demo.3").out == "keys/demo.3.pem\n"
    assert {each.name for each in (tmp_path / "keys").iterdir()} == {"ca.pem", "ca.key", "demo.3.pem"}
    text = (tmp_path / "keys" / "demo.3.pem").read_text()
    assert text.count("BEGIN PRIVATE KEY") == 1
    assert text.count("BEGIN CERTIFICATE") == 2
    for name in ("ca.key", "demo.3.pem"):
        assert stat.S_IMODE((tmp_path / "keys" / name).stat().st_mode) == 0o600


def test_a_credential_is_not_overwritten_unless_that_is_said(fedbandit, tmp_path):
    fedbandit("keys", "new", "demo.3")
    before = (tmp_path / "keys" / "demo.3.pem").read_bytes()
    refused(fedbandit("keys", "new", "demo.3"), "keys/demo.3.pem is there already: say --replace")
    assert (tmp_path / "keys" / "demo.3.pem").read_bytes() == before
    assert fedbandit("keys", "new", "demo.3", "--replace").code == 0
    assert (tmp_path / "keys" / "demo.3.pem").read_bytes() != before


@pytest.mark.parametrize("name", ["demo", "demo.x", "demo.-1", "demo.01", "../demo.1", "", "demo.1.2", "a b.1"])
def test_not_everything_can_have_a_credential(fedbandit, tmp_path, name):
    refused(fedbandit("keys", "new", name), f"{name!r} cannot have a credential: give FEDERATION.NUMBER for a site")
    assert not (tmp_path / "keys").exists()


@pytest.mark.parametrize("days", ["0", "-1", "nan", "1e9"])
def test_a_credential_is_valid_for_some_time(fedbandit, days):
    refused(fedbandit("keys", "new", "demo.1", "--days", days), "days must be more than 0 and at most 36500")


def test_half_an_authority_is_none(fedbandit, tmp_path):
    fedbandit("keys", "new", "demo.3")
    (tmp_path / "keys" / "ca.key").unlink()
    refused(fedbandit("keys", "new", "demo.4"), "the authority in keys cannot be used")


def test_the_configuration_of_a_broker_can_be_printed(fedbandit, tmp_path):
    (tmp_path / "serve.toml").write_text(GOOD.replace("{broker}", "nats://127.0.0.1:4299"))
    said = fedbandit("broker", "serve.toml", "--print", "--listen", "0.0.0.0", "--store", "here")
    assert 'listen: "0.0.0.0:4299"' in said.out
    assert "sync_interval: always" in said.out
    assert "verify_and_map" not in said.out


def test_a_broker_with_tls_needs_its_credential_and_knows_the_roster(fedbandit, tmp_path):
    (tmp_path / "serve.toml").write_text(GOOD.replace("{broker}", "tls://127.0.0.1:4299"))
    refused(fedbandit("broker", "serve.toml", "--print"), f"there is no {tmp_path}/keys/broker.pem: make it with")
    fedbandit("keys", "new", "broker", "--host", "example.org", "--folder", "secrets")
    said = fedbandit("broker", "serve.toml", "--print", "--keys", "secrets")
    assert "verify_and_map: true" in said.out
    assert [f"CN=demo.{site}" in said.out for site in range(4)] == [True, True, True, False]


def test_a_broker_runs_in_place_of_the_command(fedbandit, tmp_path, monkeypatch):
    (tmp_path / "serve.toml").write_text(GOOD.replace("{broker}", "nats://127.0.0.1:4299"))
    executed = []
    monkeypatch.setattr(os, "execve", lambda program, arguments, environment: executed.append((program, arguments)))
    fedbandit("broker", "serve.toml")
    ((program, arguments),) = executed
    assert program.endswith("nats-server")
    assert "4299" in (tmp_path / arguments[2]).read_text()


def test_a_broker_without_jetstream_will_not_do(fedbandit, tmp_path):
    port = free_port()
    command = [server_program(), "-a", "127.0.0.1", "-p", str(port)]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as plain:
        assert any("Server is ready" in line for line in plain.stderr)
        (tmp_path / "serve.toml").write_text(GOOD.replace("{broker}", f"nats://127.0.0.1:{port}"))
        refused(fedbandit("serve", "serve.toml"), f"the broker at nats://127.0.0.1:{port} has no JetStream")
        plain.terminate()
