"""A coordinator's hub of one federation, open at a broker, and what a site sends to it."""

from __future__ import annotations

import asyncio

from fedbandit.transport.nats.door import Door
from fedbandit.transport.nats.hub import Hub
from fedbandit.transport.nats.subjects import Subjects
from fedbandit.wire.frame import Frame, Kind

SUBJECTS = Subjects("demo")


def upload(number, size=10):
    return Frame(Kind.UPLOAD, 1, 7, number, bytes(size)).to_bytes()


async def opened(broker, most_bytes=1000):
    hub, arrived = Hub(broker.url), asyncio.Queue()
    await hub.connect()
    await hub.open(Door(SUBJECTS, 2, most_bytes, arrived.put_nowait))
    return hub, arrived
