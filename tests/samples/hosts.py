"""A federation in a coordinator's process, without a broker: a hub that notes what is said, and what arrives."""

from __future__ import annotations

import asyncio
from types import SimpleNamespace

from fedbandit.protocol.charter import Charter
from fedbandit.service.coordinator.host import FederationHost
from fedbandit.service.coordinator.settings import FederationPlan
from fedbandit.transport.nats.door import Arrival
from fedbandit.wire.frame import Kind, with_numbers
from fedbandit.wire.question import Question
from samples.waiting import PATIENCE
from simulation.tagged import tagged_setting


class NotingHub:
    """A broker that is always there."""

    def __init__(self):
        self.settled, self.sent, self.trouble, self.is_connected = [], [], "", True
        self.others = set()  # federations that another coordinator serves too

    def hears_another(self, subjects):
        return subjects.federation in self.others

    async def open(self, door):
        self.door = door

    async def send(self, subjects, frames):
        self.sent += frames

    async def settle(self, arrivals):
        self.settled += arrivals


def charter(name="async-linucb", **parameters):
    return Charter.named(name, tagged_setting(10, 3), **parameters)


def host_of(hub, **more):
    return FederationHost(FederationPlan("demo", charter(), **more), "memory:", hub)


def arrival(host, site, what, data):
    source = SimpleNamespace(subject=getattr(host.subjects, what)(site), reply="somewhere")
    return Arrival(site, data, source, is_word=what != "up")


def ask(site):
    return with_numbers(Kind.ASK, site, 0, 0, *Question(1, 0, 1)).to_bytes()


def serve(host, arrivals, until):
    """Serve what arrives until something is so."""

    async def all_of_it():
        await host.open()
        for each in arrivals:
            host._hub.door.arrive(each)
        serving = asyncio.ensure_future(host.serve())
        async with asyncio.timeout(PATIENCE):
            while not until() and not serving.done():
                await asyncio.sleep(0.005)
        host.stop()
        await serving

    asyncio.run(all_of_it())


async def handled(host, *arrivals):
    """Have some arrivals handled, to the end."""
    await host._handle(list(arrivals))
    await host._background.finish()


def raising(*_, **__):
    raise RuntimeError("telemetry is broken")
