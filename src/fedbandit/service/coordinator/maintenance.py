"""What is seen to now and then, and waits for disks: snapshots, notes, whether the journal can still be believed."""

from __future__ import annotations

from fedbandit.core.errors import InvalidInput
from fedbandit.durable.journals.journal import Journal
from fedbandit.durable.journals.lease import JournalLost
from fedbandit.durable.server import DurableServer
from fedbandit.service.status.telemetry import Telemetry


def maintain(server: DurableServer, journal: Journal, telemetry: Telemetry, note: bytes) -> str:
    """Take a snapshot if one is due, and keep a note; return what is wrong with the journal, if anything is."""
    if note:
        journal.note(note)
    server.maintain()
    telemetry.journal_bytes = journal.size()
    try:
        journal.verify()
    except JournalLost:
        raise
    except InvalidInput as error:
        return str(error)
    return ""
