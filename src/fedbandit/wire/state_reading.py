"""The reading half of `wire.state`: a value from bytes that are not trusted."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from fedbandit.core.errors import ProtocolError
from fedbandit.wire.reader import Reader
from fedbandit.wire.records import is_newer, layout, make_record
from fedbandit.wire.state_writing import DTYPES

_DEEPEST = 32


class Expected(NamedTuple):
    """What may stand in a state that is read."""

    records: dict[str, type]
    writer: str


def read_value(reader: Reader, expected: Expected | None, depth: int) -> Any:
    """Return the next value; where nothing is expected, it is read to be forgotten, and records are None."""
    if depth > _DEEPEST:
        raise ProtocolError(f"the state is nested more than {_DEEPEST} levels deep")
    tag = reader.take(1)
    if tag in _CONSTANT:
        return _CONSTANT[tag]
    if tag == b"A":
        return _read_array(reader)
    if tag == b"R":
        return _read_record(reader, expected, depth)
    if tag == b"D":
        return reader.unpack("<d")[0]
    if tag == b"G":
        dtype = _dtype(reader)
        return reader.values(dtype, 1)[0]
    (length,) = reader.unpack("<I")
    if length > reader.left:
        raise ProtocolError(f"state cut short: {length} items or bytes expected where {reader.left} bytes are left")
    if tag in _FLAT:
        return read_flat(tag, reader.take(length))
    if tag not in b"LUEM":
        raise ProtocolError(f"the state has an unknown tag {tag!r}: was it written by a newer fedbandit?")
    items = [read_value(reader, expected, depth + 1) for _ in range(length)]
    return None if expected is None else _container(tag, items)


_CONSTANT = {b"N": None, b"T": True, b"F": False}
_FLAT = {b"I", b"S", b"B"}


def read_flat(tag: bytes, data: bytes) -> int | str | bytes:
    """Return the whole number, the text or the bytes that bytes stand for."""
    if tag == b"I":
        return int.from_bytes(data, "little", signed=True)
    try:
        return data.decode() if tag == b"S" else data
    except UnicodeDecodeError:
        raise ProtocolError("the state has text that is not UTF-8") from None


def _container(tag: bytes, items: list[Any]) -> Any:
    try:
        if tag == b"M":
            return dict(zip(items[::2], items[1::2], strict=True))
        if tag == b"E":
            items.sort()  # as it was written; what cannot be sorted never was
            return set(items)
        return {b"L": list, b"U": tuple}[tag](items)
    except (TypeError, ValueError) as error:
        raise ProtocolError(f"the state has a malformed collection: {error}") from None


def _dtype(reader: Reader) -> np.dtype[Any]:
    code: int = reader.unpack("<B")[0]
    if code >= len(DTYPES):
        raise ProtocolError(f"the state has numbers of an unknown type {code}")
    return DTYPES[code]


def _read_array(reader: Reader) -> np.ndarray[Any, Any]:
    order = reader.take(1)
    dtype = _dtype(reader)
    (dimensions,) = reader.unpack("<B")
    shape = reader.unpack(f"<{dimensions}Q") if dimensions <= 32 else ()
    count = 1
    for each in shape:
        count *= max(1, each)
    if dimensions > 32 or order not in (b"C", b"F") or (count > reader.left and 0 not in shape) or count >= 1 << 60:
        raise ProtocolError(f"the state has an array of impossible shape {shape}")
    flat = reader.values(dtype, 0 if 0 in shape else count)
    return np.array(flat.reshape(shape, order="F" if order == b"F" else "C"), order="K")


def _read_record(reader: Reader, expected: Expected | None, depth: int) -> Any:
    name, count = read_text(reader), reader.unpack("<I")[0]
    kind = None if expected is None else _expected_kind(name, expected)
    known = None if kind is None else layout(kind)
    values: dict[str, Any] = {}
    strange: dict[str, Any] = {}
    keeps_strange = known is not None and known.regrouping is not None
    for _ in range(count):
        written = read_text(reader)
        field = written if known is None else known.former.get(written, written)
        is_known = known is not None and field in known.names
        value = read_value(reader, expected if is_known or keeps_strange else None, depth + 1)
        if field in values or field in strange:
            raise ProtocolError(f"the record {name!r} has the field {field!r} twice")
        (values if is_known else strange)[field] = value
    return None if expected is None else make_record(kind, values, strange, expected.writer)


def _expected_kind(name: str, expected: Expected) -> type:
    if name not in expected.records:
        told = ", ".join(sorted(expected.records)) or "none"
        newer = f": upgrade to fedbandit {expected.writer}, which wrote it" if is_newer(expected.writer) else ""
        raise ProtocolError(f"the state has a record {name!r}, where {told} may stand{newer}")
    return expected.records[name]


def read_text(reader: Reader) -> str:
    """Return the next text, which has its length before it."""
    (length,) = reader.unpack("<I")
    return str(read_flat(b"S", reader.take(length)))
