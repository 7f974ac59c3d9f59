"""Bugs that a protocol of this kind can have. Each is a node with one thing wrong; the fault simulation must see it."""

from __future__ import annotations

import copy
from dataclasses import dataclass, replace
from typing import ClassVar

from fedbandit.durable.client import DurableClient
from fedbandit.durable.outbox import Outbox
from fedbandit.durable.server import DurableServer
from fedbandit.durable.server_record import ServerRecord, What
from fedbandit.durable.site_accounts import CoordinatorMemory
from fedbandit.protocol.seen import Seen, Window
from fedbandit.wire.frame import Frame, Kind, with_numbers
from fedbandit.wire.state import encode_state


class ClearedBeforeTheAcknowledgement(DurableClient):
    def commit(self):
        frames = super().commit()
        self.life.outbox.frames = {key: data for key, data in self.life.outbox.frames.items() if data not in frames}
        return frames


class SentBeforeTheStoreIsSynced(DurableClient):
    def commit(self):
        return self.life.outbox.take_new(self.unchecked)


class SequenceReusedAfterARestoredBackup(DurableClient):
    def _open(self, life, event, position):
        super()._open(life, event, position)
        self.unchecked, self.is_closing = None, False


class OldBackupNotNoticed(DurableClient):
    """Only a restored backup that somebody tells of begins a new epoch."""

    def _compare(self, epoch, top, mark):
        super()._compare(epoch, 0, mark)


class StaleWordTaken(DurableClient):
    """An acknowledgement of another life counts as the coordinator's word on what it has."""

    def _compare(self, epoch, top, mark):
        super()._compare(epoch, top, self.life.decisions.life)


class RestoredSiteKeepsWhatIsCounted(DurableClient):
    def _go_on(self, *, begin_anew):
        super()._go_on(begin_anew=False)


class RestoredSiteForgetsWhatIsNotCounted(DurableClient):
    def _go_on(self, *, begin_anew):
        super()._go_on(begin_anew=True)


class OlderDownloadOverNewer(DurableClient):
    def receive(self, data):
        if Frame.from_bytes(data).kind is Kind.DOWNLOAD:
            self.life.node.received[:] = 0
        super().receive(data)


class AcknowledgementOfAnotherEpoch(DurableClient):
    def receive(self, data):
        frame = Frame.from_bytes(data)
        if frame.kind is Kind.ACKNOWLEDGEMENT:
            frame = replace(frame, epoch=self.life.node.epoch)
        super().receive(frame.to_bytes())


class RepeatedRewardCounted(DurableClient):
    def learn(self, decision, reward):
        pending = copy.copy(self.life.decisions.pending.get(decision))
        is_new = super().learn(decision, reward)
        if is_new:
            self.life.decisions.pending[decision] = pending
        return is_new


class NamesStartOver(DurableClient):
    def _open(self, life, event, position):
        super()._open(life, replace(event, fresh=1), position)
        life.decisions.life = 1
        life.decisions.issued.setdefault(1, 0)
        life.decisions.issued[1] = len(life.decisions.pending)


class SnapshotWithout(DurableClient):
    """A site whose snapshot lacks something."""

    lacks: ClassVar[dict] = {}

    def _memory(self):
        return replace(super()._memory(), **copy.deepcopy(self.lacks))


class OutboxNotPersisted(SnapshotWithout):
    lacks: ClassVar[dict] = {"outbox": Outbox()}


class NumbersNotPersisted(SnapshotWithout):
    lacks: ClassVar[dict] = {"sent": 0}


class DecisionsNotPersisted(SnapshotWithout):
    lacks: ClassVar[dict] = {"pending": {}}


class AcknowledgedBeforeTheJournalIsSynced(DurableServer):
    def commit(self):
        self.journal.sync, sync = (lambda: None), self.journal.sync
        frames = super().commit()
        self.journal.sync = sync
        return frames


class DownloadsLeaveUnsynced(DurableServer):
    """Only acknowledgements wait for the disk."""

    def commit(self):
        if self._touched:
            return super().commit()
        return self.postbox.take(self.ledger)


class MergedTwiceAfterARestart(DurableServer):
    def _recover(self, epoch):
        super()._recover(epoch)
        snapshot = self.journal.snapshot()
        for entry in self.journal.records(snapshot.position if snapshot else 0):
            record = ServerRecord.from_bytes(entry.data)
            if record.what is What.FRAME and Frame.from_bytes(record.data).kind is Kind.UPLOAD:
                self.node.seen, seen = Seen.nothing(self.charter.setting.clients), self.node.seen
                self._take_in(record)
                self.node.seen = seen


class SnapshotWithoutItsPosition(DurableServer):
    """What is stored as the state after the last record is the state as it was at the last commit."""

    def commit(self):
        frames = super().commit()
        self.at_commit = encode_state(
            CoordinatorMemory(self.charter.text, self.node.memory, self.accounts, self.postbox.memory())
        )
        return frames

    def save(self):
        self.journal.save(
            getattr(self, "at_commit", None)
            or encode_state(
                CoordinatorMemory(self.charter.text, self.node.memory, self.accounts, self.postbox.memory())
            )
        )


