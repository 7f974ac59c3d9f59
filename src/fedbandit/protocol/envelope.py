"""A message on its way: who is at the other end, and the number that makes it recognisable."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from fedbandit.core.arrays import Ints
from fedbandit.core.messages import Download, Message, Upload
from fedbandit.wire import encode, encode_each
from fedbandit.wire.frame import Frame
from fedbandit.wire.header import Kind


@dataclass(frozen=True, slots=True)
class Envelope:
    """One upload of each of some clients, or one download to each of them.

    `epoch` counts the lives of the sender (a node that restarts from nothing begins a new one). `sequence` counts its
    messages: each client counts its own uploads, the server counts its downloads. A receiver knows a message that
    arrives again by (sender, epoch, sequence).
    """

    clients: Ints
    message: Message
    epoch: int
    sequence: Ints  # (clients,) of an upload, () of a download
    clock: int | None = None  # the epoch to which its sums belong, where a federation forgets: see `protocol.fading`
    form: int = 0  # in which its sums are, where features have been added or removed: see `protocol.forms`

    @property
    def is_upload(self) -> bool:
        """Tell which way it goes."""
        return isinstance(self.message, Upload)

    def split(self) -> Iterator[Envelope]:
        """Yield one envelope a client, as they would travel on a network."""
        for each in range(len(self.clients)):
            row = slice(each, each + 1)
            if isinstance(self.message, Upload):
                numbers = self.epoch, self.sequence[row], self.clock, self.form
                yield Envelope(self.clients[row], self.message.rows(row), *numbers)
            else:
                yield self.only(row)

    def only(self, wanted: Ints | slice) -> Envelope:
        """Return the envelope of some of its clients, given by their places in it."""
        message = self.message
        if isinstance(message, Upload):
            message = message.rows(wanted)
        elif isinstance(message, Download):
            message = message.to_some(wanted)
        sequence = self.sequence[wanted] if np.ndim(self.sequence) else self.sequence
        return Envelope(self.clients[wanted], message, self.epoch, sequence, self.clock, self.form)

    def frames(self) -> Iterator[Frame]:
        """Yield one frame a client; the payload of a download is packed once for all of them."""
        if self.is_upload:
            for one in self.split():
                numbers = int(one.clients[0]), self.epoch, int(one.sequence[0])
                yield Frame(Kind.UPLOAD, *numbers, encode(one.message), clock=self.clock, form=self.form)
        else:
            for client, body in zip(self.clients.tolist(), encode_each(self.message, len(self.clients)), strict=True):
                numbers = client, self.epoch, int(self.sequence)
                yield Frame(Kind.DOWNLOAD, *numbers, body, clock=self.clock, form=self.form)

    @classmethod
    def of(cls, frame: Frame, message: Message) -> Envelope:
        """Return the envelope of a frame and the message that was decoded from it.

        >>> from fedbandit.algorithms.linear.shared.messages import Hello
        >>> envelope = Envelope.of(Frame(Kind.UPLOAD, client=3, epoch=1, sequence=9), Hello())
        >>> envelope.clients, envelope.sequence
        (array([3]), array([9]))
        """
        sequence = np.array([frame.sequence]) if frame.kind is Kind.UPLOAD else np.array(frame.sequence)
        return cls(np.array([frame.client]), message, frame.epoch, sequence, frame.clock, frame.form)
