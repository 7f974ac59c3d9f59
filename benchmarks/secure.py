"""What a secure aggregation costs: bytes that a site sends and receives, and the time of all sites in one process."""

from __future__ import annotations

import tempfile
import time
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path

import numpy as np

from benchmarks.row import Row
from fedbandit.core.algorithm import Setting
from fedbandit.core.drawn import Drawn
from fedbandit.core.interfaces import Outgoing
from fedbandit.core.messages import Download, Message
from fedbandit.core.turns import Observations
from fedbandit.protocol.charter import Charter
from fedbandit.secure.messages import Ready
from fedbandit.service.keys.files import Keys
from fedbandit.transport.nats.identity import CertificateIdentity
from fedbandit.wire import weigh
from fedbandit.wire.header import HEADER_BYTES

DIMENSION = 25
PLAIN = "plain: 2.8 kB"  # of sync-linucb
SITES = (10, 30, 100)
WHO = np.zeros(1, dtype=np.int64)


@dataclass
class Cost:
    """What one aggregation took."""

    seconds: float  # of the processor
    sent: float  # bytes, by a site
    received: float


@cache
def aggregation(sites: int) -> Cost:
    """Run one aggregation of so many sites with an observation each."""
    charter = Charter.named("sync-linucb", Setting(sites, 2, DIMENSION, 100), smallest_cohort=3)
    server = charter.build().server
    state = server.start(sites)
    rng = np.random.default_rng(0)
    clients = [charter.build_for(number).clients for number in range(sites)]
    cohorts = [each.start(1) for each in clients]
    for side, cohort in zip(clients, cohorts, strict=True):
        features = rng.integers(-16, 17, (1, 2, DIMENSION)) / 16
        side.learn(cohort, WHO, Observations(features, WHO, np.array([0.5])))
    identities = _identities(sites)
    began = time.process_time()
    sent = received = 0
    waiting: list[Outgoing[Download]] = list(server.receive(state, WHO, Ready()))
    for outgoing in waiting:  # the list grows while it is read
        for to in outgoing.clients.tolist():
            received += _bytes(outgoing.message)
            clients[to].check(cohorts[to], outgoing.message, identities[to])
            drawn = Drawn(rng.bytes(128), identity=identities[to])
            for answer in clients[to].receive_drawn(cohorts[to], WHO, outgoing.message, drawn):
                sent += _bytes(answer.message)
                waiting += server.receive(state, np.array([to]), answer.message)
    assert state.gathering.finished == 1
    return Cost(time.process_time() - began, sent / sites, received / sites)


def _identities(sites: int) -> list[CertificateIdentity]:
    with tempfile.TemporaryDirectory() as folder:
        keys = Keys(Path(folder))
        for number in range(sites):
            keys.new(f"demo.{number}")
        return [CertificateIdentity(keys.path(f"demo.{number}"), "demo") for number in range(sites)]


def _bytes(message: Message) -> int:
    return HEADER_BYTES + weigh(message).bytes


def seconds(sites: int) -> float:
    """Return the time of the processor that an aggregation takes at all sites and the coordinator together."""
    return aggregation(sites).seconds


def sent(sites: int) -> float:
    """Return the kilobytes that a site sends in an aggregation."""
    return aggregation(sites).sent / 1e3


def received(sites: int) -> float:
    """Return the kilobytes that a site receives in an aggregation."""
    return aggregation(sites).received / 1e3


ROWS = tuple(
    Row(f"a secure aggregation of {sites} sites: {what}", at_most, unit, partial(measure, sites), beside)
    for what, measure, unit, floors, beside in (
        ("the processor's time, of all together", seconds, "s", (0.5, 2, 20), ""),
        ("what a site sends", sent, "kB", (8, 14, 34), PLAIN),
        ("what a site receives", received, "kB", (20, 50, 160), PLAIN),
    )
    for sites, at_most in zip(SITES, floors, strict=True)
)
