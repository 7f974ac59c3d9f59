"""The connections of many sites, which send what was made before and note when it is acknowledged.

A connection that breaks, or an acknowledgement that never comes, ends a measurement with an error: it does not hang.
"""

from __future__ import annotations

import asyncio
import resource
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Sequence

import numpy as np

from fedbandit.algorithms.linear.shared.messages import Statistics
from fedbandit.core.arrays import Floats
from fedbandit.transport.link import RESEND
from fedbandit.transport.nats.address import Address
from fedbandit.transport.nats.link import NatsLink
from fedbandit.wire import encode
from fedbandit.wire.frame import Frame, Kind, with_numbers
from fedbandit.wire.question import Question

DIMENSION = 25
WINDOW = 8  # uploads of a site that are under way, when all send as fast as they can
LONGEST = 300.0  # seconds of a measurement
TICK = 0.001  # seconds


def honest_sums(count: int) -> list[tuple[Floats, Floats]]:
    """Return sums that honest sites can have made: over two observations of length 1."""
    rng = np.random.default_rng(1)
    pairs = rng.standard_normal((count, 2, DIMENSION))
    pairs /= np.linalg.norm(pairs, axis=-1, keepdims=True)
    rewards = rng.uniform(-1, 1, (count, 2))
    grams, moments = np.einsum("nki,nkj->nij", pairs, pairs), np.einsum("nki,nk->ni", pairs, rewards)
    return list(zip(grams, moments, strict=True))


def _bodies(count: int) -> list[bytes]:
    """Return uploads of such sums."""
    return [
        encode(Statistics(gram[np.newaxis], moment[np.newaxis], np.array([2]))) for gram, moment in honest_sums(count)
    ]


class Sender:
    """One site's connection: it sends uploads and notes when each was acknowledged."""

    def __init__(self, link: NatsLink, number: int, bodies: list[bytes]) -> None:
        """Take the connection and what is to be sent."""
        self.link, self.number, self.bodies = link, number, bodies
        self.sent: list[float] = []
        self.waits: list[float] = []
        self.room = asyncio.Semaphore(WINDOW)
        self.downloaded = asyncio.Event()
        self.introduced = asyncio.Event()
        self.is_over = False  # what comes is of no interest any more

    async def introduce(self) -> None:
        """Ask what the coordinator has, as a site does before it sends anything; wait for the answer."""
        await self.ask()
        await self.introduced.wait()

    async def ask(self) -> None:
        """Ask what the coordinator has."""
        await self.link.send(with_numbers(Kind.ASK, self.number, 0, 0, *Question(1, 0, mark=1)).to_bytes())

    async def send(self) -> None:
        """Send the next upload."""
        body = self.bodies[len(self.sent) % len(self.bodies)]
        self.sent.append(time.perf_counter())
        await self.link.send(Frame(Kind.UPLOAD, self.number, 1, len(self.sent), body).to_bytes())

    async def listen(self) -> None:
        """Take in acknowledgements and downloads."""
        while True:
            frame = Frame.from_bytes(await self.link.receive())
            if self.is_over:
                continue
            if frame.kind is Kind.ACKNOWLEDGEMENT:
                self.introduced.set()
                now = time.perf_counter()
                for _ in range(len(self.waits), frame.sequence):
                    self.waits.append(now - self.sent[len(self.waits)])
                    self.room.release()
            elif frame.kind is Kind.DOWNLOAD:
                self.downloaded.set()
            else:
                raise RuntimeError(f"unexpected {frame.name}: {frame.body!r}")


async def with_senders(
    address: Address, sites: Iterable[int], work: Callable[[list[Sender]], Awaitable[float]]
) -> float:
    """Return what is measured with the connections of some sites, which end with it."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(hard, max(soft, 8192)), hard))
    bodies = _bodies(64)
    senders = [Sender(await NatsLink.open(address, number), number, bodies) for number in sites]
    try:
        async with asyncio.timeout(LONGEST), asyncio.TaskGroup() as group:  # a broken connection ends it, and says so
            beside = [group.create_task(each) for each in (*(sender.listen() for sender in senders), _ask(senders))]
            await asyncio.gather(*(sender.introduce() for sender in senders))
            measured = await work(senders)
            for each in beside:
                each.cancel()
        return measured
    finally:
        await asyncio.gather(*(sender.link.close() for sender in senders))


async def _ask(senders: list[Sender]) -> None:
    """Ask now and then, as sites do, for acknowledgements that may have been lost."""
    while True:
        await asyncio.sleep(RESEND)
        await asyncio.gather(*(sender.ask() for sender in senders if len(sender.waits) < len(sender.sent)))


async def warm_up(senders: list[Sender]) -> None:
    """Have one upload of each acknowledged: all is compiled and everybody is known."""
    await asyncio.gather(*(sender.send() for sender in senders))
    await all_acknowledged(senders)
    for sender in senders:
        sender.waits = [0.0] * len(sender.waits)


async def numbers_at(a_second: float, seconds: float) -> AsyncIterator[int]:
    """Count, at a rate; all that are due are counted every millisecond, since a timer for each takes a core."""
    began, counted, last = time.perf_counter(), 0, int(a_second * seconds)
    while counted < last:
        due = min(1 + int(a_second * (time.perf_counter() - began)), last)
        for number in range(counted, due):
            yield number
        counted = due
        await asyncio.sleep(TICK)


def percentile(waits: Sequence[Sequence[float]], before: Sequence[int]) -> float:
    """Return the milliseconds of the 99th percentile of what sites have waited, but for so many of each before."""
    return (
        float(np.quantile([wait for each, first in zip(waits, before, strict=True) for wait in each[first:]], 0.99))
        * 1e3
    )


async def all_acknowledged(senders: list[Sender]) -> None:
    """Wait until nothing is under way."""
    while any(len(sender.waits) < len(sender.sent) for sender in senders):
        await asyncio.sleep(0.005)
