"""A broker with TLS, and sites at it that keep to no rules but the broker's."""

from __future__ import annotations

import asyncio

import nats

from fedbandit.service.keys.files import Keys
from fedbandit.transport.nats.address import Address, security
from fedbandit.transport.nats.broker import Broker, free_port
from fedbandit.transport.nats.broker_settings import BrokerSettings, Security
from fedbandit.transport.nats.door import Door
from fedbandit.transport.nats.hub import Hub
from fedbandit.transport.nats.subjects import SHARDS, Subjects

SUBJECTS = Subjects("demo")
CLIENTS = SHARDS + 1
HOSTILE, HONEST = 0, SHARDS  # both in one stream


class SecureBroker:
    """The broker, and what connects to it."""

    def __init__(self, folder, clients, sites):
        self.clients = clients
        self.keys = Keys(folder / "keys")
        for name in ("broker", "coordinator", *(f"demo.{site}" for site in sites)):
            self.keys.new(name)
        secured = Security(self.keys.path("broker"), self.keys.authority, {"demo": clients})
        self.broker = Broker(BrokerSettings(folder / "broker", port=free_port(), security=secured))
        self.address = Address(self.broker.url, "demo")

    def key(self, site):
        return self.keys.path(f"demo.{site}")

    async def raw(self, site, **more):
        """Connect as a site that keeps to no rules but the broker's."""
        tls = security(self.broker.url, self.key(site))
        return await nats.connect(self.broker.url, tls=tls, allow_reconnect=False, connect_timeout=5, **more)

    def run(self, what, most_bytes=1000):
        """Run something beside a coordinator's connection, which is told how large the largest message is."""

        async def all_of_it():
            hub, arrived = Hub(self.broker.url, self.keys.path("coordinator")), asyncio.Queue()
            await hub.connect()
            await hub.open(Door(SUBJECTS, self.clients, most_bytes, arrived.put_nowait))
            try:
                return await what(hub, arrived)
            finally:
                for name in (
                    *SUBJECTS.streams(self.clients),
                    *SUBJECTS.last_words,
                ):  # nothing is left for the next test
                    await hub._broker.jetstream().purge_stream(name)
                await hub.close()

        return asyncio.run(all_of_it())
