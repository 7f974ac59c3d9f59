"""How a site is opened: its store, and a number that no opening had before."""

from __future__ import annotations

import secrets
import time
from pathlib import Path

from fedbandit.durable.journals.sqlite import SqliteJournal
from fedbandit.durable.site.client import DurableClient
from fedbandit.durable.site.release_mark import MarkInFile
from fedbandit.protocol.charter import Charter


def fresh_number() -> int:
    """Return a number greater than those of earlier seconds, and different from all others of this one."""
    return int(time.time()) << 30 | secrets.randbits(30)


def opened(
    charter: Charter, number: int, *, store: str | Path | None, restored: bool, fresh: int | None
) -> DurableClient:
    """Return a site that goes on from its store; a store that is refused is left as it was, for others to open."""
    fresh = fresh_number() if fresh is None else fresh
    if store is None:
        return DurableClient(charter, number, fresh=fresh, restored=restored)
    journal = SqliteJournal(store, restored=restored)
    try:
        mark = MarkInFile.beside(store)
        return DurableClient(charter, number, fresh=fresh, journal=journal, restored=restored, mark=mark)
    except BaseException:
        journal.rollback()
        journal.close()
        raise
