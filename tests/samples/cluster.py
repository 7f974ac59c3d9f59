"""Three real brokers that are one cluster."""

from __future__ import annotations

import asyncio
from contextlib import suppress

import nats

from fedbandit.transport.nats.broker import Broker, free_port
from fedbandit.transport.nats.broker_settings import ROUTE_PORTS, BrokerSettings, Cluster
from samples.waiting import PATIENCE

BROKERS = 3
HIGHEST = 65535 - ROUTE_PORTS


class Brokers:
    """The brokers, each of which can be killed and started again."""

    def __init__(self, folder, security=None):
        host, scheme = ("localhost", "tls") if security else ("127.0.0.1", "nats")
        ports = []
        while len(ports) < BROKERS:
            port = free_port()
            if port <= HIGHEST and port not in ports:
                ports.append(port)
        self.url = f"{scheme}://" + ",".join(f"{host}:{port}" for port in ports)
        self.settings = [
            BrokerSettings(
                folder / f"broker-{port}", port=port, security=security, cluster=Cluster.of(self.url, f"{host}:{port}")
            )
            for port in ports
        ]
        self.running = [Broker(each) for each in self.settings]

    def kill(self, which):
        self.running[which].kill()

    def start(self, which):
        self.running[which] = Broker(self.settings[which])

    def end(self):
        for each in self.running:
            each.kill()


def until_it_has_a_leader(url):
    """Wait until streams can be had."""

    async def ask():
        connection = await nats.connect(url.replace(",", ",nats://").split(","))
        async with asyncio.timeout(PATIENCE):
            while True:
                with suppress(nats.errors.Error):
                    await connection.jetstream().account_info()
                    break
        await connection.close()

    asyncio.run(ask())
