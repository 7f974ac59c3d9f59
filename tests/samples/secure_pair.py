"""Durable nodes of a federation whose sums are aggregated securely, joined by hand."""

from __future__ import annotations

from fedbandit.secure.gathering import UNMASK
from fedbandit.secure.messages import Masked
from fedbandit.wire import decode
from fedbandit.wire.frame import Frame, Kind
from samples import pair
from samples.purses import KeyedIdentity

SITES = 4
PLAIN = pair.charter("sync-linucb", SITES, sync_threshold=1.0)
SECURE = pair.charter("sync-linucb", SITES, sync_threshold=1.0, smallest_cohort=3)


def open_site(number, journal=None, **more):
    site = pair.open_site(SECURE, number, journal, **more)
    site.identity = KeyedIdentity(number)
    return site


def uploads(frames, kind):
    read = [Frame.from_bytes(each) for each in frames]
    return [decode(each.body) for each in read if each.kind is Kind.UPLOAD and isinstance(decode(each.body), kind)]


def until(server, sites, kind):
    """Carry frames until the first site is about to send a message of a kind; return what all are about to send."""
    for seed in range(SITES):
        pair.turn(sites[seed], seed)
    for _ in range(20):
        frames = [site.commit() for site in sites]
        if uploads(frames[0], kind):
            return frames
        pair.to_server(server, [frame for some in frames for frame in some])
        pair.to_sites(sites, server.commit())
    raise AssertionError("nobody sends that")


def stuck(journal=None):
    """A coordinator whose last step waits for two sites that are gone, and the two that have answered."""
    server = pair.open_server(SECURE, journal)
    sites = [open_site(number) for number in range(SITES)]
    pair.to_server(server, [frame for some in until(server, sites, Masked) for frame in some])
    pair.to_sites(sites, [each for each in server.commit() if each[0] < 2])
    pair.to_server(server, [frame for site in sites[:2] for frame in site.commit()])
    server.commit()
    assert server.node.state.gathering.stage == UNMASK
    return server, sites
