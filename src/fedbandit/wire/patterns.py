"""Uploads of one kind and one length look alike byte for byte, but for their values: they are read in one look.

A pattern is made of an upload that `wire.codec` has read: where the values of each field stand, and what stands between
them. Bytes that differ from it anywhere are none of its business: the codec reads them one by one, and says what is
wrong with them if anything is.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from fedbandit.core.arrays import Floats, Ints, are_finite
from fedbandit.core.messages import Layout, Message, Upload
from fedbandit.wire.arrays import mirrored, pack, packed_values, ranks, trapezoid
from fedbandit.wire.codec import encode, head_of

_HEADERS = {Layout.HEADER: np.dtype("<i8"), Layout.NUMBER: np.dtype("<f8")}  # as `codec.HEADERS` has them
_READ = (Layout.DENSE, Layout.SYMMETRIC, Layout.NUMBERS, Layout.FACTOR)  # whose bytes say where values stand


class _Field(NamedTuple):
    name: str
    layout: Layout
    at: int  # where its values begin
    values: int  # how many of them
    dtype: np.dtype[Any]
    shape: tuple[int, ...]
    places: Ints | None  # of the values of a factor in all of it, or in the values of each entry of a symmetric matrix


class Pattern:
    """How the bytes of uploads look that are like one that was read.

    >>> from fedbandit.algorithms.linear.shared.messages import Statistics
    >>> from fedbandit.wire import encode
    >>> message = Statistics(np.eye(2)[np.newaxis], np.ones((1, 2)), np.array([7]))
    >>> pattern = Pattern.of(message, encode(message))
    >>> pattern.read([encode(message)] * 2).observations, pattern.read([encode(message)[:-1]])
    (array([7, 7]), None)
    """

    def __init__(self, kind: type[Upload]) -> None:
        """Begin with what a message of a kind begins with."""
        self._kind = kind
        self._fields: list[_Field] = []
        self._between: list[tuple[int, int, bytes]] = [(0, len(head_of(kind.kind)), head_of(kind.kind))]
        self._size = len(head_of(kind.kind))

    @classmethod
    def of(cls, message: Message, data: bytes) -> Pattern | None:
        """Return the pattern of an upload that was read; None where bytes do not say where values stand."""
        if not isinstance(message, Upload) or not all(layout in _READ for layout in message.arrays().values()):
            return None
        if encode(message) != data:  # there are other ways to write it, which are rare
            return None
        pattern = cls(type(message))
        for name, layout in message.layout().items():
            pattern._add(name, layout, getattr(message, name)[0])
        return pattern

    def _add(self, name: str, layout: Layout, value: Floats) -> None:
        if layout.is_header:
            dtype = _HEADERS[layout]
            self._fields.append(_Field(name, layout, self._size, 1, dtype, (), None))
            self._size += dtype.itemsize
            return
        places, count = None, packed_values(layout, value.shape)
        if layout is Layout.SYMMETRIC:
            places = mirrored(value.shape[-1])
        elif layout is Layout.FACTOR:
            places = np.ravel_multi_index(trapezoid(int(ranks(value)), len(value)), value.shape)
            count = places.size
        packed = pack(value, layout)
        head = packed[: len(packed) - count * value.itemsize]
        self._between.append((self._size, self._size + len(head), head))
        self._fields.append(_Field(name, layout, self._size + len(head), count, value.dtype, value.shape, places))
        self._size += len(packed)

    def read(self, data: Sequence[bytes]) -> Upload | None:
        """Return the uploads that bytes stand for, if all are of this pattern and all values are finite."""
        if any(len(each) != self._size for each in data):
            return None
        table = np.frombuffer(b"".join(data), np.uint8).reshape(len(data), self._size)
        first = data[0]
        if any(first[begin:end] != each for begin, end, each in self._between):
            return None
        if len(data) > 1 and any((table[:, begin:end] != table[0, begin:end]).any() for begin, end, _ in self._between):
            return None
        values: dict[str, Any] = {}
        for name, layout, at, many, dtype, shape, places in self._fields:
            flat = table[:, at : at + many * dtype.itemsize].copy().view(dtype)
            if not are_finite(flat):
                return None
            if layout.is_header:
                values[name] = flat.reshape(len(data))
            elif places is None:
                values[name] = flat.reshape(len(data), *shape)
            elif layout is Layout.SYMMETRIC:
                values[name] = flat.reshape(len(data), *shape[:-2], -1).take(places, axis=-1)
            else:
                values[name] = np.zeros((len(data), *shape), dtype)
                values[name].reshape(len(data), -1)[:, places] = flat
        return self._kind(**values)
