"""State to bytes and back, version 1: what a node keeps across restarts, and what a policy file holds.

    "FS" | version u8 | value | crc32 of all before it u32

A value is a tag and what the tag calls for, little-endian throughout. Plain values are None, booleans, whole numbers
of any size, floats, text and bytes; arrays and numbers of NumPy with their type and order; lists, tuples, dicts and
sets; and records, which are dataclasses and named tuples: their name, and every field with its name. An array that
another library keeps is written as NumPy's, and comes back as one. Nothing that executes: a record is read only as one
of the types that the caller expects, and what they consist of.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from dataclasses import fields, is_dataclass
from functools import cache
from typing import Any, get_args, get_type_hints
from zlib import crc32

import numpy as np

from fedbandit.core.errors import ProtocolError
from fedbandit.wire.reader import Reader

VERSION = 1
_DTYPES = tuple(np.dtype(name) for name in ("?", "<i8", "<f8", "<f4", "<i4", "<u8", "<u4", "<i2", "<u2", "i1", "u1"))
_CODES = {dtype: code for code, dtype in enumerate(_DTYPES)}
_DEEPEST = 32
_LENGTH = struct.Struct("<I")
_FLOAT = struct.Struct("<d")


def encode_state(value: Any) -> bytes:
    """Return the bytes of a state.

    >>> from fedbandit.algorithms.linear.sync_linucb import ServerState, SyncServer
    >>> data = encode_state(SyncServer(dimension=2).start(clients=3))
    >>> decode_state(data, ServerState).attendance.answered
    array([False, False, False])
    """
    parts = [b"FS", bytes([VERSION])]
    _write(value, parts)
    data = b"".join(parts)
    return data + _LENGTH.pack(crc32(data))


def decode_state(data: bytes, *kinds: type) -> Any:
    """Return the state that bytes stand for, or raise ProtocolError.

    Records are read only as one of `kinds`, or as a type that stands in the declaration of one of them.
    """
    if len(data) < 7 or data[:2] != b"FS":
        raise ProtocolError("these bytes are not a fedbandit state: they do not begin with FS")
    if data[2] != VERSION:
        raise ProtocolError(f"state of version {data[2]}, but this end reads version {VERSION}")
    if crc32(data[:-4]) != _LENGTH.unpack(data[-4:])[0]:
        raise ProtocolError("the state is damaged: its checksum does not fit")
    reader = Reader(data[3:-4], "state")
    value = _read(reader, _records(kinds), 0)
    reader.finish()
    return value


@cache
def _records(kinds: tuple[type, ...]) -> dict[str, type]:
    """Return, by name, the record types that stand in the declarations of some types."""
    found: dict[str, type] = {}
    ahead = [each for kind in kinds for each in _within(kind)]
    while ahead:
        kind = ahead.pop()
        if kind in found.values():
            continue
        if kind.__qualname__ in found:
            raise TypeError(f"two types of one state have the name {kind.__qualname__!r}: rename one of them")
        found[kind.__qualname__] = kind
        ahead += [each for hint in get_type_hints(kind).values() for each in _within(hint)]
    return found


def _within(hint: Any) -> Iterator[Any]:
    """Yield the types that an annotation is made of."""
    inner = get_args(hint)
    if not inner:
        if isinstance(hint, type) and _is_record(hint):
            yield hint
        return
    for each in inner:
        yield from _within(each)


def _is_record(kind: type) -> bool:
    return is_dataclass(kind) or (issubclass(kind, tuple) and hasattr(kind, "_fields"))


@cache
def _field_names(kind: Any) -> tuple[tuple[str, bytes], ...]:
    names = [each.name for each in fields(kind)] if is_dataclass(kind) else list(getattr(kind, "_fields", ()))
    return tuple((name, _text(name)) for name in names)


def _text(text: str) -> bytes:
    data = text.encode()
    return _LENGTH.pack(len(data)) + data


def _write(value: Any, parts: list[bytes]) -> None:
    kind: Any = type(value)
    plain = _PLAIN.get(kind)
    if plain is not None:
        plain(value, parts)
    elif isinstance(value, np.generic):
        parts += (b"G", _code(value.dtype), value.tobytes())
    elif _is_record(kind):
        parts += (b"R", _text(kind.__qualname__), _LENGTH.pack(len(_field_names(kind))))
        for name, packed in _field_names(kind):
            parts.append(packed)
            _write(getattr(value, name), parts)
    elif hasattr(kind, "__array__"):
        _write_array(np.asarray(value), parts)
    else:
        raise TypeError(f"a state may not hold a {kind.__qualname__}: use arrays, numbers, text, dataclasses")


def _code(dtype: np.dtype[Any]) -> bytes:
    if dtype not in _CODES:
        raise TypeError(f"a state may not hold numbers of type {dtype}: use one of {', '.join(map(str, _DTYPES))}")
    return bytes([_CODES[dtype]])


def _write_array(value: np.ndarray[Any, Any], parts: list[bytes]) -> None:
    order = b"F" if value.flags.f_contiguous and not value.flags.c_contiguous else b"C"
    shape = struct.pack(f"<B{value.ndim}Q", value.ndim, *value.shape)
    parts += (b"A", order, _code(value.dtype), shape, value.tobytes(order="F" if order == b"F" else "C"))


def _write_whole(value: int, parts: list[bytes]) -> None:
    data = value.to_bytes(value.bit_length() // 8 + 1, "little", signed=True)
    parts += (b"I", _LENGTH.pack(len(data)), data)


def _write_items(tag: bytes, values: Any, parts: list[bytes]) -> None:
    parts += (tag, _LENGTH.pack(len(values)))
    for each in values:
        _write(each, parts)


_PLAIN: dict[type, Any] = {
    type(None): lambda _, parts: parts.append(b"N"),
    bool: lambda value, parts: parts.append(b"T" if value else b"F"),
    int: _write_whole,
    float: lambda value, parts: parts.extend((b"D", _FLOAT.pack(value))),
    str: lambda value, parts: parts.extend((b"S", _text(value))),
    bytes: lambda value, parts: parts.extend((b"B", _LENGTH.pack(len(value)), value)),
    np.ndarray: _write_array,
    list: lambda value, parts: _write_items(b"L", value, parts),
    tuple: lambda value, parts: _write_items(b"U", value, parts),
    set: lambda value, parts: _write_items(b"E", sorted(value), parts),
    dict: lambda value, parts: _write_items(b"M", [side for item in value.items() for side in item], parts),
}


def _read(reader: Reader, records: dict[str, type], depth: int) -> Any:
    if depth > _DEEPEST:
        raise ProtocolError(f"the state is nested more than {_DEEPEST} levels deep")
    tag = reader.take(1)
    if tag in _CONSTANT:
        return _CONSTANT[tag]
    if tag == b"A":
        return _read_array(reader)
    if tag == b"R":
        return _read_record(reader, records, depth)
    if tag == b"D":
        return reader.unpack("<d")[0]
    if tag == b"G":
        dtype = _dtype(reader)
        return reader.values(dtype, 1)[0]
    (length,) = reader.unpack("<I")
    if length > reader.left:
        raise ProtocolError(f"state cut short: {length} items or bytes expected where {reader.left} bytes are left")
    if tag in _FLAT:
        return _flat(tag, reader.take(length))
    if tag not in b"LUEM":
        raise ProtocolError(f"the state has an unknown tag {tag!r}: was it written by a newer fedbandit?")
    items = [_read(reader, records, depth + 1) for _ in range(length)]
    return _container(tag, items)


_CONSTANT = {b"N": None, b"T": True, b"F": False}
_FLAT = {b"I", b"S", b"B"}


def _flat(tag: bytes, data: bytes) -> int | str | bytes:
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
    if code >= len(_DTYPES):
        raise ProtocolError(f"the state has numbers of an unknown type {code}")
    return _DTYPES[code]


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


def _read_record(reader: Reader, records: dict[str, type], depth: int) -> Any:
    name, count = _read_text(reader), reader.unpack("<I")[0]
    if name not in records:
        raise ProtocolError(f"the state has a record {name!r}, where {', '.join(sorted(records)) or 'none'} may stand")
    kind = records[name]
    wanted = [each for each, _ in _field_names(kind)]
    values: dict[str, Any] = {}
    for _ in range(min(count, len(wanted) + 1)):
        field = _read_text(reader)
        values[field] = _read(reader, records, depth + 1)
    if count != len(wanted) or values.keys() != set(wanted):
        raise ProtocolError(f"the record {name!r} has fields {', '.join(values)}, but {', '.join(wanted)} are needed")
    return kind(**values)


def _read_text(reader: Reader) -> str:
    (length,) = reader.unpack("<I")
    return str(_flat(b"S", reader.take(length)))
