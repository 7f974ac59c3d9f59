"""A frame that ends or hangs the coordinator must not do so at every start.

Each opening leaves a record. When several openings in a row have come to an end before much was taken in, something
may be wrong with what comes first at each of them, and the coordinator becomes careful: before it tries a frame it
writes its digest to the journal and waits for the disk. A frame that was being tried several times when the coordinator
ended is put aside: kept in the journal, refused for good and told to the operator. When enough was taken in, all is as
before.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from fedbandit.core.seconds import DAY
from fedbandit.durable.coordinator.concerns import Concerns
from fedbandit.durable.coordinator.record import RecordKind, ServerRecord
from fedbandit.durable.journals.journal import Entry
from fedbandit.wire.digests import DIGEST_BYTES, digest
from fedbandit.wire.frame import Frame, Kind

OPENINGS = 3  # in a row that came to nothing, before the coordinator is careful
TRIES = 3  # of a frame, before it is put aside
ENOUGH = 100  # records of what was taken in, after which an opening has come to something


def tell_of_aside(concerns: Concerns, frame: bytes, now: float) -> None:
    """Tell of a frame that is put aside; for a day, if it does not come again."""
    read = Frame.from_bytes(frame)
    client = read.client
    text = (
        f"a frame of site {client} has stopped the coordinator {TRIES} times and is put aside: it is kept in the "
        "journal; report it, and look at what this site sends"
    )
    if read.kind is Kind.ASK:  # which it repeats until something changes, and without an answer it sends in vain
        text += "; it is a question, so start the site again: it then asks another one"
    concerns.note("frame-put-aside", text, now, client, lasts=DAY)


def tell_of_kept(concerns: Concerns, kept: Iterable[Entry]) -> None:
    """Tell of all frames among kept records that were put aside: whoever did that may have ended before it was told."""
    for record in (ServerRecord.from_bytes(entry.data) for entry in kept):
        if record.what is RecordKind.ASIDE:
            tell_of_aside(concerns, record.data[DIGEST_BYTES:], record.time)


class CrashGuard:
    """What the journal tells of openings and tries.

    >>> guard = CrashGuard()
    >>> for _ in range(OPENINGS + 1):
    ...     guard.take_in(ServerRecord(RecordKind.OPENED, 0.0))
    >>> guard.is_on
    True
    """

    def __init__(self) -> None:
        """Begin without a worry."""
        self.openings = 0
        self._taken_in = 0
        self._tried, self._tried_at = b"", 0.0
        self._failures: Counter[bytes] = Counter()

    @property
    def is_on(self) -> bool:
        """Tell whether frames are to be taken in one at a time."""
        return self.openings > OPENINGS

    def take_in(self, record: ServerRecord) -> None:
        """Note a record of the journal, now or in recovery."""
        if record.what in (RecordKind.BEGAN, RecordKind.OPENED):
            if self._tried:
                self._failures[self._tried] += 1
            self._tried, self._taken_in = b"", 0
            self.openings += 1
        elif record.what is RecordKind.TRIED:
            self._tried, self._tried_at = record.data, record.time
        else:
            self._taken_in += 1
            if self._taken_in >= ENOUGH:
                self.openings = 0
                self._failures.clear()

    def before(self, data: bytes, now: float) -> ServerRecord:
        """Return what is to be written and synced before a frame is tried, or that it is to be put aside."""
        name = digest(data)
        if self._failures[name] >= TRIES:
            return ServerRecord(RecordKind.ASIDE, now, name + data)
        return ServerRecord(RecordKind.TRIED, now, name)

    def after(self) -> ServerRecord | None:
        """Return what says that the frame that was tried last did no harm, if it is not said yet."""
        return ServerRecord(RecordKind.TRIED, self._tried_at) if self._tried else None
