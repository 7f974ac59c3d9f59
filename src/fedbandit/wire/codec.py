"""The wire format of one message, version 1. Little-endian, fixed layout, nothing that executes.

    "FB" | version u8 | length of kind u8 | kind | fields in the order of their declaration

A header is an i64, or an f64 where it is declared as a number. `wire.arrays` tells how an array is packed.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from fedbandit.core.arrays import Floats
from fedbandit.core.errors import ProtocolError
from fedbandit.core.messages import Download, Layout, Message, Upload
from fedbandit.wire.arrays import itemsize, pack, packed_bytes, saved_by_pairs, saved_by_rank, unpack
from fedbandit.wire.reader import Reader

VERSION = 1
HEADERS = {Layout.HEADER: "<q", Layout.NUMBER: "<d"}
MOST_VALUES = 1 << 28  # a decoder's limit: two gigabytes of float64


class Weight(NamedTuple):
    """What one transfer of a message counts: scalars as in the papers, bytes as encoded."""

    scalars: int
    bytes: int


def encode(message: Message) -> bytes:
    """Return the bytes of one message; an upload must have exactly one sender.

    >>> from fedbandit.algorithms.linear.shared.messages import Snapshot
    >>> data = encode(Snapshot(np.eye(3), np.ones(3), holds=7))
    >>> decode(data).holds, len(data) == weigh(decode(data)).bytes
    (7, True)
    """
    parts = [head_of(message.kind)]
    for name, layout in message.layout().items():
        value = getattr(message, name)
        if isinstance(message, Upload):
            if len(value) != 1:
                raise ProtocolError(f"an upload of {len(value)} senders cannot be encoded as one message")
            value = value[0]
        form = HEADERS.get(layout)
        parts.append(pack(np.asarray(value), layout) if form is None else struct.pack(form, value))
    return b"".join(parts)


@lru_cache(maxsize=1024)
def head_of(kind: str) -> bytes:
    """Return with what all messages of a kind begin."""
    return b"FB" + struct.pack("<BB", VERSION, len(kind)) + kind.encode()


def encode_each(message: Message, recipients: int) -> Iterator[bytes]:
    """Yield the bytes of a download for each recipient: they differ in what the last field, `holds`, says of it."""
    holds = message.told_each()
    if holds is None or not isinstance(message, Download):
        yield from [encode(message)] * recipients
        return
    body = encode(message.holding(0))[:-8]
    yield from (body + struct.pack("<q", each) for each in holds.tolist())


def decode(data: bytes, most_values: int = MOST_VALUES, known: Mapping[str, type[Message]] | None = None) -> Message:
    """Return the message that bytes stand for, or raise ProtocolError; nothing is trusted.

    Only kinds that are `known` are taken in, and no field with more than `most_values` values: few bytes can claim to
    be a large sparse array.
    """
    known = Message.known if known is None else known
    reader = Reader(data)
    kind = _kind(reader)
    if kind not in Message.known:
        raise ProtocolError(f"unknown kind of message {kind!r}: is the sender's fedbandit newer?")
    if kind not in known:
        raise ProtocolError(f"messages of kind {kind!r} are not taken in here, only {', '.join(sorted(known))}")
    cls = known[kind]
    values: dict[str, Any] = {}
    for name, layout in cls.layout().items():
        value: Any = _header(reader, layout, name) if layout.is_header else unpack(reader, layout, name, most_values)
        values[name] = np.asarray(value)[np.newaxis] if issubclass(cls, Upload) else value
    reader.finish()
    return cls(**values)


def _header(reader: Reader, layout: Layout, name: str) -> Any:
    (value,) = reader.unpack(HEADERS[layout])
    if not math.isfinite(value):
        raise ProtocolError(f"field {name!r} is not finite")
    return value


def kind_of(data: bytes) -> str:
    """Return the kind of the message that bytes stand for, without looking at its fields; or raise ProtocolError.

    >>> from fedbandit.algorithms.linear.shared.messages import Snapshot
    >>> kind_of(encode(Snapshot(np.eye(3), np.ones(3), holds=7)))
    'linear.snapshot'
    """
    return _kind(Reader(data))


def _kind(reader: Reader) -> str:
    if reader.take(2) != b"FB":
        raise ProtocolError("these bytes are not a fedbandit message: they do not begin with FB")
    version, length = reader.unpack("<BB")
    if version != VERSION:
        raise ProtocolError(f"message of schema version {version}, but this end speaks version {VERSION}")
    return reader.take(length).decode("ascii", errors="replace")


def weigh(message: Message, transfers: int = 1) -> Weight:
    """Return what `transfers` of a message weigh together: to so many recipients, or from so many senders."""
    is_upload = isinstance(message, Upload)
    types = []
    saved = 0
    for name, layout in message.arrays().items():
        value: Floats = getattr(message, name)
        types.append((value.shape, value.dtype))
        if layout is Layout.SPARSE:
            saved += saved_by_pairs(value, transfers) if is_upload else transfers * saved_by_pairs(value, 1)
        elif layout is Layout.FACTOR:
            saved += saved_by_rank(value) if is_upload else transfers * saved_by_rank(value)
    one = _weight_of_one(message.kind, tuple(types))
    return Weight(transfers * one.scalars, transfers * one.bytes - saved)


@lru_cache(maxsize=1024)
def _weight_of_one(kind: str, arrays: tuple[tuple[tuple[int, ...], np.dtype[Any]], ...]) -> Weight:
    """Return what one transfer of a message weighs at most whose arrays have these shapes and types."""
    first = 1 if issubclass(Message.known[kind], Upload) else 0  # the axis of senders is not a sender's
    return dense_weight(kind, tuple((shape[first:], itemsize(dtype)) for shape, dtype in arrays))


@lru_cache(maxsize=1024)
def dense_weight(kind: str, shapes: tuple[tuple[tuple[int, ...], int], ...]) -> Weight:
    """Return what a message weighs at most whose arrays have these shapes and bytes a number."""
    layouts, arrays = Message.known[kind].layout(), Message.known[kind].arrays()
    scalars, size = 0, 4 + len(kind) + 8 * (len(layouts) - len(arrays))
    for layout, (shape, bytes_each) in zip(arrays.values(), shapes, strict=True):
        scalars += math.prod(shape) if layout.is_payload else 0
        size += packed_bytes(layout, shape, bytes_each)
    return Weight(scalars, size)
