"""A coordinator and its sites, joined by hand, whose charter changes."""

from __future__ import annotations

from fedbandit.durable.coordinator.retuning import Tuning
from fedbandit.durable.journals.journal import MemoryJournal
from fedbandit.protocol.changing import changed
from fedbandit.wire.state import encode_state
from samples.pair import asking, charter, open_server, open_site

NEVER = {"upload_threshold": 1e9}
EAGER = {"upload_threshold": 1.0, "smallest_upload": 1}


def revise(server, values=None, now=0.0, **beside):
    """Change some values of what the federation has agreed on."""
    retuned = server.retuned.with_values(beside, Tuning())
    server.revise(changed(server.charter, values or {}), retuned, now)


def federation(sites=2, of=None, **how):
    of = of or charter(sites=sites, upload_threshold=2.0, download_threshold=1.0)
    server = open_server(of, MemoryJournal(keep_log=True), **how)
    here = [open_site(of, number, MemoryJournal()) for number in range(of.setting.clients)]
    asking(server, here)
    return server, here


def state_of(node):
    return encode_state(node.life.node.state if hasattr(node, "life") else node.node.state)
