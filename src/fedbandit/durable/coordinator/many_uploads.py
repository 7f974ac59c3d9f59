"""Uploads that come together are opened, checked and merged together, where one after the other gives the same.

That is so where an algorithm can (`core.taking_many`), and for uploads that leave nothing to be judged but their sums:
the next of a site of which all is well. The journal has a record of each, as ever. Whatever is out of the ordinary, in
an upload or about its site, is left to `DurableServer.receive`.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from fedbandit.core.arrays import Ints
from fedbandit.core.messages import Upload
from fedbandit.core.taking_many import LookedOver
from fedbandit.durable.coordinator.record import RecordKind, ServerRecord
from fedbandit.durable.coordinator.snapshots import SnapshotServer
from fedbandit.durable.coordinator.validation import NotYet
from fedbandit.protocol.envelope import Envelope
from fedbandit.protocol.server import Number
from fedbandit.wire.frame import Frame, Kind
from fedbandit.wire.header import HEADER_BYTES, NEW

_PLAIN = bytes([Kind.UPLOAD + NEW])


class Arrived(NamedTuple):
    """A frame, and the site that its connection's credential stands for."""

    data: bytes
    sender: int


class ManyUploads(SnapshotServer):
    """A coordinator that takes in many uploads in one go."""

    def take_in_together(self, arrived: Sequence[Arrived], now: float) -> list[bool]:
        """Take in those of some frames that may be taken in together; tell of each whether it was.

        Nothing that it causes may leave before `commit`. The others are to be received one by one, in their order.
        """
        is_taken = [False] * len(arrived)
        if not self._may_take_in_many():
            return is_taken
        for places, frames in self._alike(arrived):
            if self._take_in_alike([arrived[each].data for each in places], frames, now):
                for each in places:
                    is_taken[each] = True
        return is_taken

    def _may_take_in_many(self) -> bool:
        unhurried = math.isinf(self.validation.pace.per_second)
        is_guarded = self._guard.is_on or bool(self.accounts.aside)
        return self.node.takes_many is not None and unhurried and not is_guarded

    def _alike(self, arrived: Sequence[Arrived]) -> list[tuple[list[int], list[Frame]]]:
        """Return the places of plain uploads and their frames, by the length of their bodies.

        A site of which anything else has come, or uploads of different lengths, is left out: its order matters.
        """
        found: dict[int, tuple[int, list[tuple[int, Frame]]]] = {}  # by site: the length, and its uploads
        left_out: set[int] = set()
        for place, (data, sender) in enumerate(arrived):
            if sender in left_out:
                continue
            size, some = found.setdefault(sender, (len(data), []))
            frame = self._plain(data, sender, after=len(some)) if size == len(data) else None
            if frame is None:
                left_out.add(sender)
            else:
                some.append((place, frame))
        alike: dict[int, tuple[list[int], list[Frame]]] = {}
        for sender, (size, some) in found.items():
            if sender not in left_out:
                places, frames = alike.setdefault(size, ([], []))
                places += [place for place, _ in some]
                frames += [frame for _, frame in some]
        return list(alike.values())

    def _plain(self, data: bytes, sender: int, after: int) -> Frame | None:
        """Return an upload that comes so many after the next of its site, if nothing but its sums is to be judged."""
        if data[:1] != _PLAIN or len(data) < HEADER_BYTES:
            return None
        frame = Frame.from_bytes(data)
        client, epoch, accounts = frame.client, frame.epoch, self.accounts
        window, epochs = self.node.seen.windows.get((client, epoch)), accounts.epochs.get(client)
        if window is None or epochs is None or client != sender or frame.asked or self.node.form:
            return None
        is_next = frame.sequence == window.up_to + 1 + after and not window.early
        is_known = epochs.known.get(epoch) is not None and next(reversed(epochs.known)) == epoch
        is_odd = client in accounts.old or client in accounts.forgotten or (client, epoch) in accounts.closed
        if not is_next or not is_known or is_odd or client not in accounts.joined:
            return None
        try:
            self.introductions.require(frame, is_known=True)
        except NotYet:
            return None
        return frame

    def _take_in_alike(self, data: Sequence[bytes], frames: Sequence[Frame], now: float) -> bool:
        """Take in plain uploads of one length, if their sums are as they should be."""
        side = self.node.takes_many
        message = self.validation.open_alike([frame.body for frame in frames])
        if side is None or message is None or message.is_signal():
            return False
        senders = np.array([frame.client for frame in frames])
        looked_over = side.look_over(self.node.state, senders, message, self.validation.bounds)
        if looked_over is None or not self._are_allowed(senders, looked_over):
            return False
        records = [ServerRecord(RecordKind.FRAME, now, each) for each in data]
        for record in records:
            self._append(record)
        try:
            self._merge_many(frames, senders, message, looked_over)
        except Exception:  # noqa: BLE001  whatever an algorithm raises must not stay half done
            self._undo_last(len(records))
            return False
        for record, frame in zip(records, frames, strict=True):
            self._guard.take_in(record)
            self._touched.setdefault((frame.client, frame.epoch), 0)
        self._since_snapshot += len(records)
        self.ledger.record(Envelope(senders, message, 0, senders))
        return True

    def _are_allowed(self, senders: Ints, looked_over: LookedOver) -> bool:
        """Tell whether uploads rest on enough observations, and rounding explains by how much they are beyond them."""
        if (looked_over.observations < self.validation.smallest_upload).any():
            return False
        if not looked_over.excess.any():
            return True
        told, beyond = dict[int, int](), dict[int, float]()
        for client, new, excess in zip(senders.tolist(), *(each.tolist() for each in looked_over), strict=True):
            told[client] = told.get(client, self.accounts.observations.get(client, 0)) + new
            before = beyond.get(client, self.accounts.excess.get(client, 0.0))
            if not self.validation.explains(excess, before, told[client]):
                return False
            beyond[client] = before + excess
        return True

    def _merge_many(self, frames: Sequence[Frame], senders: Ints, message: Upload, looked_over: LookedOver) -> None:
        """Change what is known as records of these uploads do, one after the other (`_take_in_frame`)."""
        numbers = [Number(frame.client, frame.epoch, frame.sequence) for frame in frames]
        first = 0
        while first < len(frames):
            taken, downloads = self.node.merge_some(numbers, senders, message, first)
            self.postbox.post(downloads)
            self.validation.check_outcome(self.node.state, downloads)
            first += taken
        for frame, new, excess in zip(frames, *(each.tolist() for each in looked_over), strict=True):
            self.accounts.book(frame, new, excess, is_question=False)
