"""A deployed federation without its network: what a site costs its application, and what a coordinator can take in."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

import fedbandit as fb
from benchmarks.row import Row
from fedbandit.core.algorithm import Setting
from fedbandit.core.arrays import Floats
from fedbandit.core.bounds import Bounds
from fedbandit.core.turns import Observations
from fedbandit.durable.coordinator.server import DurableServer
from fedbandit.durable.coordinator.validation import Limits
from fedbandit.durable.journals.sqlite import SqliteJournal
from fedbandit.durable.site.client import DurableClient
from fedbandit.protocol.charter import Charter

DIMENSION, ARMS, TURNS = 25, 25, 4000


def _best(turn: Callable[[], object], turns: int, repeats: int = 5) -> float:
    """Return the microseconds of a turn, the best of several rounds of many."""
    best = np.inf
    for _ in range(repeats):
        began = time.perf_counter()
        for _ in range(turns):
            turn()
        best = min(best, (time.perf_counter() - began) / turns * 1e6)
    return float(best)


def _arms() -> Floats:
    arms = np.random.default_rng(0).standard_normal((ARMS, DIMENSION))
    return np.asarray(arms / np.linalg.norm(arms, axis=1, keepdims=True))


def _choice(exploration: str) -> float:
    """One decision of a site in memory, of which nothing is learnt."""
    with fb.Site("async-linucb", dimension=DIMENSION, arms=ARMS, exploration=exploration) as site:
        arms = _arms()
        for _ in range(100):
            site.learn(site.choose(arms), 0.5)
        return _best(lambda: site.choose(arms), TURNS)


def _added_by_lots() -> float:
    both = [(_choice("igw"), _choice("ucb")) for _ in range(4)]  # by turns, as below
    return min(by_lot for by_lot, _ in both) - min(plain for _, plain in both)


def _bare() -> float:
    """The algorithm alone, with all that it needs at hand."""
    side = fb.algorithm("async-linucb", upload_threshold=np.inf).build(Setting(1, ARMS, DIMENSION, 1)).clients
    state, who, offer, lots = side.start(1), np.zeros(1, dtype=np.int64), _arms()[np.newaxis], np.empty((1, 0))
    reward = np.array([0.5])

    def turn() -> None:
        choice = side.choose(state, who, offer, lots)
        side.learn(state, who, Observations(offer, choice, reward))

    return _best(turn, TURNS)


def _site(store: Path | None) -> float:
    arms = _arms()
    with fb.Site("async-linucb", dimension=DIMENSION, arms=ARMS, upload_threshold=np.inf, store=store) as site:
        return _best(lambda: site.learn(site.choose(arms).id, 0.5), TURNS if store is None else 1000)


def _added() -> float:
    both = [(_site(None), _bare()) for _ in range(4)]  # by turns, so that both meet the same neighbours
    return min(site for site, _ in both) - min(bare for _, bare in both)


def _durable() -> float:
    with tempfile.TemporaryDirectory() as folder:
        return _site(Path(folder) / "site.db")


SITES, UPLOADS, GROUP = 100, 40, 64


def _uploads(charter: Charter) -> tuple[list[tuple[int, bytes]], list[tuple[int, bytes]]]:
    """Return the question that each site asks first, and real uploads of all sites, as they come in turn."""
    rng = np.random.default_rng(1)
    frames: list[list[bytes]] = []
    asks: list[tuple[int, bytes]] = []
    for number in range(SITES):
        site = DurableClient(charter, number, fresh=1)
        while len(site.life.outbox.frames) < UPLOADS:
            arms = rng.standard_normal((1, 2, DIMENSION))
            arms /= np.linalg.norm(arms, axis=-1, keepdims=True)
            site.learn(site.choose(arms, np.empty((1, 0)))[0], float(rng.uniform(-1, 1)))
        frames.append(site.commit()[:UPLOADS])
        asks.append((number, site.resend()[0]))
    return asks, [(number, frames[number][place]) for place in range(UPLOADS) for number in range(SITES)]


def _coordinator() -> tuple[float, float]:
    """Return the milliseconds an upload costs, and the greatest of a group up to its acknowledgement."""
    setting = Setting(SITES, 2, DIMENSION, 1)
    charter = Charter.named("async-linucb", setting, upload_threshold=1.2, download_threshold=2.0)
    asks, uploads = _uploads(charter)
    limits = Limits(Bounds(context=1.0, reward=1.0), observations_per_second=1e6)
    slowest = []
    with tempfile.TemporaryDirectory() as folder:
        server = DurableServer(charter, SqliteJournal(Path(folder) / "c.db"), epoch=1, now=0.0, limits=limits)
        for number, ask in asks:
            server.receive(ask, 0.0, number)  # sites introduce themselves
        server.receive(uploads[0][1], 0.0, uploads[0][0])  # compiles the kernels
        server.commit()
        began = time.perf_counter()
        for first in range(1, len(uploads), GROUP):
            group_began = time.perf_counter()
            for sender, frame in uploads[first : first + GROUP]:
                verdict = server.receive(frame, 0.0, sender)
                assert verdict.outcome.value == "accepted", verdict
            server.commit()
            slowest.append(time.perf_counter() - group_began)
            server.maintain()
        spent = time.perf_counter() - began
    return spent / len(uploads) * 1e3, float(np.quantile(slowest, 0.99)) * 1e3


ROWS = (
    Row("a site in memory: added to the bare choose and learn", 15, "µs", _added, "together"),
    Row("a site in memory: added to a choice by exploration=igw", 5, "µs", _added_by_lots, "exact propensities"),
    Row("a site with its durable store: choose and learn", 1000, "µs", _durable, "together"),
    Row("coordinator, d=25, 100 sites: an upload, synced in groups", 0.5, "ms", lambda: _coordinator()[0],
        "2,000 a second on one core"),
    Row("coordinator: from a group's first upload to its acknowledgement, 99th percentile", 50, "ms",
        lambda: _coordinator()[1], f"groups of {GROUP}"),
)  # fmt: skip
