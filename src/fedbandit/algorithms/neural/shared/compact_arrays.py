"""Arrays of messages that are written out only if somebody reads their numbers.

Matrices and vectors of gradients are kept in the coordinates of their subspace, on the device that computes with
them. A message holds them as `CompactArray`: of the shape that travels, p_0 x p_0, but written out only if somebody
reads the numbers, as the wire format does. A simulation thus counts the full messages and never makes them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Self

import numpy as np
import numpy.typing as npt

from fedbandit.core.arrays import Floats, Ints

if TYPE_CHECKING:
    from fedbandit.kernels.neural.arrays import Array, Numbers
    from fedbandit.kernels.neural.grams import Gram

    Parts = tuple[Numbers | None, ...]
    Write = Callable[..., Floats]  # makes the whole of the parts


class CompactArray:
    """An array of a message, kept in fewer numbers; NumPy gets the whole when it asks.

    >>> doubled = CompactArray((np.ones(3),), lambda part: np.repeat(part, 2, axis=-1), (6,))
    >>> doubled.shape, np.asarray(doubled)
    ((6,), array([1., 1., 1., 1., 1., 1.]))
    """

    def __init__(self, parts: Parts, write: Write, shape: tuple[int, ...]) -> None:
        """Take a tuple of arrays (or None) with the same leading axes, and what makes the whole of them."""
        self.parts = parts
        self.shape = shape
        first = next(part for part in parts if part is not None)
        self.dtype = np.dtype(first.dtype)
        self.itemsize = self.dtype.itemsize
        self.ndim = len(shape)
        self._write = write

    def __len__(self) -> int:
        """Return the length of the first axis."""
        return self.shape[0]

    def __getitem__(self, which: int | slice | Ints) -> Self:
        """Return some rows (the first axis), still not written out."""
        rows = tuple(None if part is None else np.asarray(part)[which] for part in self.parts)
        kept = np.empty(len(self))[which].shape
        return self._of(rows, self._write, (*kept, *self.shape[1:]))

    @property
    def first(self) -> Self:
        """Return the first row as the whole, for a message that has one payload; the parts keep their axes."""
        return self._of(self.parts, lambda *parts: self._write(*parts)[0], self.shape[1:])

    def __array__(self, dtype: npt.DTypeLike | None = None, copy: bool | None = None) -> Floats:
        """Write the array out."""
        whole = self._write(*self.parts)
        return whole if dtype is None else whole.astype(dtype)

    def _of(self, parts: Parts, write: Write, shape: tuple[int, ...]) -> Self:
        """Return an array of this kind with other parts."""
        return type(self)(parts, write, shape)


class CompactGram(CompactArray):
    """Sums of phi phi^T; with `latest` also the rows by which they differ from those of the version before.

    Those rows do not travel. A client in the same process brings its inverse up to date by them, to the same numbers
    up to rounding as one that has the sums from a network and computes its inverse afresh.
    """

    def __init__(self, gram: Gram, write: Write, shape: tuple[int, ...], latest: Array | None = None) -> None:
        """Take the sums as they are kept."""
        super().__init__(gram, write, shape)
        self.gram = gram
        self.latest = latest

    def _of(self, parts: Parts, write: Write, shape: tuple[int, ...]) -> Self:
        diagonal, base, rows = parts
        gram = self.gram._replace(diagonal=diagonal, base=base, rows=rows)
        return type(self)(gram, write, shape, self.latest)
