"""Bugs that a protocol of this kind can have. Each is a node with one thing wrong; the fault simulation must see it."""

from __future__ import annotations

import copy
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np

from fedbandit.durable.coordinator.erasure import Erasure
from fedbandit.durable.coordinator.roster import Roster
from fedbandit.durable.site.client import DurableClient
from fedbandit.durable.site.outbox import Outbox
from fedbandit.wire.frame import Frame, Kind
from simulation.planted_at_coordinators import (
    AcknowledgedBeforeTheJournalIsSynced,
    ClosedEpochStaysOpen,
    DeadlineNotJournalled,
    DownloadsLeaveUnsynced,
    EarlyUploadsLostInTheSnapshot,
    EpochsMixedUp,
    HighestNumberAcknowledged,
    LatestDownloadsNotPersisted,
    MergedTwiceAfterARestart,
    ReorderedUploadsDropped,
    SnapshotWithoutItsPosition,
    WindowLostInTheSnapshot,
)


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
    lacks: ClassVar[dict] = {"awaiting": np.zeros(0, dtype=np.int64)}


@dataclass(frozen=True)
class Planted:
    """A bug, and the federation in which it can show."""

    node: type
    federation: int = 0
    seed: int = 0  # of a schedule that shows it, to begin with: one less than the number in `simulation.table`

    @property
    def nodes(self) -> dict[str, Any]:
        if issubclass(self.node, Erasure):
            return {"erase": self.node.write}
        if issubclass(self.node, Roster):
            return {"roster_node": self.node}
        return {"client_node" if issubclass(self.node, DurableClient) else "server_node": self.node}


PLANTED = [
    Planted(ClearedBeforeTheAcknowledgement),
    Planted(SentBeforeTheStoreIsSynced, seed=1),
    Planted(SequenceReusedAfterARestoredBackup, seed=1),
    Planted(OldBackupNotNoticed, seed=73),
    Planted(StaleWordTaken, federation=3, seed=790),
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
    Planted(DownloadsLeaveUnsynced, federation=2, seed=61),
    Planted(MergedTwiceAfterARestart, seed=1),
    Planted(SnapshotWithoutItsPosition, seed=23),
    Planted(WindowLostInTheSnapshot, seed=1),
    Planted(EarlyUploadsLostInTheSnapshot, seed=1),
    Planted(LatestDownloadsNotPersisted, federation=1, seed=56),
    Planted(HighestNumberAcknowledged),
    Planted(DeadlineNotJournalled, federation=2, seed=1),
    Planted(EpochsMixedUp),
    Planted(ReorderedUploadsDropped, seed=1),
    Planted(ClosedEpochStaysOpen, federation=1, seed=354),
]
