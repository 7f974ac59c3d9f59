"""Coordinators to send frames to."""

from fedbandit.durable.coordinator.server import DurableServer
from fedbandit.durable.journals.journal import MemoryJournal
from samples.bad_frames import LIMITS, charter, introduction


def coordinator(limits=LIMITS, of=None):
    """A coordinator that all sites have asked."""
    of = of or charter()
    server = DurableServer(of, MemoryJournal(), epoch=1, now=0.0, limits=limits, random_below=lambda _: 0)
    for site in range(of.setting.clients):
        server.receive(introduction(site, of).to_bytes(), now=0.0, sender=site)
    server.commit()
    return server
