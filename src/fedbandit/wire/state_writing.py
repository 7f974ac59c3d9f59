"""The writing half of `wire.state`: a value as a tag and what the tag calls for."""

from __future__ import annotations

import struct
from functools import cache
from typing import Any

import numpy as np

from fedbandit.wire.records import is_record, layout

DTYPES = tuple(np.dtype(name) for name in ("?", "<i8", "<f8", "<f4", "<i4", "<u8", "<u4", "<i2", "<u2", "i1", "u1"))
_CODES = {dtype: code for code, dtype in enumerate(DTYPES)}
LENGTH = struct.Struct("<I")
_FLOAT = struct.Struct("<d")


@cache
def _record_parts(kind: type) -> tuple[bytes, tuple[tuple[str, bytes], ...]]:
    """Return what the bytes of every record of a type begin with, and its fields with their names in bytes."""
    names = layout(kind).names
    return _text(kind.__qualname__) + LENGTH.pack(len(names)), tuple((name, _text(name)) for name in names)


def _text(text: str) -> bytes:
    data = text.encode()
    return LENGTH.pack(len(data)) + data


class _Written(tuple[bytes, ...]):
    """The parts of a value that was written before."""

    __slots__ = ()


def written(value: Any) -> Any:
    """Return what can be written in the place of a value, as it is now, when the value itself has changed."""
    parts: list[bytes] = []
    write_value(value, parts)
    return _Written(parts)


def write_value(value: Any, parts: list[bytes]) -> None:
    """Add the bytes of a value to some parts."""
    kind: Any = type(value)
    plain = _PLAIN.get(kind)
    if plain is not None:
        plain(value, parts)
    elif isinstance(value, np.generic):
        parts += (b"G", _code(value.dtype), value.tobytes())
    elif is_record(kind):
        head, named = _record_parts(kind)
        parts += (b"R", head)
        for name, packed in named:
            parts.append(packed)
            write_value(getattr(value, name), parts)
    elif hasattr(kind, "__array__"):
        _write_array(np.asarray(value), parts)
    else:
        raise TypeError(f"a state may not hold a {kind.__qualname__}: use arrays, numbers, text, dataclasses")


def _code(dtype: np.dtype[Any]) -> bytes:
    if dtype not in _CODES:
        raise TypeError(f"a state may not hold numbers of type {dtype}: use one of {', '.join(map(str, DTYPES))}")
    return bytes([_CODES[dtype]])


def _write_array(value: np.ndarray[Any, Any], parts: list[bytes]) -> None:
    order = b"F" if value.flags.f_contiguous and not value.flags.c_contiguous else b"C"
    shape = struct.pack(f"<B{value.ndim}Q", value.ndim, *value.shape)
    parts += (b"A", order, _code(value.dtype), shape, value.tobytes(order="F" if order == b"F" else "C"))


def _write_whole(value: int, parts: list[bytes]) -> None:
    data = value.to_bytes(value.bit_length() // 8 + 1, "little", signed=True)
    parts += (b"I", LENGTH.pack(len(data)), data)


def _write_items(tag: bytes, values: Any, parts: list[bytes]) -> None:
    parts += (tag, LENGTH.pack(len(values)))
    for each in values:
        write_value(each, parts)


_PLAIN: dict[type, Any] = {
    type(None): lambda _, parts: parts.append(b"N"),
    bool: lambda value, parts: parts.append(b"T" if value else b"F"),
    int: _write_whole,
    float: lambda value, parts: parts.extend((b"D", _FLOAT.pack(value))),
    str: lambda value, parts: parts.extend((b"S", _text(value))),
    bytes: lambda value, parts: parts.extend((b"B", LENGTH.pack(len(value)), value)),
    _Written: lambda value, parts: parts.extend(value),
    np.ndarray: _write_array,
    list: lambda value, parts: _write_items(b"L", value, parts),
    tuple: lambda value, parts: _write_items(b"U", value, parts),
    set: lambda value, parts: _write_items(b"E", sorted(value), parts),
    dict: lambda value, parts: _write_items(b"M", [side for item in value.items() for side in item], parts),
}
