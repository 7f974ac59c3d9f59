"""A coordinator and its sites, joined by hand: frames go where the test carries them."""

from __future__ import annotations

import itertools

import numpy as np

from fedbandit.core.algorithm import Setting
from fedbandit.durable.coordinator.postbox import version
from fedbandit.durable.coordinator.server import DurableServer
from fedbandit.durable.journals.journal import MemoryJournal
from fedbandit.durable.site.client import DurableClient
from fedbandit.protocol.charter import Charter
from fedbandit.wire.frame import Frame, Kind, with_numbers

DIMENSION, ARMS = 3, 2
FRESH = itertools.count(100)
NO_LOTS = np.empty((1, 0))


def charter(name="async-linucb", sites=2, **parameters):
    if name == "async-linucb":
        parameters = {"upload_threshold": 1.0, "download_threshold": 1.0, **parameters}
    return Charter.named(name, Setting(sites, ARMS, DIMENSION, 100), **parameters)


def open_site(of, number=0, journal=None, **more):
    return DurableClient(of, number, fresh=next(FRESH), journal=journal, **more)


def open_server(of, journal=None, **more):
    """A coordinator that goes on in the epoch that it had, unless `random_below` draws another."""
    how = {"epoch": 1, "now": 0.0, "random_below": lambda _: 0} | more
    return DurableServer(of, MemoryJournal() if journal is None else journal, **how)


def offer(seed=0):
    """Arms that are all alike, so that it is known what a site learns; multiples of 1/16, so that sums are exact."""
    return np.repeat(np.random.default_rng(seed).integers(-16, 17, (1, 1, DIMENSION)) / 16, ARMS, axis=1)


def turn(site, seed=0, reward=0.5):
    """One decision and its reward."""
    name, _ = site.choose(offer(seed), NO_LOTS)
    site.learn(name, reward)
    return name


def introduce(server, frames):
    """Let whoever sends these uploads ask first, as a site does when it connects."""
    for frame in map(Frame.from_bytes, frames):
        if frame.kind is Kind.UPLOAD and frame.epoch not in server.accounts.look(frame.client).known:
            latest = server.postbox.latest.get(frame.client)
            known = (server.node.epoch, server.node.sent) if latest is None else version(latest[-1])
            ask = with_numbers(Kind.ASK, frame.client, *known, frame.epoch, 0, frame.epoch)
            server.receive(ask.to_bytes(), 0.0)


def to_server(server, frames, sender=None):
    introduce(server, frames)
    return [server.receive(frame, 0.0, sender).outcome.value for frame in frames]


def to_sites(sites, frames):
    for number, frame in frames:
        sites[number].receive(frame)


def exchange(server, sites):
    """Carry everything to and fro until all is quiet."""
    for _ in range(100):
        frames = [frame for site in sites for frame in site.commit()]
        to_server(server, frames)
        answers = server.commit()
        to_sites(sites, answers)
        if not frames and not answers:
            return
    raise AssertionError("the exchange does not end")


def asking(server, sites, rounds=3):
    """Let all sites ask, as they do every half minute, until all is quiet."""
    for _ in range(rounds):
        for site in sites:
            to_server(server, site.resend())
        to_sites(sites, server.commit())
        exchange(server, sites)


def copy_of(journal):
    copy = MemoryJournal()
    copy.fill_from(journal)
    return copy


def kinds(frames):
    return [Frame.from_bytes(frame if isinstance(frame, bytes) else frame[1]).kind.name for frame in frames]


def acknowledgements(frames):
    read = [Frame.from_bytes(frame) for _, frame in frames]
    return [(each.client, each.epoch, each.sequence) for each in read if each.kind is Kind.ACKNOWLEDGEMENT]
