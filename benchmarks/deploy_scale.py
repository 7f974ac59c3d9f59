"""How many uploads a second a coordinator takes in from 1,000 sites, beside what its broker and its disk allow.

The bare loop publishes the same messages over the same connections into as many streams of the same broker, which
syncs each of them to the same disk, and waits for its word that they are stored; nobody consumes them. Broker,
coordinator and connections share two cores and one disk. Downloads are few: thresholds decide about them, and
`benchmarks.deploy` measures one to a thousand sites.
"""

from __future__ import annotations

import asyncio
import resource
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from functools import cache, partial
from pathlib import Path

import numpy as np

from benchmarks.deploy import deployed, on_every_core
from benchmarks.deploy_senders import DIMENSION, LONGEST, honest_sums, numbers_at, percentile
from benchmarks.raw_sites import RawSite, raw_sites
from benchmarks.row import Row
from fedbandit.algorithms.linear.shared.encoding import kinds_of_upload, upload
from fedbandit.transport.nats.address import client_library
from fedbandit.transport.nats.broker import Broker, free_port
from fedbandit.transport.nats.broker_settings import BrokerSettings
from fedbandit.transport.nats.subjects import Subjects
from fedbandit.wire import encode

SITES, WINDOW = 1000, 4  # uploads of a site that are under way
CORES = 2  # that broker, coordinator and connections share
SECONDS, WARM_SECONDS = 10.0, 3.0
WANTED = 10_000  # uploads a second; half as many are offered when waits are measured, or half of what is reached
FEDERATION = "bench"


def _bodies(precision: str) -> list[bytes]:
    """Return uploads that honest sites can have made, in a precision."""
    kind = kinds_of_upload(precision, asks=False)
    return [
        encode(upload(kind, precision, gram[np.newaxis], moment[np.newaxis], np.array([2])).message)
        for gram, moment in honest_sums(64)
    ]


class Load:
    """A thousand sites with so many uploads under way each."""

    def __init__(self, sites: list[RawSite]) -> None:
        """Take the connections."""
        self.sites = sites
        self.is_on = False
        self.done = 0

    def moved(self, site: RawSite) -> None:
        """Have a site send its next upload when one has come to its end."""
        self.done += 1
        if self.is_on:
            site.send()

    async def a_second(self) -> float:
        """Return how many uploads come to their end in a second, as fast as they can."""
        self.is_on = True
        for site in self.sites:
            for _ in range(WINDOW):
                site.send()
        await asyncio.sleep(WARM_SECONDS)
        before, began = self.done, time.perf_counter()
        await asyncio.sleep(SECONDS)
        rate = (self.done - before) / (time.perf_counter() - began)
        self.is_on = False
        await self.rest()
        return rate

    async def waits_at(self, a_second: float) -> float:
        """Return the milliseconds up to the acknowledgement, 99th percentile, at so many uploads a second."""
        for site in self.sites:  # then all is compiled, and everybody is known
            site.send()
        await self.rest()
        await self._offer(a_second, WARM_SECONDS)
        before = [len(site.sent) for site in self.sites]
        await self._offer(a_second, SECONDS)
        await self.rest()
        return percentile([site.waits for site in self.sites], before)

    async def _offer(self, a_second: float, seconds: float) -> None:
        """Send at a rate, one site after the other."""
        async for number in numbers_at(a_second, seconds):
            self.sites[number % len(self.sites)].send()

    async def rest(self) -> None:
        """Wait until nothing is under way."""
        while any(len(site.waits) < len(site.sent) for site in self.sites):
            await asyncio.sleep(0.005)


async def _with_load(server: str, precision: str, work: Callable[[Load], Awaitable[float]], *, bare: bool) -> float:
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(hard, max(soft, 8192)), hard))
    load = Load([])
    load.sites = await raw_sites(server, FEDERATION, SITES, _bodies(precision), lambda site: load.moved(site))
    try:
        async with asyncio.timeout(LONGEST):
            for site in load.sites:
                site.ends_with_storing = bare
                if not bare:
                    site.introduce()
            if not bare:
                await asyncio.gather(*(site.introduced for site in load.sites))
            return await work(load)
    finally:
        for site in load.sites:
            site.close()


@contextmanager
def _bare_broker() -> Iterator[str]:
    """A broker with the streams of a federation, and nobody who consumes them."""
    with (
        tempfile.TemporaryDirectory() as store,
        on_every_core(),
        Broker(BrokerSettings(Path(store), port=free_port())) as broker,
    ):

        async def arrange() -> None:
            connection = await client_library().connect(broker.url)
            for name, subject in Subjects(FEDERATION).streams(SITES).items():
                await connection.jetstream().add_stream(name=name, subjects=[subject])
            await connection.close()

        asyncio.run(arrange())
        yield broker.url


def _settings(precision: str) -> str:
    thresholds = "upload_threshold = 1.2, download_threshold = 1e30, smallest_upload = 1"
    return f'algorithm = "async-linucb"\nset = {{ {thresholds}, precision = "{precision}" }}'


@cache
def _rates(precision: str) -> tuple[float, float]:
    """Return how many uploads a second the bare loop has stored, and a deployment has acknowledged, in turn."""
    with _bare_broker() as server:
        bare = asyncio.run(_with_load(server, precision, Load.a_second, bare=True))
    with deployed(_settings(precision), SITES, cores=CORES) as deployment:
        ours = asyncio.run(_with_load(deployment.address.server, precision, Load.a_second, bare=False))
    print(f"{precision}: bare loop {bare:,.0f} a second, fedbandit {ours:,.0f} ({ours / bare:.0%})", file=sys.stderr)
    return bare, ours


def _milliseconds(precision: str) -> float:
    return 1e3 / _rates(precision)[1]


def _times_bare(precision: str) -> float:
    bare, ours = _rates(precision)
    return bare / ours


def _at_half_load(precision: str) -> float:
    rate = min(WANTED, _rates(precision)[1]) / 2
    with deployed(_settings(precision), SITES, cores=CORES) as deployment:
        work = partial(Load.waits_at, a_second=rate)
        return asyncio.run(_with_load(deployment.address.server, precision, work, bare=False))


ROWS = tuple(
    row
    for precision, most in (("float64", 0.5), ("float16", 0.5))
    for row in (
        Row(f"1,000 sites, d={DIMENSION}, {precision}: an upload, all as fast as they can", most, "ms",
            partial(_milliseconds, precision), "one disk; 10,000 a second are 0.1 ms"),
        Row(f"1,000 sites, {precision}: its time, in those of a bare loop", 1 / 0.6, "times",
            partial(_times_bare, precision), "publish, sync, and the broker's word, in the same run"),
        Row(f"1,000 sites, {precision}: up to an acknowledgement, 99th percentile, 5,000 a second", 50, "ms",
            partial(_at_half_load, precision), "one disk; half as fast as they can, if that is less"),
    )
)  # fmt: skip
