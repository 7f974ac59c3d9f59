"""Bugs that a federation which forgets can have. Each is a node with one thing wrong."""

from __future__ import annotations

from dataclasses import replace

from fedbandit.durable.coordinator.server import DurableServer
from fedbandit.durable.site.client import DurableClient
from fedbandit.wire.frame import Frame, Kind
from simulation.planted import Planted


class AgedAgainAfterARestart(DurableServer):
    """The snapshot has the sums, but not as of which epoch."""

    def _recall(self, memory):
        super()._recall(memory)
        self.node.clock = 0


class TickNotJournalled(DurableServer):
    def tick(self, epoch, now):
        self.clock = max(epoch, self.clock)
        self.node.tick(epoch)


class OldUploadNotAged(DurableServer):
    def _merge(self, frame, upload, time):
        return super()._merge(frame, replace(upload, clock=max(upload.clock, self.node.clock)), time)


class NewUploadDoesNotAgeTheServer(DurableServer):
    def _merge(self, frame, upload, time):
        return super()._merge(frame, replace(upload, clock=min(upload.clock, self.node.clock)), time)


class LatestDownloadsAsOfNow(DurableServer):
    """A download that is sent again says that its sums are of the present epoch."""

    def commit(self):
        frames = [(client, Frame.from_bytes(data)) for client, data in super().commit()]
        now = self.node.clock
        return [
            (client, (replace(frame, clock=now) if frame.kind is Kind.DOWNLOAD else frame).to_bytes())
            for client, frame in frames
        ]


class LateRewardBookedUnderThePresentEpoch(DurableClient):
    def learn(self, decision, reward):
        pending = self.life.decisions.awaiting(decision)
        if pending is not None:
            pending.clock = self.life.node.clock
        return super().learn(decision, reward)


class EpochsOfDecisionsNotPersisted(DurableClient):
    def _recall(self, life, *more):
        super()._recall(life, *more)
        for pending in life.decisions.pending.values():
            pending.clock = 0


class ClockOfASiteNotPersisted(DurableClient):
    def _recall(self, life, *more):
        super()._recall(life, *more)
        life.node.clock = 0


class SiteTickNotJournalled(DurableClient):
    def tick(self, epoch):
        self.life.node.tick(epoch)


class OldDownloadNotAged(DurableClient):
    def _hear(self, life, frame):
        if frame.kind is Kind.DOWNLOAD:
            frame = replace(frame, clock=max(frame.clock, life.node.clock))
        return super()._hear(life, frame)


PLANTED_FADING = [
    Planted(AgedAgainAfterARestart, federation=11),
    Planted(TickNotJournalled, federation=11),
    Planted(OldUploadNotAged, federation=11),
    Planted(NewUploadDoesNotAgeTheServer, federation=11),
    Planted(LatestDownloadsAsOfNow, federation=12),
    Planted(LateRewardBookedUnderThePresentEpoch, federation=11),
    Planted(EpochsOfDecisionsNotPersisted, federation=11),
    Planted(ClockOfASiteNotPersisted, federation=12),
    Planted(SiteTickNotJournalled, federation=12),
    Planted(OldDownloadNotAged, federation=12),
]
