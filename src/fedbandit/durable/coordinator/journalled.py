"""What a coordinator knows, and the journal from which it can be had again: records change it, now and in recovery.

Recovery is the snapshot and the records after it, taken in as they were before. A journal that raises (a full disk, a
lost database) leaves the node unusable: open it again. What was not acknowledged is sent again by the sites.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable

import numpy as np

from fedbandit.core.arrays import Ints
from fedbandit.durable.agreeing import require_had
from fedbandit.durable.coordinator.abandoning import AbandoningServer
from fedbandit.durable.coordinator.crash_guard import CrashGuard, tell_of_aside, tell_of_kept
from fedbandit.durable.coordinator.postbox import Postbox
from fedbandit.durable.coordinator.record import (
    Forgotten,
    RecordKind,
    Renewal,
    ServerRecord,
    began,
    epoch_in,
    forgotten_in,
    opened,
    renewal_in,
    revision_in,
    ticked,
)
from fedbandit.durable.coordinator.renewal import RENEWAL_SECONDS, drawn_epoch
from fedbandit.durable.coordinator.site_accounts import Accounts, CoordinatorMemory
from fedbandit.durable.coordinator.validation import Limits, observations_in
from fedbandit.durable.coordinator.writing import Writing
from fedbandit.durable.journals.journal import Journal
from fedbandit.protocol.charter import Charter
from fedbandit.protocol.envelope import Envelope
from fedbandit.protocol.ledger import Ledger
from fedbandit.protocol.server import ServerNode
from fedbandit.wire import decode
from fedbandit.wire.frame import Frame, Kind
from fedbandit.wire.state import decode_state


class JournalledServer(AbandoningServer):
    """A server node with accounts of its sites and a postbox, all of which a journal remembers."""

    def __init__(
        self,
        charter: Charter,
        journal: Journal,
        *,
        epoch: int,
        now: float,
        limits: Limits | None = None,
        snapshot_every: int = 10_000,
        random_below: Callable[[int], int] = secrets.randbelow,
    ) -> None:
        """Go on from the journal; an empty one begins with `epoch`, or a little later: the time in seconds will do.

        `random_below` draws a number from 0 up to the one that it is given, such as no site can foresee: see
        `durable.coordinator.renewal`.
        """
        super().__init__(charter, limits or Limits())
        self.journal = journal
        self.snapshot_every = snapshot_every
        self.random_below = random_below
        self.ledger = Ledger()  # of what this object has carried
        self._writing = Writing(journal)
        self._sync = self._writing.sync
        self._recover(epoch)
        self.has_renewed = self._is_new  # since it was started: only then may its journal have become an older one
        own = drawn_epoch(self.node.epoch, now, random_below)
        self._write(began(now, own, charter.text) if self._is_new else opened(now, own))
        self._sync()

    @property
    def backlogs(self) -> dict[int, int]:
        """Return, by site, how many uploads it had unacknowledged when it last asked."""
        return self.introductions.backlogs

    def peers(self) -> Ints | None:
        """Return with how many others each site shares now; None where all share with all."""
        return self.node.side.peers(self.node.state)

    @property
    def snapshot_age(self) -> float:
        """Return how old the last snapshot is, in records: a new one is due at 1."""
        return self._since_snapshot / self.snapshot_every

    def tick(self, epoch: int, now: float) -> None:
        """Hear which epoch it is, where the federation forgets; one that is not later changes nothing."""
        if self.node.clock is not None and epoch > self.clock:
            self._write(ticked(now, epoch))

    def _recover(self, epoch: int) -> None:
        self._agree_on(*self._begun_with())
        self.node = ServerNode(self.side, self.charter.setting.clients, epoch)
        self.node.know(self.agreed)
        self.accounts = Accounts(told={})
        self.clock = 0  # the epoch that it was last told, where the federation forgets; sites may be one ahead
        self.postbox = Postbox()
        self._guard = CrashGuard()
        self._touched: dict[tuple[int, int], int] = {}  # (site, epoch) to be acknowledged, with the mark of an ask
        self._asked: dict[int, tuple[int, int]] = {}  # by site: the last download that it has
        self._since_snapshot = 0
        snapshot = self.journal.snapshot()
        if snapshot is not None:
            self._recall(decode_state(snapshot.data, CoordinatorMemory, type(self.node.state)))
        self.postbox.old = self.accounts.old
        self._is_new = snapshot is None
        for entry in self.journal.records(snapshot.position if snapshot else 0):
            self._take_in(ServerRecord.from_bytes(entry.data))
            self._is_new = False
        require_had(self.agreed, self.given, "the journal", self.retuned.files)
        self.postbox.drop()  # a site that lacks something asks for it

    def _recall(self, memory: CoordinatorMemory) -> None:
        self.node.recall(memory.node)
        self.accounts, self.clock = memory.accounts, memory.clock
        self._agree_on(self.agreed, memory.retuned)
        self.postbox.recall(memory.latest)
        tell_of_kept(self.concerns, self.journal.kept() if self.accounts.aside else ())
        for client, epoch in [*self.node.seen.windows, *self.accounts.closed]:  # a snapshot of 0.1.0 lists them nowhere
            self.accounts.open(client).known.setdefault(epoch, None)

    def _write(self, record: ServerRecord, frame: Frame | None = None, upload: Envelope | None = None) -> None:
        self._append(record)
        self._take_in(record, frame, upload)

    def _append(self, record: ServerRecord, *, keep: bool = False) -> None:
        self._writing.append(record, keep=keep)

    def _undo_last(self, records: int = 1) -> None:
        """Forget the last records, of which the algorithm made nothing whole; what came just before them stays."""
        touched, asked, held = self._touched, self._asked, self.postbox
        with self._writing.alone():
            others = self._writing.rollback()
            self._recover(self.node.epoch)
        for record in others[:-records]:
            self._write(record)
        self._touched, self._asked = touched, asked
        self.postbox.hold_as(held)

    def _take_in(
        self, record: ServerRecord, frame: Frame | None = None, upload: Envelope | None = None
    ) -> list[Envelope]:
        """Change what the coordinator knows as a record says: now, with what was read from it, and in recovery.

        Return the downloads that follow from it, which are in the postbox.
        """
        downloads: list[Envelope] = []
        if record.what is RecordKind.FRAME:
            downloads = self._take_in_frame(frame or Frame.from_bytes(record.data), record.time, upload)
        elif record.what in (RecordKind.DEADLINE, RecordKind.ABANDONED, RecordKind.LIMITED):
            downloads = self._take_in_of_rounds(record)
        elif record.what in (RecordKind.BEGAN, RecordKind.OPENED) and record.data:  # without: the epoch is as it was
            self.node.epoch = epoch_in(record)
        elif record.what is RecordKind.RENEWED:
            self._renew(renewal_in(record), record.time)
        elif record.what is RecordKind.TICKED:
            self.clock = epoch_in(record)
            self.node.tick(self.clock)
        elif record.what is RecordKind.REVISED:
            self._take_up(revision_in(record))
        elif record.what is RecordKind.FORGOT:
            downloads = self._forget(forgotten_in(record))
        elif record.what is RecordKind.ASIDE:
            tell_of_aside(self.concerns, self.accounts.put_aside(record.data), record.time)
        self.postbox.post(downloads)
        self._guard.take_in(record)
        self._since_snapshot += 1
        return downloads

    def _take_in_frame(self, frame: Frame, time: float, upload: Envelope | None) -> list[Envelope]:
        client, seen = frame.client, self.node.seen
        self._note_layout(frame)
        if frame.kind is Kind.ASK:
            question = frame.question
            self._begin(client, question.epoch, time)
            seen.open(client, question.epoch).settle(question.settled)
            self.accounts.stranded.add(client)
            return []
        self._begin(client, frame.epoch, time)
        if frame.kind is Kind.UPLOAD:
            seen.open(client, frame.epoch).admit(frame.sequence)
            upload = upload or Envelope.of(frame, decode(frame.body))
            return self._merge(frame, upload, time)
        if frame.kind is Kind.VOID:
            seen.open(client, frame.epoch).admit(frame.sequence)
        else:
            for each in self.accounts.close(client, frame.epoch, frame.sequence, *frame.numbers):
                self._begin(client, each, time)
        return []

    def _merge(self, frame: Frame, upload: Envelope, time: float) -> list[Envelope]:
        new = observations_in(upload, self.accounts.observations.get(frame.client, 0))
        self.accounts.joined.setdefault(frame.client, time)
        self.accounts.book(frame, new, self.validation.excess_of(upload), is_question=upload.message.is_signal())
        return self.node.merge(upload)

    def _forget(self, gone: Forgotten) -> list[Envelope]:
        """Bar a site of which the records hold nothing any more, and tell all others what there is without it."""
        self.accounts.bar(gone.site)
        self.postbox.latest.pop(gone.site, None)
        return self.node.tell_anew(np.array(gone.told, dtype=np.int64), gone.epoch, gone.number)

    def _begin(self, client: int, epoch: int, time: float) -> None:
        """Note that a site uses an epoch; all that is known of one that is forgotten for it goes."""
        epochs = self.accounts.open(client)
        if epoch not in epochs.known:
            epochs.begun.spend(time, self.validation.limits.seconds_per_epoch)
        for each in epochs.use(epoch):
            self.node.seen.windows.pop((client, each), None)
            self.accounts.forget(client, each)

    def _note_layout(self, frame: Frame) -> None:
        if frame.is_old:
            self.accounts.old.add(frame.client)
        else:
            self.accounts.old.discard(frame.client)

    def _renew(self, renewal: Renewal, time: float) -> None:
        """Begin a new epoch of downloads. Who has answered in an open round is not asked once more."""
        epoch = renewal.epoch
        self.accounts.open(renewal.cause).renewals.spend(time, RENEWAL_SECONDS)
        awaited = set(self.awaited().tolist())
        left_alone = set(self.postbox.latest) - awaited if awaited else set()
        self.node.epoch, self.node.sent = epoch, self.postbox.renumber(epoch, left_alone)
