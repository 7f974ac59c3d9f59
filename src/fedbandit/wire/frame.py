"""Frames: what really goes over a connection. One header for all, 21 bytes, little-endian, then a body.

    kind u8 | client u64 | epoch u32 | sequence u64 | body

| kind | from, to | epoch and sequence | body |
| --- | --- | --- | --- |
| UPLOAD | site, coordinator | the site's, of this upload | the message |
| DOWNLOAD | coordinator, site | the coordinator's, of this download | the message |
| ACKNOWLEDGEMENT | coordinator, site | all of the site's up to here are safe | the highest that is safe u64, mark u64 |
| REFUSAL | coordinator, site | this upload was refused | 1 if for good, 0 if for now, u8; the reason |
| ASK | site, coordinator | the last download that it has | its epoch u32, settled u64, mark u64 |
| VOID | site, coordinator | nothing will come under this number | |
| CLOSE | site, coordinator | refuse this number and all above it | the site's new epoch u32 |
| CLOSED | coordinator, site | as asked | the new epoch u32, 1 if the number was taken in before u8, the highest u64 |
| REPORT | site, coordinator | the site's life, and a number that grows | aggregate counters: see `wire.report` |

`client` is the site in both directions. An upload that comes again is known by (client, epoch, sequence); a download is
newer than another if (epoch, sequence) is greater. The acknowledgement that answers an ASK bears its mark, all others
bear 0; in a closed epoch the highest number counts as safe.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass
from enum import IntEnum

from fedbandit.core.errors import ProtocolError

HEADER = struct.Struct("<BQIQ")
LARGEST_NUMBER = 1 << 62  # so that every number fits into an array of signed ones


class Kind(IntEnum):
    """What a frame is."""

    UPLOAD = 0
    DOWNLOAD = 1
    ACKNOWLEDGEMENT = 2
    REFUSAL = 3
    ASK = 4
    VOID = 5
    CLOSE = 6
    CLOSED = 7
    REPORT = 8


BODIES = {  # the bodies that are fixed; those of uploads, downloads, refusals and reports are not
    Kind.ACKNOWLEDGEMENT: struct.Struct("<QQ"),
    Kind.ASK: struct.Struct("<IQQ"),
    Kind.VOID: struct.Struct("<"),
    Kind.CLOSE: struct.Struct("<I"),
    Kind.CLOSED: struct.Struct("<IBQ"),
}


@dataclass(frozen=True, slots=True)
class Frame:
    """One frame.

    >>> data = Frame(Kind.VOID, client=3, epoch=1, sequence=9).to_bytes()
    >>> len(data), Frame.from_bytes(data).sequence
    (21, 9)
    """

    kind: Kind
    client: int
    epoch: int
    sequence: int
    body: bytes = b""

    def to_bytes(self) -> bytes:
        """Return the frame as it goes over a connection."""
        return HEADER.pack(self.kind, self.client, self.epoch, self.sequence) + self.body

    @classmethod
    def from_bytes(cls, data: bytes) -> Frame:
        """Return the frame that bytes stand for, or raise ProtocolError; a message in it is not looked at."""
        if len(data) < HEADER.size:
            raise ProtocolError(f"frame cut short: {len(data)} bytes, but its header alone has {HEADER.size}")
        kind, client, epoch, sequence = HEADER.unpack_from(data)
        if kind not in _KNOWN:
            raise ProtocolError(f"unknown kind of frame {kind}: is the sender's fedbandit newer?")
        frame = cls(Kind(kind), client, epoch, sequence, bytes(data[HEADER.size :]))
        form = BODIES.get(frame.kind)
        if form is not None and len(frame.body) != form.size:
            raise ProtocolError(f"{frame.name} has a body of {len(frame.body)} bytes, not {form.size}")
        if frame.kind is Kind.REFUSAL and not frame.body:
            raise ProtocolError("refusal without a reason")
        return frame

    @property
    def name(self) -> str:
        """Return the kind in words, for errors."""
        return self.kind.name.lower()

    @property
    def numbers(self) -> tuple[int, ...]:
        """Return the numbers of a body that is fixed."""
        return BODIES[self.kind].unpack(self.body)

    @property
    def verdict(self) -> tuple[bool, str]:
        """Return of a refusal whether it is for good, and the reason."""
        return self.body[0] != 0, self.body[1:].decode(errors="replace")


_KNOWN = frozenset(Kind)


def with_numbers(kind: Kind, client: int, epoch: int, sequence: int, *numbers: int) -> Frame:
    """Return a frame whose body is numbers.

    >>> with_numbers(Kind.ASK, 3, 0, 0, 1, 8, 9).numbers
    (1, 8, 9)
    """
    return Frame(kind, client, epoch, sequence, BODIES[kind].pack(*numbers))


def refusal(of: Frame, reason: str, *, for_good: bool) -> Frame:
    """Return the answer to an upload that is refused.

    >>> refusal(Frame(Kind.UPLOAD, 3, 1, 9), "too large", for_good=True).verdict
    (True, 'too large')
    """
    return Frame(Kind.REFUSAL, of.client, of.epoch, of.sequence, bytes([for_good]) + reason.encode())
