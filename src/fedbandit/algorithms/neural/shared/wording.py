"""How what the neural family keeps is put into messages and read from them.

Matrices and vectors of gradients are kept in the coordinates of their subspace, on the device that computes with
them. A message holds them as `WrittenOut`: of the shape that travels, p_0 x p_0, but written out only if somebody reads
the numbers, as the wire format does. A simulation thus counts the full messages and never makes them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from fedbandit.algorithms.neural.shared.messages import (
    Consensus,
    Contribution,
    DiagonalConsensus,
    DiagonalContribution,
    DiagonalInverses,
    Inverses,
)
from fedbandit.core.arrays import Floats
from fedbandit.kernels.neural import subspace
from fedbandit.kernels.neural.network import Network


class WrittenOut:
    """An array of a message, kept in fewer numbers; NumPy gets the whole when it asks.

    >>> doubled = WrittenOut((np.ones(3),), lambda part: np.repeat(part, 2, axis=-1), (6,))
    >>> doubled.shape, np.asarray(doubled)
    ((6,), array([1., 1., 1., 1., 1., 1.]))
    """

    def __init__(self, parts: Any, write: Callable[..., Floats], shape: tuple[int, ...], beside: Any = None) -> None:
        """Take a tuple of arrays (or None) with the same leading axes, and what makes the whole of them.

        `beside` is anything that helps a reader in the same process; it does not travel.
        """
        self.parts = parts
        self.beside = beside
        self.shape = shape
        first = next(part for part in parts if part is not None)
        self.dtype = np.dtype(first.dtype)
        self.itemsize = self.dtype.itemsize
        self.ndim = len(shape)
        self._write = write

    def __len__(self) -> int:
        """Return the length of the first axis."""
        return self.shape[0]

    def __getitem__(self, which: Any) -> WrittenOut:
        """Return some rows (the first axis), still not written out."""
        rows = [None if part is None else np.asarray(part)[which] for part in self.parts]
        kept = np.empty(len(self))[which].shape
        parts = type(self.parts)(*rows) if hasattr(self.parts, "_fields") else tuple(rows)
        return WrittenOut(parts, self._write, (*kept, *self.shape[1:]))

    @property
    def first(self) -> WrittenOut:
        """Return the first row as the whole, for a message that has one payload; the parts keep their axes."""
        return WrittenOut(self.parts, lambda *parts: self._write(*parts)[0], self.shape[1:], self.beside)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Floats:
        """Write the array out."""
        whole = self._write(*self.parts)
        return whole if dtype is None else whole.astype(dtype)


class FullWording:
    """How p_0 x p_0 matrices are put into messages and read from them."""

    contribution: type[Contribution] = Contribution
    averaged: type[Consensus] = Consensus  # what is broadcast with one inverse, and with all of them
    each: type[Consensus] = Inverses

    def __init__(self, network: Network, ridge: float) -> None:
        """Take the network whose gradients they are made of."""
        self.network = network
        self.ridge = ridge

    def gram(self, gram: Any, beside: Any = None) -> WrittenOut:
        """Return sums of phi phi^T, for one message or for each of several clients."""
        return WrittenOut(gram, self._write_gram, (*gram.rows.shape[:-2], *self._square()), beside)

    def inverse(self, inverse: Any) -> WrittenOut:
        """Return inverses, for one message, for several clients, or several in one message."""
        return WrittenOut((inverse,), self._write_inverse, (*inverse.shape[:-2], *self._square()))

    def moment(self, moment: Any) -> WrittenOut:
        """Return vectors of gradients."""
        shape = (*moment.shape[:-1], self.network.parameters)
        return WrittenOut((moment,), lambda each: subspace.write_vector(self.network, each), shape)

    def read_gram(self, full: Floats) -> tuple[Floats, Floats | None]:
        """Return the diagonal, and the matrix in the coordinates of the subspace, of sums from a network."""
        diagonal = np.diagonal(full, axis1=-2, axis2=-1)
        return subspace.read_diagonal(self.network, diagonal), subspace.read_matrix(self.network, full)

    def read_inverse(self, full: Floats) -> Floats:
        """Return inverses from a network in the coordinates of the subspace."""
        return subspace.read_matrix(self.network, full)

    def read_moment(self, full: Floats) -> Floats:
        """Return vectors from a network in the coordinates of the subspace."""
        return subspace.read_vector(self.network, full)

    def _square(self) -> tuple[int, int]:
        return self.network.parameters, self.network.parameters

    def _write_gram(self, diagonal: Any, base: Any, rows: Any) -> Floats:  # noqa: ARG002
        latest = np.asarray(rows)
        gram = np.swapaxes(latest, -1, -2) @ latest
        whole = gram if base is None else gram + np.asarray(base)
        return subspace.write_matrix(self.network, whole).astype(latest.dtype)

    def _write_inverse(self, inverse: Any) -> Floats:
        return subspace.write_inverse(self.network, self.ridge, inverse)


class DiagonalWording(FullWording):
    """How diagonals are put into messages and read from them."""

    contribution = DiagonalContribution
    averaged = DiagonalConsensus
    each = DiagonalInverses

    def gram(self, gram: Any, beside: Any = None) -> WrittenOut:
        """Return diagonals of sums."""
        shape = (*gram.diagonal.shape[:-1], self.network.parameters)
        return WrittenOut(gram, self._write_diagonal, shape, beside)

    def inverse(self, inverse: Any) -> WrittenOut:
        """Return diagonals of inverses."""
        return WrittenOut((inverse,), self._write_diagonal, (*inverse.shape[:-1], self.network.parameters))

    def read_gram(self, full: Floats) -> tuple[Floats, Floats | None]:
        """Return the diagonal of sums from a network."""
        return subspace.read_diagonal(self.network, full), None

    def read_inverse(self, full: Floats) -> Floats:
        """Return diagonals of inverses from a network, one value a coordinate."""
        return subspace.read_diagonal(self.network, full)

    def _write_diagonal(self, diagonal: Any, *_: None) -> Floats:
        return subspace.write_diagonal(self.network, diagonal)
