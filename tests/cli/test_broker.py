"""`fedbandit broker` where the file names several brokers, which are one cluster."""

from __future__ import annotations

import pytest

FILE = """
broker = "nats://one:4222,two:4222,three:4222"
[federations.demo]
algorithm = "async-linucb"
clients = 3
dimension = 2
"""


@pytest.mark.parametrize(
    ("which", "sentence"),
    [
        ((), "nats://one:4222,two:4222,three:4222 names 3 brokers: say with --as HOST:PORT which of them this is"),
        (("--as", "four:4222"), "'four:4222' is none of the brokers one:4222, two:4222, three:4222: give one of them"),
        (("--as", "two"), "'two' is none of the brokers one:4222, two:4222, three:4222: give one of them"),
    ],
)
def test_a_broker_of_a_cluster_must_be_told_which_one_it_is(fedbandit, tmp_path, which, sentence):
    (tmp_path / "serve.toml").write_text(FILE)
    said = fedbandit("broker", "serve.toml", *which)
    assert (said.code, said.out, said.err) == (2, "", f"fedbandit: {sentence}\n")
    assert not (tmp_path / "broker").exists()


def test_its_configuration_names_the_others(fedbandit, tmp_path):
    (tmp_path / "serve.toml").write_text(FILE)
    said = fedbandit("broker", "serve.toml", "--as", "two:4222", "--listen", "0.0.0.0", "--print").out
    assert 'listen: "0.0.0.0:4222"' in said
    assert 'server_name: "two-4222"' in said
    assert 'listen: "0.0.0.0:6222"' in said
    assert '["nats-route://one:6222", "nats-route://two:6222", "nats-route://three:6222"]' in said
