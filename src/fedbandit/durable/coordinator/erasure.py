"""A site is forgotten: the journal of a coordinator becomes one to which the site has never sent anything.

Subtracting what a site has sent from floating-point sums would leave traces of it in nearly every number. So the whole
log is gone through again without the site's frames, and what comes out is what the coordinator knows from now on, bit
for bit. In the log each of the frames is replaced by a digest of it; the snapshot and what was to be sent, which hold
sums with the site in them, are made anew. All of it is one transaction.

From then on the site is barred. All others are sent what there is without it, in a new epoch of downloads, in place of
what they were sent before.
"""

from __future__ import annotations

import hashlib
import secrets
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from fedbandit.core.erasing import CountsOn, TellsAnew
from fedbandit.core.errors import InvalidInput, ProtocolError
from fedbandit.durable.coordinator.record import RecordKind, ServerRecord, forgot
from fedbandit.durable.coordinator.renewal import drawn_epoch
from fedbandit.durable.coordinator.snapshots import SnapshotServer
from fedbandit.durable.journals.journal import Entry, Journal, MemoryJournal
from fedbandit.protocol.charter import Charter
from fedbandit.wire.digests import DIGEST_BYTES
from fedbandit.wire.frame import Frame, Kind
from fedbandit.wire.state import encode_state

SALT_BYTES = 32

Number = tuple[int, int]  # an epoch, and a number in it


@dataclass(frozen=True)
class Erased:
    """What was found of a site, and what the state was and is: what a receipt tells."""

    site: int
    uploads: int
    observations: int
    first: Number | None  # upload
    last: Number | None
    digest: str  # of the salt and all records with frames of the site, in the order of the log
    state_before: str  # digest of all arrays
    state_after: str
    version_before: Number  # of the newest download
    version_after: Number
    restarted: bool  # the model began anew, since the others had moved it together with the site


@dataclass(frozen=True)
class Erasure:
    """What is to be written to a journal so that a site is forgotten."""

    erased: Erased
    replaced: Sequence[Entry]
    added: Sequence[bytes]
    snapshot: bytes

    def write(self, journal: Journal) -> None:
        """Write it, at once; what the status page has told goes too, since the site is in its sums."""
        for record in self.added:
            journal.append(record)
        journal.save(self.snapshot, replaced=self.replaced)
        journal.note(b"")
        journal.compact()


def erasure_of(
    charter: Charter,
    journal: Journal,
    site: int,
    *,
    salt: bytes,
    now: float,
    random_below: Callable[[int], int] = secrets.randbelow,
) -> Erasure | None:
    """Return how a journal that has kept its log forgets a site; None if it has done so before. Nothing is changed."""
    log = list(journal.records())
    _require_whole(log)
    before = _gone_through(charter, log, now)
    _require_possible(before, site)
    if site in before.accounts.forgotten:
        return None
    found = [entry for entry in log if _sender(entry) == site]
    replaced = {entry.position: _tombstone(entry, salt) for entry in found}
    told = sorted({*before.accounts.epochs, *before.postbox.latest} - {site})
    epoch = drawn_epoch(before.node.epoch + 1, now, random_below)
    number = before.side.numbered(before.node.state) if isinstance(before.side, CountsOn) else None
    record = forgot(now, site, epoch, told, number)
    rewritten = [replaced.get(entry.position, entry) for entry in log]
    after = _gone_through(charter, [*rewritten, Entry(len(log) + 1, record.to_bytes())], now)
    added = [entry.data for entry in after.journal.records(len(log))]
    after.save()
    snapshot = after.journal.snapshot()
    assert snapshot is not None  # it was taken just now
    numbers = sorted((frame.epoch, frame.sequence) for frame in _uploads(found))
    erased = Erased(
        site, len(numbers), before.accounts.observations.get(site, 0),
        numbers[0] if numbers else None, numbers[-1] if numbers else None,
        hashlib.sha256(salt + b"".join(entry.data for entry in found)).hexdigest(), _digest(before), _digest(after),
        (before.node.epoch, before.node.sent), (after.node.epoch, after.node.sent),
        after.side.begins_anew,
    )  # fmt: skip
    return Erasure(erased, list(replaced.values()), added, snapshot.data)


def _gone_through(charter: Charter, log: Sequence[Entry], now: float) -> SnapshotServer:
    """Return a coordinator that has gone through a log, in memory; its own opening is one more record."""
    journal = MemoryJournal.holding(None, (), log)
    return SnapshotServer(charter, journal, epoch=1, now=now, random_below=lambda _: 0)


def _require_whole(log: Sequence[Entry]) -> None:
    is_whole = [entry.position for entry in log] == list(range(1, len(log) + 1))
    if not log or not is_whole or ServerRecord.from_bytes(log[0].data).what is not RecordKind.BEGAN:
        raise InvalidInput(
            "the journal has not kept its log from the beginning, and what one site has sent cannot be taken out of "
            "sums: only a federation with keep_log = true since its first day can forget a site"
        )


def _require_possible(server: SnapshotServer, site: int) -> None:
    clients, algorithm = server.charter.setting.clients, server.charter.algorithm.id
    if not 0 <= site < clients:
        raise InvalidInput(f"there is no site {site} in this federation: give a number from 0 to {clients - 1}")
    if server.charter.smallest_cohort is not None:
        raise InvalidInput(
            "with secure_aggregation the coordinator has no part of one site, and can take none out: begin a new "
            "federation without the site"
        )
    if not isinstance(server.side, TellsAnew):
        raise InvalidInput(
            f"{algorithm} cannot forget a site: what it has told of each site rests on all; begin a new federation "
            "without the site"
        )


def _sender(entry: Entry) -> int | None:
    """Return the site whose frame a record holds, if it holds one."""
    record = ServerRecord.from_bytes(entry.data)
    if record.what not in (RecordKind.FRAME, RecordKind.ASIDE):
        return None
    try:
        return Frame.from_bytes(record.data[DIGEST_BYTES if record.what is RecordKind.ASIDE else 0 :]).client
    except ProtocolError:  # it was put aside, for good reason
        return None


def _tombstone(entry: Entry, salt: bytes) -> Entry:
    time = ServerRecord.from_bytes(entry.data).time
    digest = hashlib.sha256(salt + entry.data).digest()
    return Entry(entry.position, ServerRecord(RecordKind.ERASED, time, digest).to_bytes())


def _uploads(found: Sequence[Entry]) -> list[Frame]:
    records = [ServerRecord.from_bytes(entry.data) for entry in found]
    frames = [Frame.from_bytes(record.data) for record in records if record.what is RecordKind.FRAME]
    return [frame for frame in frames if frame.kind is Kind.UPLOAD]


def _digest(server: SnapshotServer) -> str:
    return hashlib.sha256(encode_state(server.node.state)).hexdigest()
