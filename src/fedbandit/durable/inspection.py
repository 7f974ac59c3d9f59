"""A journal looked at and not touched: what is wrong with it, and what is in it, found by going through it all."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

from fedbandit.core.errors import FedbanditError, ProtocolError
from fedbandit.durable.coordinator.journalled import JournalledServer
from fedbandit.durable.coordinator.record import ServerRecord, charter_in
from fedbandit.durable.coordinator.roster import Roster
from fedbandit.durable.journals.journal import MemoryJournal
from fedbandit.durable.journals.reading import Rows
from fedbandit.durable.site.journalled import JournalledSite
from fedbandit.files.amounts import counted
from fedbandit.protocol.charter import Charter
from fedbandit.protocol.revisions import Agreed
from fedbandit.wire.state import field_of, writer_of


@dataclass
class Findings:
    """What was found: some lines for a person, and what is wrong, a sentence each."""

    lines: list[str] = field(default_factory=list)
    faults: list[str] = field(default_factory=list)


def inspect(rows: Rows) -> Findings:
    """Check every record of a journal, and let a fresh node go through them, in memory."""
    found = Findings(faults=list(rows.faults()))
    if found.faults:
        return found
    snapshot = rows.snapshot()
    position = snapshot.position if snapshot else 0
    records = list(rows.records(position))
    first = snapshot.data if snapshot else records[0].data if records else b""
    if not first:
        found.lines.append("nothing was ever written to it")
        return found
    journal = MemoryJournal.holding(snapshot, rows.kept(), records)
    try:
        found.lines += _content(first, journal, is_old=bool(snapshot))
    except (FedbanditError, KeyError, TypeError, ValueError, AttributeError) as error:
        found.faults.append(f"its records are whole, but cannot be gone through: {error}")
    if snapshot is None:
        found.lines.append(f"{counted(len(records), 'record')}, and no snapshot")
    else:
        count = counted(len(records), "record")
        found.lines.append(f"a snapshot after record {position}, and {count} after it up to {rows.last()}")
    found.lines.append(_written_by(rows, first))
    return found


def _content(first: bytes, journal: MemoryJournal, *, is_old: bool) -> list[str]:
    if first.startswith((b"{", b"[")):  # rosters are JSON
        return _of_roster(journal)
    is_site = first.startswith(b"FS") and field_of(first, "number") is not None
    return _of_site(first, journal) if is_site else _of_coordinator(first, journal, is_old=is_old)


def _written_by(rows: Rows, first: bytes) -> str:
    """Return which versions wrote what; before checksums, only snapshots and the records of sites might tell."""
    writers = rows.writers()
    spans = [f"{version} from record {position} on" for position, version in writers.items()]
    if min(writers, default=2) > 1:
        spans.insert(0, writer_of(first) if not writers and first.startswith(b"FS") else "0.1")
    return f"written by fedbandit {', '.join(spans)}"


def _of_coordinator(first: bytes, journal: MemoryJournal, *, is_old: bool) -> list[str]:
    text = str(field_of(first, "charter")) if is_old else charter_in(ServerRecord.from_bytes(first))
    charter = Charter.from_text(text)
    server = JournalledServer(charter, journal, epoch=1, now=0.0)
    uploads = sum(window.up_to + len(window.early) for window in server.node.seen.windows.values())
    observations = server.accounts.observations
    return [
        f"a coordinator's journal: {_told(server.agreed)}",
        f"{counted(uploads, 'upload')} of {counted(len(observations), 'site')}, with "
        f"{counted(sum(observations.values()), 'observation')}; {counted(server.node.sent, 'download')}",
    ]


def _of_site(first: bytes, journal: MemoryJournal) -> list[str]:
    charter, number = Charter.from_text(str(field_of(first, "charter"))), field_of(first, "number")
    if not isinstance(number, int):
        raise ProtocolError(f"a site has the number {number!r}")
    site = JournalledSite(charter, number, fresh=1, journal=journal)
    return [
        f"the store of site {number}: {_told(site.life.agreed)}",
        f"{counted(site.issued, 'decision')}, {site.pending} pending; {counted(site.unsent, 'upload')} unsent, "
        f"{site.refusals} refused; download {site.version}",
    ]


def _of_roster(journal: MemoryJournal) -> list[str]:
    standings = Counter(each.standing.value for each in Roster("", 0, journal).members.values())
    many = ", ".join(f"{count} {standing}" for standing, count in sorted(standings.items()))
    return [f"a coordinator's roster: {counted(standings.total(), 'name')}: {many}"]


def _told(agreed: Agreed) -> str:
    sizes, revised = agreed.charter.setting, f", {counted(agreed.count, 'revision')}" if agreed.count else ""
    return f"{agreed.charter.algorithm.id}, {counted(sizes.clients, 'site')}, dimension {sizes.dimension}{revised}"
