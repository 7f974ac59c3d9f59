"""The wire format of one message, version 1. Little-endian, fixed layout, nothing that executes.

    "FB" | version u8 | length of kind u8 | kind | fields in the order of their declaration

A header is an i64. An array is

    form u8 | dtype u8 | dimensions u8 | each dimension u32 | values

and its form is DENSE (all values), SYMMETRIC (of the last two axes the upper triangle with the diagonal, row by row) or
PAIRS (u32 count, u32 flat positions, values), which an array declared sparse takes where that is smaller.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Mapping
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from fedbandit.core.arrays import Floats, Ints
from fedbandit.core.errors import ProtocolError
from fedbandit.core.messages import Layout, Message, Upload
from fedbandit.wire.reader import Reader

VERSION = 1
_DENSE, _SYMMETRIC, _PAIRS = 0, 1, 2
_DTYPES = (np.dtype("<f8"), np.dtype("<f4"))
MOST_VALUES = 1 << 28  # a decoder's limit: two gigabytes of float64


class Weight(NamedTuple):
    """What one transfer of a message counts: scalars as in the papers, bytes as encoded."""

    scalars: int
    bytes: int


def encode(message: Message) -> bytes:
    """Return the bytes of one message; an upload must have exactly one sender.

    >>> from fedbandit.algorithms.linear.shared.family import Snapshot
    >>> data = encode(Snapshot(np.eye(3), np.ones(3), version=7))
    >>> decode(data).version, len(data) == weigh(decode(data)).bytes
    (7, True)
    """
    parts = [b"FB", struct.pack("<BB", VERSION, len(message.kind)), message.kind.encode()]
    for name, layout in message.layout().items():
        value = getattr(message, name)
        if isinstance(message, Upload):
            if len(value) != 1:
                raise ProtocolError(f"an upload of {len(value)} senders cannot be encoded as one message")
            value = value[0]
        parts.append(struct.pack("<q", value) if layout is Layout.HEADER else _pack(np.asarray(value), layout))
    return b"".join(parts)


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
        value: Any
        value = reader.unpack("<q")[0] if layout is Layout.HEADER else _unpack(reader, layout, name, most_values)
        values[name] = np.asarray(value)[np.newaxis] if issubclass(cls, Upload) else value
    reader.finish()
    return cls(**values)


def kind_of(data: bytes) -> str:
    """Return the kind of the message that bytes stand for, without looking at its fields; or raise ProtocolError.

    >>> from fedbandit.algorithms.linear.shared.family import Snapshot
    >>> kind_of(encode(Snapshot(np.eye(3), np.ones(3), version=7)))
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
    skip = 1 if isinstance(message, Upload) else 0
    shapes = []
    saved = 0
    for name, layout in message.layout().items():
        if layout is not Layout.HEADER:
            value: Floats = getattr(message, name)
            shapes.append((value.shape[skip:], _itemsize(value)))
            if layout is Layout.SPARSE:
                saved += _saved_by_pairs(value, transfers) if skip else transfers * _saved_by_pairs(value, 1)
    one = dense_weight(message.kind, tuple(shapes))
    return Weight(transfers * one.scalars, transfers * one.bytes - saved)


@lru_cache(maxsize=1024)
def dense_weight(kind: str, shapes: tuple[tuple[tuple[int, ...], int], ...]) -> Weight:
    """Return what a message weighs whose arrays have these shapes and bytes a number, nothing of them as pairs."""
    layouts = list(Message.known[kind].layout().values())
    arrays = [layout for layout in layouts if layout is not Layout.HEADER]
    scalars, size = 0, 4 + len(kind) + 8 * (len(layouts) - len(arrays))
    for layout, (shape, itemsize) in zip(arrays, shapes, strict=True):
        count = int(np.prod(shape, dtype=np.int64))
        scalars += count
        size += 3 + 4 * len(shape) + itemsize * (_triangle(shape) if layout is Layout.SYMMETRIC else count)
    return Weight(scalars, size)


