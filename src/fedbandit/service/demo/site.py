"""One site of `fedbandit up`, as a process: `python -m fedbandit.service.demo.site FOLDER NUMBER BROKER`.

It does what an application does that embeds a site: offer arms, act on the decision, and tell the reward when it is
known, which here is after a while and out of order.
"""

from __future__ import annotations

import heapq
import itertools
import random
import signal
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from fedbandit.core.arrays import Floats
from fedbandit.core.environment import Environment
from fedbandit.core.turns import Turns
from fedbandit.durable.coordinator.server import DurableServer
from fedbandit.durable.journals.journal import MemoryJournal
from fedbandit.service.coordinator.logs import log_to_stderr
from fedbandit.service.demo.worlds import NAME, Demo
from fedbandit.site.decision import Decision
from fedbandit.site.site import Site

BLOCK = 512
ENDLESS = 10**12  # turns, of worlds that make them up
MOST_NAMED = 64  # arms that get a name, where the same ones come again and again
EXCHANGE_SECONDS = 2.0
REHEARSED = 10  # turns of each site


def own_turns(world: Environment, number: int, seed: int) -> Iterator[Turns]:
    """Yield the turns of one site, one by one: for ever, or until a world of recorded turns is at its end."""
    count = world.setting().horizon if world.fingerprint() else ENDLESS  # turns from files come to an end
    for block in world.turns(count, seed, BLOCK):
        for turn in np.flatnonzero(block.client == number).tolist():
            yield block.take(slice(turn, turn + 1))


class ArmNames:
    """Names for arms that are known by their features, the same at every site; or by their place in the offer.

    >>> from fedbandit.environments.linear import Linear
    >>> names = ArmNames(next(Linear(clients=1, arms=2, dimension=3, pool=2).turns(10, 0, 10)))
    >>> sorted(names.of(np.zeros((2, 3))))
    ['arm 0', 'arm 1']
    """

    def __init__(self, first: Turns) -> None:
        """Take the first turns of the world, of all sites."""
        self._known: dict[bytes, str] = {}
        if first.features.ndim == 3:
            rows = first.features.reshape(-1, first.features.shape[-1])
            for row in rows:
                self._known.setdefault(row.tobytes(), f"arm {len(self._known)}")
        if len(self._known) > MOST_NAMED:
            self._known.clear()

    def of(self, features: Floats, arms: int = 0) -> list[str]:
        """Return a name for each arm of an offer."""
        if features.ndim == 1:
            return [f"arm {place}" for place in range(arms)]
        names = [self._known.get(row.tobytes(), "") for row in features]
        return names if all(names) else [f"arm {place}" for place in range(len(features))]


class Player:
    """Plays the turns of one site at its pace, until it is stopped."""

    def __init__(self, demo: Demo, site: Site, number: int) -> None:
        """Take the demo and the opened site."""
        self._site = site
        self._demo = demo
        self._lots = random.Random(f"{demo.seed} {number}")
        self._arms = demo.charter.setting.arms
        count = min(BLOCK, demo.world.setting().horizon)
        self._names = ArmNames(next(demo.world.turns(count, demo.seed, count)))
        made = site.node.issued  # in earlier lives of a folder that is used again
        self._turns = itertools.islice(own_turns(demo.world, number, demo.seed), made, None)
        self._rewards: list[tuple[float, str, float]] = []  # by the time at which they are known

    def play(self, stop: threading.Event) -> None:
        """Decide at the demo's rate, and learn what has become known."""
        due = time.monotonic() + self._lots.random() / self._demo.rate  # so that sites do not act in step
        while not stop.wait(max(0.0, due - time.monotonic())):
            now = time.monotonic()
            while self._rewards and self._rewards[0][0] <= now:
                _, decision, reward = heapq.heappop(self._rewards)
                self._site.learn(decision, reward)
            turn = next(self._turns, None)
            if turn is not None:
                self._decide(turn, now)
            elif not self._rewards:
                stop.wait()  # all recorded turns are played; the site stays to be heard of
            due = max(due + 1.0 / self._demo.rate, now)

    def _decide(self, turn: Turns, now: float) -> None:
        names = self._names.of(turn.features[0], self._arms)
        decision = self._site.choose(turn.features[0], ids=names)
        reward = turn.outcomes.feedback(slice(None), _choice(decision, names))
        heapq.heappush(self._rewards, (now + self._lots.uniform(0.0, self._demo.delay), decision.id, float(reward[0])))


def _choice(decision: Decision, names: list[str]) -> np.ndarray[tuple[int, ...], np.dtype[np.int64]]:
    arm = decision.arm
    return np.array([[names.index(each) for each in arm] if isinstance(arm, tuple) else names.index(arm)])


def rehearse(demo: Demo) -> None:
    """Play a few turns with everything in this process: what is not compiled yet is, once and not in every process."""
    server = DurableServer(demo.charter, MemoryJournal(), epoch=1, now=0.0)
    sites = [_site(demo, number) for number in range(demo.sites)]
    count = min(REHEARSED * demo.sites, demo.world.setting().horizon)
    block = next(demo.world.turns(count, demo.seed, count))
    for turn, client in enumerate(block.client.tolist()):
        sites[client].learn(sites[client].choose(block.features[turn]), 0.0)
        server.tick(demo.charter.epoch_at(time.time()), 0.0)
        while frames := [frame for site in sites for frame in site.news()]:
            for frame in frames:
                server.receive(frame, 0.0)
            for number, answer in server.commit():
                sites[number].hear(answer)


def _site(demo: Demo, number: int, **more: Any) -> Site:
    size = demo.charter.setting
    return Site(
        demo.charter.algorithm, dimension=size.dimension, arms=size.arms, clients=size.clients, horizon=size.horizon,
        number=number, seed=demo.seed, epoch_seconds=demo.charter.epoch_seconds, **more,
    )  # fmt: skip


def main(folder: Path, number: int, broker: str) -> None:
    """Play until SIGTERM."""
    log_to_stderr()
    demo = Demo.read(folder)
    stop = threading.Event()
    for each in (signal.SIGTERM, signal.SIGINT):
        signal.signal(each, lambda *_: stop.set())
    with _site(demo, number, store=folder / f"site-{number}.db", report=True) as site:
        site.connect(f"{broker}/{NAME}", every=EXCHANGE_SECONDS)
        Player(demo, site, number).play(stop)


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]), sys.argv[3])
