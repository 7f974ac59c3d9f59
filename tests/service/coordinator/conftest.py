"""A broker, and coordinators as processes of their own."""

from __future__ import annotations

import pytest

from fedbandit.transport.nats.broker import Broker, free_port
from fedbandit.transport.nats.broker_settings import BrokerSettings
from samples.deployed import Coordinator


@pytest.fixture(scope="module")
def broker(tmp_path_factory):
    with Broker(BrokerSettings(tmp_path_factory.mktemp("broker"), port=free_port())) as running:
        yield running


@pytest.fixture
def serve(tmp_path, broker):
    """Start coordinators that do not outlive the test."""
    started = []

    def start(federations, **more):
        started.append(Coordinator(tmp_path, broker.url, federations, **more))
        return started[-1].start().wait()

    yield start
    for each in started:
        each.end()
