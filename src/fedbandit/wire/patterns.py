"""Messages whose shapes are declared look alike byte for byte, but for their values: they are read in one look.

A pattern says where the values of each field stand, and what stands between them. Bytes that differ from it anywhere
are none of its business: `wire.codec` reads them one by one, and says what is wrong with them if anything is.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from fedbandit.core.arrays import are_finite
from fedbandit.core.messages import Layout, Message, Upload
from fedbandit.wire.arrays import mirrored, pack, packed_values
from fedbandit.wire.codec import HEADERS, head_of

_READ = (Layout.DENSE, Layout.SYMMETRIC, Layout.NUMBERS)  # whose number of values the shape tells


class _Field(NamedTuple):
    name: str
    layout: Layout
    at: int  # where its values begin
    values: int  # how many of them
    shape: tuple[int, ...]


class Pattern:
    """How the bytes of one kind of upload look, with numbers of so many bytes.

    >>> from fedbandit.algorithms.linear.shared.messages import Statistics
    >>> from fedbandit.wire import encode
    >>> pattern = Pattern.of(Statistics, {"gram": (2, 2), "moment": (2,)}, bytes_each=8)
    >>> data = encode(Statistics(np.eye(2)[np.newaxis], np.ones((1, 2)), np.array([7])))
    >>> pattern.read(data).observations, pattern.read(data[:-1])
    (array([7]), None)
    """

    def __init__(self, kind: type[Upload], dtype: np.dtype[Any]) -> None:
        """Begin with what a message of a kind begins with."""
        self._kind, self._dtype = kind, dtype
        self._fields: list[_Field] = []
        self._between: list[tuple[int, int, bytes]] = [(0, len(head_of(kind.kind)), head_of(kind.kind))]
        self._size = len(head_of(kind.kind))

    @classmethod
    def of(cls, kind: type[Message], shapes: Mapping[str, tuple[int, ...] | None], bytes_each: int) -> Pattern | None:
        """Return the pattern of an upload with declared shapes; None where its bytes depend on its values."""
        arrays = kind.arrays()
        if not issubclass(kind, Upload) or not all(layout in _READ and shapes[name] for name, layout in arrays.items()):
            return None
        pattern = cls(kind, np.dtype(f"<f{bytes_each}"))
        for name, layout in kind.layout().items():
            pattern._add(name, layout, () if layout.is_header else shapes[name] or ())
        return pattern

    def _add(self, name: str, layout: Layout, shape: tuple[int, ...]) -> None:
        count = packed_values(layout, shape)
        size = struct.calcsize(HEADERS[layout]) if layout.is_header else count * self._dtype.itemsize
        if not layout.is_header:
            packed = pack(np.zeros(shape, self._dtype), layout)
            head = packed[: len(packed) - size]
            self._between.append((self._size, self._size + len(head), head))
            self._size += len(head)
        self._fields.append(_Field(name, layout, self._size, count, shape))
        self._size += size

    def read(self, data: bytes) -> Upload | None:
        """Return the upload that bytes stand for, if they are of this pattern and all values are finite."""
        if len(data) != self._size or any(data[begin:end] != each for begin, end, each in self._between):
            return None
        values: dict[str, Any] = {}
        for name, layout, at, many, shape in self._fields:
            if layout.is_header:
                (value,) = struct.unpack_from(HEADERS[layout], data, at)
                if not math.isfinite(value):
                    return None
                values[name] = np.array([value])
                continue
            flat = np.frombuffer(data, self._dtype, many, at)
            if not are_finite(flat):
                return None
            if layout is Layout.SYMMETRIC:
                values[name] = flat.reshape(*shape[:-2], -1).take(mirrored(shape[-1]), axis=-1)[np.newaxis]
            else:
                values[name] = flat.reshape(1, *shape).copy()
        return self._kind(**values)
