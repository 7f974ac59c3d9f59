"""A whole deployment on this machine: a broker, a coordinator on one core, and the connections of its sites.

The broker syncs every message to its disk, the coordinator syncs its journal before it acknowledges. The connections
are those of the Site SDK; what they send was made before, so that the clock sees the deployment alone.

Two thousand syncs a second of the broker keep a disk busy, and the coordinator's journal waits behind them. In
production each has its own; here there is one disk, so "apart" puts the broker's store into memory.
"""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import NamedTuple

from benchmarks.deploy_senders import (
    DIMENSION,
    Sender,
    all_acknowledged,
    numbers_at,
    percentile,
    warm_up,
    with_senders,
)
from benchmarks.row import Row
from fedbandit.transport.nats.address import Address
from fedbandit.transport.nats.broker import Broker, free_port
from fedbandit.transport.nats.broker_settings import BrokerSettings

SITES, MANY_SITES = 100, 1000
OFFERED, SECONDS, WARM_SECONDS = 2000, 10.0, 3.0
MEMORY = "/dev/shm"  # a place that is synced at once
ASYNC = 'algorithm = "async-linucb"\nset = { upload_threshold = 1.2, download_threshold = 2.0, smallest_upload = 1 }'
SYNC = 'algorithm = "sync-linucb"\nset = { sync_threshold = 0.01, smallest_upload = 1 }'


class Deployment(NamedTuple):
    """A running deployment."""

    address: Address
    coordinator: int  # its process
    log: Path  # of the coordinator


@contextmanager
def on_every_core() -> Iterator[range]:
    """Use all cores, as a deployment does: benchmarks run on one."""
    every, before = range(os.cpu_count() or 1), os.sched_getaffinity(0)
    os.sched_setaffinity(0, every)
    try:
        yield every
    finally:
        os.sched_setaffinity(0, before)


@contextmanager
def deployed(algorithm: str, sites: int, apart: bool = False, cores: int = 1) -> Iterator[Deployment]:
    """Run a broker and a coordinator, which has so many cores; `apart` keeps the broker off the coordinator's disk."""
    memory = MEMORY if apart and Path(MEMORY).is_dir() else None
    with (
        tempfile.TemporaryDirectory() as name,
        tempfile.TemporaryDirectory(dir=memory) as store,
        on_every_core() as every,
        Broker(BrokerSettings(Path(store), port=free_port())) as broker,
    ):
        folder = Path(name)
        file = folder / "serve.toml"
        file.write_text(
            f'broker = "{broker.url}"\nhttp = "127.0.0.1:0"\n[federations.bench]\nclients = {sites}\n'
            f"dimension = {DIMENSION}\narms = 2\nlimits = {{ context = 1.0, reward = 1.0 }}\n{algorithm}\n"
        )
        log = folder / "log"
        with log.open("w") as out:
            command = [sys.executable, "-c", "from fedbandit.cli import main; main()", "serve", str(file)]
            process = subprocess.Popen(command, stdout=out, stderr=out)
        os.sched_setaffinity(process.pid, every[:cores])
        try:
            while "serving at" not in log.read_text():
                if process.poll() is not None:
                    raise RuntimeError(log.read_text())
                time.sleep(0.05)
            yield Deployment(Address(broker.url, "bench"), process.pid, log)
        finally:
            process.terminate()
            process.wait()


def _run(algorithm: str, sites: int, work: Callable[[list[Sender]], Awaitable[float]], apart: bool = False) -> float:
    with deployed(algorithm, sites, apart) as deployment:
        return asyncio.run(with_senders(deployment.address, range(sites), work))


async def _as_fast_as_they_can(senders: list[Sender]) -> float:
    """Return the milliseconds an upload takes from first to last, when every site has some under way."""
    await warm_up(senders)
    before, began = sum(len(sender.waits) for sender in senders), time.perf_counter()

    async def go_on(sender: Sender) -> None:
        while time.perf_counter() < began + SECONDS:
            await sender.room.acquire()
            await sender.send()

    await asyncio.gather(*(go_on(sender) for sender in senders))
    await all_acknowledged(senders)
    acknowledged = sum(len(sender.waits) for sender in senders) - before
    return (time.perf_counter() - began) / acknowledged * 1e3


async def _at_the_offered_rate(senders: list[Sender]) -> float:
    """Return the milliseconds up to the acknowledgement, 99th percentile, at so many uploads a second."""
    await warm_up(senders)
    await _offer(senders, WARM_SECONDS)
    before = [len(sender.sent) for sender in senders]
    await _offer(senders, SECONDS)
    await all_acknowledged(senders)
    return percentile([sender.waits for sender in senders], before)


async def _offer(senders: list[Sender], seconds: float) -> None:
    """Send at the offered rate, one site after the other."""
    async for number in numbers_at(OFFERED, seconds):
        await senders[number % len(senders)].send()


async def _fan_out(senders: list[Sender]) -> float:
    """Return the seconds from the upload that completes a round until every site has the download."""
    last = senders[-1]
    for sender in senders[:-1]:
        await sender.send()
    await all_acknowledged(senders[:-1])
    for sender in senders:
        sender.downloaded.clear()
    began = time.perf_counter()
    await last.send()
    await asyncio.gather(*(sender.downloaded.wait() for sender in senders))
    return time.perf_counter() - began


def kilobytes(process: int) -> float:
    """Return the memory of a process."""
    lines = Path(f"/proc/{process}/status").read_text().splitlines()
    return float(next(line for line in lines if line.startswith("VmRSS")).split()[1])


@cache
def _memory(sites: int) -> float:
    """Return the kilobytes of a coordinator that has heard of so many sites."""

    with deployed(ASYNC, sites) as deployment:

        async def measured(senders: list[Sender]) -> float:
            await warm_up(senders)
            return kilobytes(deployment.coordinator)

        return asyncio.run(with_senders(deployment.address, range(sites), measured))


def _memory_of_a_site() -> float:
    return (_memory(MANY_SITES) - _memory(SITES)) / (MANY_SITES - SITES)


ROWS = (
    Row("deployment, d=25, 100 sites: an upload, all as fast as they can", 0.5, "ms",
        lambda: _run(ASYNC, SITES, _as_fast_as_they_can), "2,000 a second"),
    Row("deployment: up to an acknowledgement, 99th percentile, disks apart", 50, "ms",
        lambda: _run(ASYNC, SITES, _at_the_offered_rate, apart=True), "at 2,000 uploads a second"),
    Row("deployment: the same with broker and coordinator on one disk", 200, "ms",
        lambda: _run(ASYNC, SITES, _at_the_offered_rate), "2,000 syncs a second of the broker"),
    Row("deployment: a download to 1,000 connected sites", 1, "s",
        lambda: _run(SYNC, MANY_SITES, _fan_out), "from the upload that causes it"),
    Row("coordinator: memory of one more site, d=25", 64, "KiB", _memory_of_a_site, "from 100 to 1,000 sites"),
)  # fmt: skip
