"""The headers of frames: `wire.frame` tells what the numbers mean, and which layouts there are."""

from __future__ import annotations

import struct
from enum import IntEnum
from typing import NamedTuple

from fedbandit.core.errors import ProtocolError

NEW = 16  # what is added to the kind to tell the layout: 0 is that of 0.1.0
_CLOCKED, _FORMED, _BOTH = 32, 48, 64
HEADER, OLD_HEADER = struct.Struct("<BIQQ"), struct.Struct("<BQIQ")
_LAYOUTS = {
    0: OLD_HEADER, NEW: HEADER, _CLOCKED: struct.Struct("<BIQQQ"), _FORMED: struct.Struct("<BIQQQ"),
    _BOTH: struct.Struct("<BIQQQQ"),
}  # fmt: skip
HEADER_BYTES = HEADER.size  # kind u8, client u32, epoch u64, sequence u64
CLOCK_BYTES = FORM_BYTES = 8
_UPLOAD_BITS = 48
LARGEST_UPLOAD = (1 << _UPLOAD_BITS) - 1  # the number of an upload
LARGEST_HEADER = _LAYOUTS[_BOTH].size


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
    RENEWED = 9
    JOIN = 10
    CHARTER = 11


_KINDS = {each.value + layout: each for each in Kind for layout in (0, NEW)}
_KINDS |= {each.value + layout: each for each in (Kind.UPLOAD, Kind.DOWNLOAD) for layout in (_CLOCKED, _FORMED, _BOTH)}


class Header(NamedTuple):
    """The header of a frame, and whether its layout is that of 0.1.0.

    >>> read_header(Header(Kind.UPLOAD, 3, 1, 9, form=7).to_bytes()).form
    7
    """

    kind: Kind
    client: int
    epoch: int
    sequence: int
    is_old: bool = False
    clock: int | None = None
    asked: int = 0
    form: int = 0

    @property
    def size(self) -> int:
        """Return how many bytes it has."""
        return _LAYOUTS[self._layout].size

    def to_bytes(self) -> bytes:
        """Return the header as it goes over a connection."""
        layout = self._layout
        clock = () if self.clock is None or self.is_old else (self.clock,)
        form = (self.form,) if layout in (_FORMED, _BOTH) else ()
        numbers = self.client, self.epoch, self.sequence | self.asked << _UPLOAD_BITS, *clock, *form
        return _LAYOUTS[layout].pack(self.kind + layout, *numbers)

    @property
    def _layout(self) -> int:
        if self.is_old:
            return 0
        if self.form:
            return _FORMED if self.clock is None else _BOTH
        return NEW if self.clock is None else _CLOCKED


def read_header(data: bytes) -> Header:
    """Return the header of a frame, or raise ProtocolError."""
    return split(data)[0]


def header_if_any(data: bytes) -> Header | None:
    """Return the header of a frame; None if the bytes have none.

    >>> header_if_any(b"") is None
    True
    """
    try:
        return read_header(data)
    except ProtocolError:
        return None


def split(data: bytes) -> tuple[Header, int]:
    """Return the header of a frame, and how many bytes it has; or raise ProtocolError."""
    if len(data) < HEADER.size:
        raise ProtocolError(f"frame cut short: {len(data)} bytes, but its header alone has {HEADER.size}")
    kind, layout = _KINDS.get(data[0]), data[0] - data[0] % 16
    if kind is None:
        raise ProtocolError(f"unknown kind of frame {data[0]}: is the sender's fedbandit newer?")
    packed = _LAYOUTS[layout]
    if len(data) < packed.size:
        raise ProtocolError(f"frame cut short: {len(data)} bytes, but its header alone has {packed.size}")
    _, client, epoch, sequence, *more = packed.unpack_from(data)
    clock = more[0] if layout in (_CLOCKED, _BOTH) else None
    form = more[-1] if layout in (_FORMED, _BOTH) else 0
    if layout in (_FORMED, _BOTH) and not form:
        raise ProtocolError("a frame that names the first form, which none does")
    asked = 0
    if kind is Kind.UPLOAD and layout:
        asked, sequence = sequence >> _UPLOAD_BITS, sequence & LARGEST_UPLOAD
    return Header(kind, client, epoch, sequence, layout == 0, clock, asked, form), packed.size
