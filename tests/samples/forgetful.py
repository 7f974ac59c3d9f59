"""Federations that keep their log, of which a site is forgotten."""

from __future__ import annotations

import numpy as np
import pytest

from fedbandit.core.algorithm import Setting
from fedbandit.durable.coordinator.erasure import SALT_BYTES, erasure_of
from fedbandit.durable.coordinator.record import RecordKind, ServerRecord
from fedbandit.durable.journals.journal import MemoryJournal
from fedbandit.protocol.charter import Charter
from fedbandit.wire.frame import Frame
from samples import pair

SITES, GONE = 3, 1
SALT = bytes(range(SALT_BYTES))
CAN = {
    "async-linucb": {"upload_threshold": 1.0, "download_threshold": 1.0},
    "async-linucb, rarely": {"upload_threshold": 1.3, "download_threshold": 1.5},
    "async-linucb-am": {"upload_threshold": 1.0, "download_threshold": 1.0},
    "fedlinucb": {"upload_threshold": 1.1},
    "sync-linucb": {"sync_threshold": 1.0},
    "lean-linucb": {"precision": "float64", "upload_threshold": 1.0, "download_threshold": 1.0},
    "lean-linucb, as it is": {},
    "lean-linucb, answered": {"precision": "float64", "upload_threshold": 1.0, "delivery": "upload"},
}
OTHERS = {  # are not of the linear family
    "fedego-lasso, often": {"unit": 1},
    "private-linucb": {"epsilon": 4.0, "batch": 2, "context_bound": 2.0},
    "private-linucb, by own count": {"epsilon": 4.0, "batch": 2, "context_bound": 2.0, "schedule": "own-count"},
    "fedglb-ucb": {"sync_threshold": 0.1},
    "fedglb-ucb-1": {"rounds_of_update": 20},
    "fedglb-ucb-3": {"rounds_of_update": 20},
    "fldb-gd": {},
    "fldb-ogd": {"period": 2},
    "fn-ucb-less": {"width": 2, "train_steps": 2, "sync_threshold": 0.1, "device": "cpu"},
}
WORLDS = pytest.mark.parametrize("world", CAN)


def charter_of(world):
    return Charter.named(
        world.partition(",")[0], Setting(SITES, pair.ARMS, pair.DIMENSION, 100), **(CAN | OTHERS)[world]
    )


class Federation:
    """A coordinator that keeps its log, and sites that have learnt, one after the other."""

    def __init__(self, world="async-linucb", journal=None, play=range(12)):
        self.charter = charter_of(world)
        self.journal = MemoryJournal(keep_log=True) if journal is None else journal
        self.server = pair.open_server(self.charter, self.journal)
        self.sites = [pair.open_site(self.charter, number) for number in range(SITES)]
        self.duels = [[] for _ in range(SITES)]
        self.play(play)

    def play(self, seeds, sites=range(SITES)):
        for seed in seeds:
            for number in sites:
                self.turn(number, SITES * seed + number)
                pair.exchange(self.server, self.sites)

    def turn(self, number, seed):
        """One decision and its reward, or its duel, of arms, or of a case that all arms share."""
        offer, site, kind = pair.offer(seed), self.sites[number], self.charter.algorithm
        if kind.duels:
            offer = np.stack([offer[:, 0], np.roll(offer[:, 0], 1, axis=1) / 2], axis=1)
        name, decided = site.choose(offer[:, 0] if kind.id == "fedego-lasso" else offer, pair.NO_LOTS)
        site.learn(name, 1.0 if kind.duels else 0.5)
        if kind.duels:
            first, second = offer[0, decided.choices.ravel()]
            self.duels[number].append(first - second)

    def forget(self, site=GONE):
        """Stop the coordinator, forget a site, and start it again."""
        self.server.save()
        erasure = erasure_of(self.charter, self.journal, site, salt=SALT, now=5.0)
        if erasure is not None:
            erasure.write(self.journal)
        self.start()
        return erasure

    def start(self):
        self.server = pair.open_server(self.charter, self.journal, now=6.0)

    @property
    def left(self):
        return [site for number, site in enumerate(self.sites) if number not in self.server.accounts.forgotten]


def without(log, site):
    """A log from which the frames of a site are missing."""
    return [entry for entry in log if not is_of(ServerRecord.from_bytes(entry.data), site)]


def is_of(record, site):
    return record.what is RecordKind.FRAME and Frame.from_bytes(record.data).client == site
