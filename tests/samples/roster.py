"""A broker with TLS whose door a coordinator with a roster keeps; the coordinator runs in a thread of the test."""

from __future__ import annotations

import asyncio
import json
import threading
from contextlib import contextmanager
from dataclasses import replace

from fedbandit.service.coordinator.coordinator import Coordinator
from fedbandit.service.coordinator.settings import read_plan
from fedbandit.service.keys.files import Keys
from fedbandit.service.roster.asking import ask
from fedbandit.service.roster.joining import join
from fedbandit.transport.nats.broker import Broker, free_port
from fedbandit.transport.nats.broker_settings import BrokerSettings, Security
from fedbandit.transport.nats.subjects import Subjects
from samples.deployed import Coordinator as Process
from samples.waiting import until


class Rostered:
    """All of it in one folder."""

    def __init__(self, folder, federations):
        self.folder = folder
        self.keys = Keys(folder / "keys")
        for name in ("broker", "coordinator"):
            self.keys.new(name)
        sites = {name: table["clients"] for name, table in federations.items()}
        secured = Security(self.keys.path("broker"), self.keys.authority, sites, self.keys.doorkeeper())
        self.broker = Broker(BrokerSettings(folder / "broker", port=free_port(), security=secured))
        named = {"credentials": self.keys.path("coordinator"), "authority": self.keys.folder}
        self.process = Process(folder, self.broker.url, federations, journal="journals", **named)
        self.file = self.process.file

    def start(self, *only):
        """Serve in a thread, until `stop`: all federations, or only these."""
        plan = replace(read_plan(self.file), port=0)
        runner, self.serving = asyncio.Runner(), Coordinator(plan.serving_only(only) if only else plan)
        self.loop = runner.get_loop()

        def serve():
            with runner:
                runner.run(self.serving.run())

        self.thread = threading.Thread(target=serve)
        self.thread.start()
        until(lambda: self.serving.is_active and not self.serving.problem(), "the coordinator")
        return self

    def stop(self):
        self.loop.call_soon_threadsafe(self.serving.stop)
        self.thread.join()

    def host(self, federation):
        return next(host for host in self.serving._term.hosts if host.plan.name == federation)

    def invited(self, federation, name, **more):
        """Return a token."""
        return self.operate(federation, "invite", name, **{"days": 1.0, "valid": 1.0, **more})["token"]

    def operate(self, federation, do, name, **more):
        """Do what an operator does."""
        told = {"do": do, "name": name, "broker": self.broker.url, **more}
        subject, question = Subjects(federation).roster, json.dumps(told).encode()
        return ask(self.broker.url, self.keys.path("coordinator"), subject, question)

    def joined(self, federation, name):
        """Invite a site and let it join."""
        return join(self.invited(federation, name), self.folder / "sites")


@contextmanager
def serving(folder, federations):
    """All of it, while the block lasts."""
    made = Rostered(folder, federations).start()
    try:
        yield made
    finally:
        made.stop()
        made.broker.kill()  # it would wait for answers about whoever knocked while the coordinator was away