def _saved_by_pairs(value: Floats, rows: int) -> int:
    """Return the bytes that index-value pairs save over all rows, each row taking what is smaller."""
    flat = value.reshape(rows, math.prod(value.shape) // rows)
    pairs = 4 + np.count_nonzero(flat, axis=1) * (4 + _itemsize(value))
    return int(np.maximum(0, flat.shape[1] * _itemsize(value) - pairs).sum())


def _itemsize(value: Floats) -> int:
    """Return the bytes of one value on the wire: there is single precision, and all else travels as double."""
    return 4 if value.dtype.char == "f" else 8


def _triangle(shape: tuple[int, ...]) -> int:
    size = shape[-1]
    return math.prod(shape[:-2]) * size * (size + 1) // 2


@lru_cache(maxsize=16)
def _upper(size: int) -> tuple[Ints, Ints]:
    return np.triu_indices(size)


@lru_cache(maxsize=16)
def _mirrored(size: int) -> Ints:
    """Return where in its packed triangle each entry of a symmetric matrix stands."""
    place = np.empty((size, size), dtype=np.int64)
    rows, columns = _upper(size)
    place[rows, columns] = place[columns, rows] = np.arange(rows.size)
    return place


def _pack(value: Floats, layout: Layout) -> bytes:
    value = value.astype(f"<f{_itemsize(value)}", order="C", copy=False)
    form, body = _DENSE, value
    if layout is Layout.SYMMETRIC:
        rows, columns = _upper(value.shape[-1])
        form, body = _SYMMETRIC, value[..., rows, columns]
    data = body.tobytes()
    if layout is Layout.SPARSE and _saved_by_pairs(value, 1):
        places = np.flatnonzero(value).astype("<u4")
        form, data = (
            _PAIRS,
            struct.pack("<I", len(places)) + places.tobytes() + value.ravel()[places].tobytes(),
        )
    head = struct.pack(f"<BBB{value.ndim}I", form, _DTYPES.index(value.dtype), value.ndim, *value.shape)
    return head + data


def _values(reader: Reader, dtype: np.dtype[Any], count: int, name: str) -> Floats:
    taken = reader.values(dtype, count)
    if not np.isfinite(taken).all():
        raise ProtocolError(f"field {name!r} has values that are not finite")
    return taken


def _unpack(reader: Reader, layout: Layout, name: str, most_values: int) -> Floats:
    form, code, dimensions = reader.unpack("<BBB")
    allowed = {Layout.SYMMETRIC: (_SYMMETRIC,), Layout.SPARSE: (_DENSE, _PAIRS), Layout.DENSE: (_DENSE,)}
    if form not in allowed[layout] or code >= len(_DTYPES) or dimensions > 8:
        raise ProtocolError(f"field {name!r} has an unknown form, type or number of dimensions")
    shape = reader.unpack(f"<{dimensions}I")
    claimed = math.prod(max(1, each) for each in shape)  # even no matrices have sides, which cost memory
    if claimed > most_values:
        raise ProtocolError(f"field {name!r} claims {claimed} values: the limit is {most_values}")
    unpack = {_DENSE: _dense, _SYMMETRIC: _symmetric, _PAIRS: _pairs}[form]
    return unpack(reader, _DTYPES[code], shape, name)


def _dense(reader: Reader, dtype: np.dtype[Any], shape: tuple[int, ...], name: str) -> Floats:
    return _values(reader, dtype, math.prod(shape), name).reshape(shape).copy()


def _symmetric(reader: Reader, dtype: np.dtype[Any], shape: tuple[int, ...], name: str) -> Floats:
    if len(shape) < 2 or shape[-1] != shape[-2]:
        raise ProtocolError(f"field {name!r} is symmetric and must be square, not of shape {shape}")
    packed = _values(reader, dtype, _triangle(shape), name)  # before anything is made of the size that is claimed
    place = _mirrored(shape[-1])
    return packed.reshape(*shape[:-2], -1).take(place, axis=-1) if packed.size else np.empty(shape, dtype)


def _pairs(reader: Reader, dtype: np.dtype[Any], shape: tuple[int, ...], name: str) -> Floats:
    (given,) = reader.unpack("<I")
    places = np.frombuffer(reader.take(4 * given), dtype="<u4")
    if given and (int(places[-1]) >= math.prod(shape) or (np.diff(places.astype(np.int64)) <= 0).any()):
        raise ProtocolError(f"field {name!r} has index-value pairs that are out of order or out of range")
    values = _values(reader, dtype, given, name)
    value = np.zeros(math.prod(shape), dtype)
    value[places] = values
    return value.reshape(shape)
