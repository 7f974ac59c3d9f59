"""Taking bytes apart from the front, without trusting them."""

from __future__ import annotations

import struct
from typing import Any

import numpy as np

from fedbandit.core.errors import ProtocolError


class Reader:
    """Takes bytes from the front and refuses to run past the end.

    >>> reader = Reader(b"\\x07\\x00rest", "note")
    >>> reader.unpack("<H"), reader.left
    ((7,), 4)
    >>> reader.take(5)
    Traceback (most recent call last):
    ...
    fedbandit.core.errors.ProtocolError: note cut short: 5 more bytes expected at byte 2
    """

    def __init__(self, data: bytes, noun: str = "message") -> None:
        """Begin at the front; `noun` names the whole in errors."""
        self._data = memoryview(data)
        self._at = 0
        self._noun = noun

    @property
    def left(self) -> int:
        """Return how many bytes have not been taken."""
        return len(self._data) - self._at

    def take(self, count: int) -> bytes:
        """Return the next bytes."""
        if self._at + count > len(self._data):
            raise ProtocolError(f"{self._noun} cut short: {count} more bytes expected at byte {self._at}")
        self._at += count
        return bytes(self._data[self._at - count : self._at])

    def unpack(self, form: str) -> tuple[Any, ...]:
        """Return the next numbers, by a format of `struct`."""
        return struct.unpack(form, self.take(struct.calcsize(form)))

    def values(self, dtype: np.dtype[Any], count: int) -> np.ndarray[Any, Any]:
        """Return the next numbers as a flat array, which cannot be written to."""
        return np.frombuffer(self.take(count * dtype.itemsize), dtype=dtype, count=count)

    def finish(self) -> None:
        """Refuse bytes that nobody took."""
        if self.left:
            raise ProtocolError(f"{self._noun} has {self.left} bytes after its end")
