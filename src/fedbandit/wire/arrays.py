"""The wire format of one array of a message: how it is packed, taken apart, and how many bytes that makes.

    form u8 | dtype u8 | dimensions u8 | each dimension u32 | values

The form is DENSE (all values), SYMMETRIC (of the last two axes the upper triangle with the diagonal, row by row), or
PAIRS (u32 count, u32 flat positions, values), which an array declared sparse takes where that is smaller. A factor is a
square matrix with rows of zeros at its end, and says only what that leaves open:

    FACTOR u8 | dtype u8 | size u32 | rows u32 | of so many rows the values from the diagonal on

Development versions before 0.2.0 wrote it as LONG_FACTOR: with both dimensions, and the rows after them. Words and
bytes are dense, each with a dtype of its own, which no other layout may have.
"""

from __future__ import annotations

import math
import struct
from functools import lru_cache
from typing import Any

import numpy as np

from fedbandit.core.arrays import Floats, Ints, are_finite
from fedbandit.core.errors import ProtocolError
from fedbandit.core.messages import Layout
from fedbandit.wire.reader import Reader

_DENSE, _SYMMETRIC, _PAIRS, _LONG_FACTOR, _FACTOR = 0, 1, 2, 3, 4
_FORMS = {
    Layout.DENSE: (_DENSE,), Layout.SYMMETRIC: (_SYMMETRIC,), Layout.SPARSE: (_DENSE, _PAIRS),
    Layout.FACTOR: (_FACTOR, _LONG_FACTOR), Layout.NUMBERS: (_DENSE,), Layout.WORDS: (_DENSE,), Layout.BYTES: (_DENSE,),
}  # fmt: skip
_DTYPES = (np.dtype("<f8"), np.dtype("<f4"), np.dtype("<f2"), np.dtype("<u8"), np.dtype("u1"))
_FLOATS = range(3)  # the codes of those that are numbers
_CODES = {Layout.WORDS: range(3, 4), Layout.BYTES: range(4, 5)}  # where it is not these
_ITEMSIZE = {"f": 4, "e": 2}
_FACTOR_HEAD = struct.Struct("<BBII")


def pack(value: Floats, layout: Layout) -> bytes:
    """Return the bytes of an array."""
    value = value.astype(_dtype(value, layout), order="C", copy=False)
    if layout is Layout.FACTOR:
        return _packed_factor(value)
    form, body = _DENSE, value
    if layout is Layout.SYMMETRIC:
        rows, columns = _upper(value.shape[-1])
        form, body = _SYMMETRIC, value[..., rows, columns]
    data = body.tobytes()
    if layout is Layout.SPARSE and saved_by_pairs(value, 1):
        places = np.flatnonzero(value).astype("<u4")
        data = struct.pack("<I", len(places)) + places.tobytes() + value.ravel()[places].tobytes()
        form = _PAIRS
    head = struct.pack(f"<BBB{value.ndim}I", form, _DTYPES.index(value.dtype), value.ndim, *value.shape)
    return head + data


def _dtype(value: Any, layout: Layout) -> np.dtype[Any]:
    if layout in _CODES:
        return _DTYPES[_CODES[layout][0]]
    return np.dtype(f"<f{itemsize(value.dtype)}")


def _packed_factor(value: Floats) -> bytes:
    size, rank = len(value), int(ranks(value))
    head = _FACTOR_HEAD.pack(_FACTOR, _DTYPES.index(value.dtype), size, rank)
    return head + value[trapezoid(rank, size)].tobytes()


def unpack(reader: Reader, layout: Layout, name: str, most_values: int) -> Floats:
    """Return the next array, of the layout that is declared for a field; nothing is trusted."""
    form, code = reader.unpack("<BB")
    dimensions = 1 if form == _FACTOR else reader.unpack("<B")[0]
    if form not in _FORMS[layout] or code not in _CODES.get(layout, _FLOATS) or dimensions > 8:
        raise ProtocolError(f"field {name!r} has an unknown form, type or number of dimensions")
    shape = reader.unpack(f"<{dimensions}I") * (2 if form == _FACTOR else 1)
    claimed = math.prod(max(1, each) for each in shape)  # even no matrices have sides, which cost memory
    if claimed > most_values:
        raise ProtocolError(f"field {name!r} claims {claimed} values: the limit is {most_values}")
    return _TAKEN[form](reader, _DTYPES[code], shape, name)


def packed_bytes(layout: Layout, shape: tuple[int, ...], bytes_each: int) -> int:
    """Return the bytes of an array of a shape, nothing of it as pairs, and all rows of a factor."""
    if layout is Layout.FACTOR:
        return _FACTOR_HEAD.size + bytes_each * _triangle(shape)
    bytes_each = _dtype(None, layout).itemsize if layout in _CODES else bytes_each
    return 3 + 4 * len(shape) + bytes_each * packed_values(layout, shape)


