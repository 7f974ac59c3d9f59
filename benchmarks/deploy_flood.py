"""One site of ten sends as fast as it can, for ten seconds: how long the others wait for their acknowledgements.

The site that floods writes straight to the socket, far faster than any site would, and only to this machine: as much as
a line of one gigabit carries. It shares its stream at the broker with one of the nine others.
"""

from __future__ import annotations

import asyncio
import os
import socket
import subprocess
import sys
import time
from collections.abc import Awaitable, Callable
from functools import cache
from typing import NamedTuple
from urllib.parse import urlsplit

import numpy as np

from benchmarks.deploy import ASYNC, Deployment, deployed, kilobytes
from benchmarks.deploy_senders import Sender, all_acknowledged, warm_up, with_senders
from benchmarks.row import Row
from fedbandit.transport.nats.subjects import SHARDS, Subjects
from fedbandit.wire.frame import Frame, Kind, with_numbers
from fedbandit.wire.question import Question
from fedbandit.wire.report import Report

FLOODER, HONEST = 0, [SHARDS, *range(1, 9)]  # the first of them shares the flooder's stream
RATE, SECONDS = 90, 10.0  # uploads a second of the nine together
FLOOD = 145_000  # messages a second
LINE = 125_000_000  # bytes a second: what a line of one gigabit carries
NUMBER = 13  # where the number of a frame begins
FLOODS = ("report", "up", "ask")


class Measured(NamedTuple):
    """What a flood did."""

    times_longer: float  # the 99th percentile of honest sites' waits, beside that without a flood
    sent: int
    grown_kilobytes: float
    log_bytes: int


def main() -> None:
    """Flood: `python -m benchmarks.deploy_flood SERVER SUBJECT FRAME_IN_HEX`; print how many were sent."""
    os.nice(5)  # it stands for another machine
    server, subject, frame = urlsplit(sys.argv[1]), sys.argv[2], bytes.fromhex(sys.argv[3])
    head, last = f"PUB {subject} {len(frame)}\r\n".encode() + frame[:NUMBER], frame[NUMBER + 8 :] + b"\r\n"
    rate = min(FLOOD, LINE // (len(head) + 8 + len(last)))
    sent, began = 0, time.monotonic()
    with socket.create_connection((server.hostname, server.port)) as broker:
        broker.sendall(b'CONNECT {"verbose":false}\r\n')
        while time.monotonic() < began + SECONDS:
            block = [head + (sent + number).to_bytes(8, "little") + last for number in range(1, 201)]
            broker.sendall(b"".join(block))
            sent += len(block)
            time.sleep(max(0.0, began + sent / rate - time.monotonic()))
    print(sent)


def _frame(what: str, body: bytes) -> bytes:
    frames = {
        "report": Report(10, 10, 1.0, {"arm": 10}).to_frame(FLOODER, 1),
        "up": Frame(Kind.UPLOAD, FLOODER, 1, 1, body),
        "ask": with_numbers(Kind.ASK, FLOODER, 0, 0, *Question(1, 0, 1)),
    }
    return frames[what].to_bytes()


async def _waits(senders: list[Sender]) -> float:
    """Return the 99th percentile of the seconds up to acknowledgements, when all send now and then."""
    before, began = [len(sender.sent) for sender in senders], time.perf_counter()
    for number in range(int(RATE * SECONDS)):
        await asyncio.sleep(max(0.0, began + number / RATE - time.perf_counter()))
        await senders[number % len(senders)].send()
    await all_acknowledged(senders)
    waits = [wait for sender, first in zip(senders, before, strict=True) for wait in sender.waits[first:]]
    return float(np.quantile(waits, 0.99))


def _work(
    deployment: Deployment, what: str, note: Callable[[Measured], None]
) -> Callable[[list[Sender]], Awaitable[float]]:
    async def work(everybody: list[Sender]) -> float:
        await warm_up(everybody)  # the one that will flood is known as well
        *senders, flooder = everybody
        flooder.is_over = True  # others will speak in its name
        await _waits(senders)
        alone, memory, log = await _waits(senders), kilobytes(deployment.coordinator), deployment.log.stat().st_size
        subjects = Subjects(deployment.address.federation)
        subject = {"report": subjects.report, "up": subjects.up, "ask": subjects.ask}[what](FLOODER)
        frame = _frame(what, senders[0].bodies[0]).hex()
        command = [sys.executable, "-m", "benchmarks.deploy_flood", deployment.address.server, subject, frame]
        with subprocess.Popen(command, stdout=subprocess.PIPE) as flood:
            flooded = await _waits(senders)
            told, _ = await asyncio.to_thread(flood.communicate)
        grown = kilobytes(deployment.coordinator) - memory
        note(Measured(flooded / alone, int(told), grown, deployment.log.stat().st_size - log))
        return flooded / alone

    return work


@cache
def _flood(what: str) -> Measured:
    told: list[Measured] = []
    with deployed(ASYNC, max(HONEST) + 1) as deployment:
        asyncio.run(with_senders(deployment.address, [*HONEST, FLOODER], _work(deployment, what, told.append)))
    return told[0]


def _most(of: Callable[[Measured], float]) -> float:
    return max(of(_flood(what)) for what in FLOODS)


ROWS = (
    Row("deployment, one of ten sites floods with reports: acknowledgements of the others", 5, "times longer",
        lambda: _flood("report").times_longer, "99th percentile, beside that without a flood"),
    Row("the same with uploads, in the stream of one of the others", 5, "times longer",
        lambda: _flood("up").times_longer, "99th percentile, beside that without a flood"),
    Row("the same with questions", 5, "times longer",
        lambda: _flood("ask").times_longer, "99th percentile, beside that without a flood"),
    Row("coordinator: memory that a flood takes", 32, "MiB",
        lambda: _most(lambda each: each.grown_kilobytes / 1024), "the most of the three"),
    Row("coordinator: log that a flood writes", 64, "KiB",
        lambda: _most(lambda each: each.log_bytes / 1024), "the most of the three"),
)  # fmt: skip

if __name__ == "__main__":
    main()
