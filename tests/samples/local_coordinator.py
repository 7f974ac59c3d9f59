"""A coordinator in this process, and links to it that a test can cut."""

from __future__ import annotations

import asyncio

from fedbandit.durable.coordinator.server import DurableServer
from fedbandit.durable.journals.journal import MemoryJournal
from fedbandit.wire.frame import Frame


class LocalCoordinator:
    """Takes in a frame at a time; all links live in one event loop."""

    def __init__(self, charter):
        self.server = DurableServer(charter, MemoryJournal(keep_log=True), epoch=1, now=0.0)
        self.links = {}
        self.is_up = True
        self.attempts = 0

    def receive(self, frame, sender):
        self.server.receive(frame, 0.0, sender)
        for site, answer in self.server.commit():
            if site in self.links:
                self.links[site].arrived.put_nowait(answer)

    def connector(self, number):
        async def connect():
            self.attempts += 1
            if not self.is_up:
                raise ConnectionRefusedError("the coordinator is down")
            self.links[number] = LocalLink(self, number)
            return self.links[number]

        return connect

    def cut(self, number):
        """Break a site's connection; what was under way is lost."""
        link = self.links.pop(number)
        link.is_cut = True
        link.arrived.put_nowait(None)


class LocalLink:
    def __init__(self, coordinator, number):
        self.coordinator, self.number = coordinator, number
        self.arrived = asyncio.Queue()
        self.is_cut = False
        self.sent = []

    async def send(self, frame):
        if self.is_cut:
            raise ConnectionResetError("cut")
        self.sent.append(Frame.from_bytes(frame).kind.name)
        self.coordinator.receive(frame, self.number)

    async def receive(self):
        frame = await self.arrived.get()
        if frame is None:
            raise ConnectionResetError("cut")
        return frame

    async def close(self):
        self.is_cut = True