def packed_values(layout: Layout, shape: tuple[int, ...]) -> int:
    """Return how many values of an array of a shape travel, where that does not depend on them."""
    return _triangle(shape) if layout is Layout.SYMMETRIC else math.prod(shape)


def saved_by_pairs(value: Floats, rows: int) -> int:
    """Return the bytes that index-value pairs save over all rows, each row taking what is smaller."""
    flat = value.reshape(rows, math.prod(value.shape) // rows)
    pairs = 4 + np.count_nonzero(flat, axis=1) * (4 + itemsize(value.dtype))
    return int(np.maximum(0, flat.shape[1] * itemsize(value.dtype) - pairs).sum())


def saved_by_rank(value: Floats) -> int:
    """Return the bytes that rows of zeros at the end of factors save."""
    absent = value.shape[-1] - ranks(value)
    return int(itemsize(value.dtype) * (absent * (absent + 1) // 2).sum())


def ranks(value: Floats) -> Ints:
    """Return the number of the last row that is not zero, of each matrix.

    >>> ranks(np.diag([1.0, 2.0, 0.0]))
    array(2)
    """
    rows = value.shape[-2]
    return np.asarray((value.any(axis=-1) * np.arange(1, rows + 1)).max(axis=-1, initial=0))


def itemsize(dtype: np.dtype[Any]) -> int:
    """Return the bytes of one value on the wire: there are half and single precision, all else travels as double."""
    return _ITEMSIZE.get(dtype.char, 8)


def _triangle(shape: tuple[int, ...]) -> int:
    size = shape[-1]
    return math.prod(shape[:-2]) * size * (size + 1) // 2


@lru_cache(maxsize=16)
def _upper(size: int) -> tuple[Ints, Ints]:
    return np.triu_indices(size)


@lru_cache(maxsize=256)
def trapezoid(rank: int, size: int) -> tuple[Ints, Ints]:
    """Return rows and columns of the values of a factor that travel."""
    return np.triu_indices(rank, 0, size)


@lru_cache(maxsize=16)
def mirrored(size: int) -> Ints:
    """Return where in its packed triangle each entry of a symmetric matrix stands."""
    place = np.empty((size, size), dtype=np.int64)
    rows, columns = _upper(size)
    place[rows, columns] = place[columns, rows] = np.arange(rows.size)
    return place


def _values(reader: Reader, dtype: np.dtype[Any], count: int, name: str) -> Floats:
    taken = reader.values(dtype, count)
    if not are_finite(taken):
        raise ProtocolError(f"field {name!r} has values that are not finite")
    return taken


def _dense(reader: Reader, dtype: np.dtype[Any], shape: tuple[int, ...], name: str) -> Floats:
    return _values(reader, dtype, math.prod(shape), name).reshape(shape).copy()


def _require_square(shape: tuple[int, ...], name: str, noun: str) -> None:
    if len(shape) < 2 or shape[-1] != shape[-2]:
        raise ProtocolError(f"field {name!r} is {noun} and must be square, not of shape {shape}")


def _symmetric(reader: Reader, dtype: np.dtype[Any], shape: tuple[int, ...], name: str) -> Floats:
    _require_square(shape, name, "symmetric")
    packed = _values(reader, dtype, _triangle(shape), name)  # before anything is made of the size that is claimed
    place = mirrored(shape[-1])
    return packed.reshape(*shape[:-2], -1).take(place, axis=-1) if packed.size else np.empty(shape, dtype)


def _factor(reader: Reader, dtype: np.dtype[Any], shape: tuple[int, ...], name: str) -> Floats:
    _require_square(shape, name, "a factor")
    (rank,) = reader.unpack("<I")
    if len(shape) != 2 or rank > shape[-1]:
        raise ProtocolError(f"field {name!r} is a factor of {rank} rows in the shape {shape}")
    size = shape[-1]
    packed = _values(reader, dtype, rank * size - rank * (rank - 1) // 2, name)
    value = np.zeros(shape, dtype)
    value[trapezoid(rank, size)] = packed
    return value


def _pairs(reader: Reader, dtype: np.dtype[Any], shape: tuple[int, ...], name: str) -> Floats:
    (given,) = reader.unpack("<I")
    places = np.frombuffer(reader.take(4 * given), dtype="<u4")
    if given and (int(places[-1]) >= math.prod(shape) or (np.diff(places.astype(np.int64)) <= 0).any()):
        raise ProtocolError(f"field {name!r} has index-value pairs that are out of order or out of range")
    values = _values(reader, dtype, given, name)
    value = np.zeros(math.prod(shape), dtype)
    value[places] = values
    return value.reshape(shape)


_TAKEN = {_DENSE: _dense, _SYMMETRIC: _symmetric, _PAIRS: _pairs, _FACTOR: _factor, _LONG_FACTOR: _factor}