class WindowLostInTheSnapshot(DurableServer):
    def save(self):
        node = replace(self.node.memory, seen=Seen.nothing(self.charter.setting.clients))
        memory = CoordinatorMemory(self.charter.text, node, self.accounts, self.postbox.memory())
        self.journal.save(encode_state(memory))


class EarlyUploadsLostInTheSnapshot(DurableServer):
    def save(self):
        seen = copy.deepcopy(self.node.seen)
        for window in seen.windows.values():
            window.early.clear()
        memory = CoordinatorMemory(
            self.charter.text, replace(self.node.memory, seen=seen), self.accounts, self.postbox.memory()
        )
        self.journal.save(encode_state(memory))


class LatestDownloadsNotPersisted(DurableServer):
    def save(self):
        self.journal.save(encode_state(CoordinatorMemory(self.charter.text, self.node.memory, self.accounts, [])))


class HighestNumberAcknowledged(DurableServer):
    """Not the highest below which nothing is missing."""

    def commit(self):
        frames = []
        for site, data in super().commit():
            frame = Frame.from_bytes(data)
            if frame.kind is Kind.ACKNOWLEDGEMENT and frame.numbers[0] < 1 << 60:
                numbers = frame.numbers
                data = with_numbers(frame.kind, frame.client, frame.epoch, numbers[0], *numbers).to_bytes()
            frames.append((site, data))
        return frames


class DeadlineNotJournalled(DurableServer):
    def deadline(self, now):
        silent = self.node.awaited()
        if silent.size:
            self._take_in(ServerRecord(What.DEADLINE, now))
        return silent


class EpochsMixedUp(DurableServer):
    """An upload is known by the site and its number alone."""

    def receive(self, data, now, sender=None):
        for (client, _), window in list(self.node.seen.windows.items()):
            for epoch in {other for each, other in self.node.seen.windows if each == client}:
                self.node.seen.windows[client, epoch] = window
        frame = Frame.from_bytes(data)
        known = [w for (client, _), w in self.node.seen.windows.items() if client == frame.client]
        if known and frame.kind is Kind.UPLOAD:
            self.node.seen.windows[frame.client, frame.epoch] = known[0]
        return super().receive(data, now, sender)


class _Forgetful(Window):
    def has(self, number):
        return number <= self.top


class ReorderedUploadsDropped(DurableServer):
    def receive(self, data, now, sender=None):
        for window in self.node.seen.windows.values():
            window.__class__ = _Forgetful
        try:
            return super().receive(data, now, sender)
        finally:
            for window in self.node.seen.windows.values():
                window.__class__ = Window


class ClosedEpochStaysOpen(DurableServer):
    def _upload(self, frame, now):
        self.accounts.closed, closed = {}, self.accounts.closed
        try:
            return super()._upload(frame, now)
        finally:
            self.accounts.closed = closed


@dataclass(frozen=True)
class Planted:
    """A bug, and the federation in which it can show."""

    node: type
    federation: int = 0
    is_rare: bool = False  # it takes a chain of events that few schedules have
    seed: int = 0  # of a schedule that shows it, to begin with: one less than the number in `simulation.table`

    @property
    def nodes(self) -> dict[str, type]:
        return {"client_node" if issubclass(self.node, DurableClient) else "server_node": self.node}


PLANTED = [
    Planted(ClearedBeforeTheAcknowledgement),
    Planted(SentBeforeTheStoreIsSynced, seed=1),
    Planted(SequenceReusedAfterARestoredBackup, seed=1),
    Planted(OldBackupNotNoticed, seed=73),
    Planted(StaleWordTaken, federation=3, is_rare=True),
    Planted(RestoredSiteKeepsWhatIsCounted, federation=1, seed=37),
    Planted(RestoredSiteForgetsWhatIsNotCounted, federation=1, seed=18),
    Planted(OlderDownloadOverNewer),
    Planted(AcknowledgementOfAnotherEpoch),
    Planted(RepeatedRewardCounted),
    Planted(NamesStartOver),
    Planted(OutboxNotPersisted, seed=10),
    Planted(NumbersNotPersisted, seed=4),
    Planted(DecisionsNotPersisted, seed=8),
    Planted(AcknowledgedBeforeTheJournalIsSynced, seed=2),
    Planted(DownloadsLeaveUnsynced, federation=2, is_rare=True),
    Planted(MergedTwiceAfterARestart, seed=1),
    Planted(SnapshotWithoutItsPosition, seed=16),
    Planted(WindowLostInTheSnapshot, seed=1),
    Planted(EarlyUploadsLostInTheSnapshot, seed=1),
    Planted(LatestDownloadsNotPersisted, federation=1, seed=56),
    Planted(HighestNumberAcknowledged),
    Planted(DeadlineNotJournalled, federation=2, seed=1),
    Planted(EpochsMixedUp),
    Planted(ReorderedUploadsDropped, seed=1),
    Planted(ClosedEpochStaysOpen, federation=1, is_rare=True),
]
