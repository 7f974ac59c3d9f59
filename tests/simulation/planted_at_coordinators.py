"""Bugs of a coordinator that the fault simulation must notice: see `simulation.planted`."""

from __future__ import annotations

import copy
from dataclasses import replace

from fedbandit.durable.coordinator.postbox import posted
from fedbandit.durable.coordinator.record import RecordKind, ServerRecord
from fedbandit.durable.coordinator.server import DurableServer
from fedbandit.durable.coordinator.site_accounts import CoordinatorMemory
from fedbandit.protocol.seen import Seen, Window
from fedbandit.wire.frame import Frame, Kind, with_numbers
from fedbandit.wire.state import encode_state


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
        return [(each.site, each.data) for each in self.postbox.take(self.ledger)]


class MergedTwiceAfterARestart(DurableServer):
    def _recover(self, epoch):
        super()._recover(epoch)
        snapshot = self.journal.snapshot()
        for entry in self.journal.records(snapshot.position if snapshot else 0):
            record = ServerRecord.from_bytes(entry.data)
            if record.what is RecordKind.FRAME and Frame.from_bytes(record.data).kind is Kind.UPLOAD:
                self.node.seen, seen = Seen.nothing(self.charter.setting.clients), self.node.seen
                self._take_in(record)
                self.node.seen = seen


class SnapshotWithoutItsPosition(DurableServer):
    """What is stored as the state after the last record is the state as it was at the last commit."""

    def commit(self):
        frames = super().commit()
        self.at_commit = encode_state(
            CoordinatorMemory(
                self.charter.text, self.node.memory, self.accounts, posted(self.postbox.latest_downloads())
            )
        )
        return frames

    def save(self):
        self.journal.save(
            getattr(self, "at_commit", None)
            or encode_state(
                CoordinatorMemory(
                    self.charter.text, self.node.memory, self.accounts, posted(self.postbox.latest_downloads())
                )
            )
        )


class WindowLostInTheSnapshot(DurableServer):
    def save(self):
        node = replace(self.node.memory, seen=Seen.nothing(self.charter.setting.clients))
        memory = CoordinatorMemory(self.charter.text, node, self.accounts, posted(self.postbox.latest_downloads()))
        self.journal.save(encode_state(memory))


class EarlyUploadsLostInTheSnapshot(DurableServer):
    def save(self):
        seen = copy.deepcopy(self.node.seen)
        for window in seen.windows.values():
            window.early.clear()
        memory = CoordinatorMemory(
            self.charter.text,
            replace(self.node.memory, seen=seen),
            self.accounts,
            posted(self.postbox.latest_downloads()),
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
            self._take_in(ServerRecord(RecordKind.DEADLINE, now))
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
