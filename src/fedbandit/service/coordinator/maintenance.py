"""What is seen to now and then, and waits for disks: snapshots, notes, whether the journal can still be believed."""

from __future__ import annotations

import asyncio
import math
import time
from collections.abc import Iterator

from fedbandit.core.errors import InvalidInput
from fedbandit.durable.coordinator.server import DurableServer
from fedbandit.durable.journals.journal import Journal
from fedbandit.durable.journals.lease import JournalLost
from fedbandit.service.coordinator.telling import Telling

MEASURE_SECONDS = 10.0
NOTE_SECONDS = 60.0  # between two notes of what the status page tells
SHARE = 100  # of the time goes into snapshots at most one part in so many: acknowledgements wait for them
OVERDUE = 5.0  # times the records after which one is due, it is taken in any case: whoever starts reads them all


class SnapshotPace:
    """When a snapshot is taken: once it is due, but not so soon after the last that sites would notice.

    >>> pace = SnapshotPace()
    >>> pace.allows(age=1.0, now=5.0)
    True
    >>> pace.took(seconds=0.25, now=5.25)
    >>> [pace.allows(age, now) for age, now in ((1.0, 20.0), (1.0, 31.0), (5.0, 20.0))]
    [False, True, True]
    """

    def __init__(self) -> None:
        """Begin before the first."""
        self._not_before = -math.inf

    def allows(self, age: float, now: float) -> bool:
        """Tell whether one is taken, by the age of the last: see `DurableServer.snapshot_age`."""
        return age >= OVERDUE or (age >= 1.0 and now >= self._not_before)

    def took(self, seconds: float, now: float) -> None:
        """Note how long one has taken, without what was done between its steps."""
        self._not_before = now + SHARE * seconds


class Maintenance:
    """Sees to one federation."""

    def __init__(self, server: DurableServer, journal: Journal, telling: Telling) -> None:
        """Take the server, its journal, and what is told of it."""
        self._server, self._journal, self._telling = server, journal, telling
        self._pace = SnapshotPace()
        self._measured, self._noted = -MEASURE_SECONDS, time.monotonic()
        self._storing: Iterator[None] | None = None  # the steps that are left of a snapshot
        self._spent = 0.0  # seconds, on that snapshot

    def is_due(self, elapsed: float) -> bool:
        """Tell whether there is something to see to."""
        return elapsed > self._measured + MEASURE_SECONDS

    def take_snapshot(self, elapsed: float) -> None:
        """Take a snapshot, if one is due, as of what was sealed; it is stored little by little (`go_on`)."""
        if self._storing is None and self._pace.allows(self._server.snapshot_age, elapsed):
            began = time.monotonic()
            self._storing = self._server.storing(self._server.take_snapshot())
            self._spent = time.monotonic() - began

    @property
    def is_storing(self) -> bool:
        """Tell whether something is left of a snapshot that is to be stored."""
        return self._storing is not None

    async def go_on(self) -> None:
        """Do the next step of storing a snapshot, if there is one, and what the journal has put off, if anything."""
        if self._storing is not None:
            began = time.monotonic()
            is_over = await asyncio.to_thread(next, self._storing, True)
            self._spent += time.monotonic() - began
            if is_over:
                self._storing = None
                self._pace.took(self._spent, time.monotonic())
        if self._journal.is_untidy:
            await asyncio.to_thread(self._server.tidy)

    async def make(self, now: float, elapsed: float) -> str:
        """See to it, while nothing else is done with the server; return what is wrong with the journal, if anything."""
        self._measured = elapsed
        self._server.look_at_sums(now)
        note = b""
        if elapsed > self._noted + NOTE_SECONDS:
            self._noted, note = elapsed, self._telling.note()
        return await asyncio.to_thread(self._see_to, note)

    def _see_to(self, note: bytes) -> str:
        if note:
            self._journal.note(note)
        self._telling.telemetry.journal_bytes = self._journal.size()
        try:
            self._journal.verify()
        except JournalLost:
            raise
        except InvalidInput as error:
            return str(error)
        return ""
