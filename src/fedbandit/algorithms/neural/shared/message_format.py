"""How what the neural family keeps is put into messages and read from them: whole matrices, or their diagonals."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from fedbandit.algorithms.neural.shared.compact_arrays import CompactArray, CompactGram
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

if TYPE_CHECKING:
    from fedbandit.kernels.neural.arrays import Array, Numbers
    from fedbandit.kernels.neural.grams import Gram


class FullFormat:
    """How p_0 x p_0 matrices are put into messages and read from them."""

    contribution: type[Contribution] = Contribution
    averaged: type[Consensus] = Consensus  # what is broadcast with one inverse, and with all of them
    each: type[Consensus] = Inverses

    def __init__(self, network: Network, ridge: float) -> None:
        """Take the network whose gradients they are made of."""
        self.network = network
        self.ridge = ridge

    def gram(self, gram: Gram, latest: Array | None = None) -> CompactGram:
        """Return sums of phi phi^T, for one message or for each of several clients."""
        return CompactGram(gram, self._write_gram, (*gram.diagonal.shape[:-1], *self._square()), latest)

    def inverse(self, inverse: Array) -> CompactArray:
        """Return inverses, for one message, for several clients, or several in one message."""
        return CompactArray((inverse,), self._write_inverse, (*inverse.shape[:-2], *self._square()))

    def moment(self, moment: Array) -> CompactArray:
        """Return vectors of gradients."""
        shape = (*moment.shape[:-1], self.network.parameters)
        return CompactArray((moment,), lambda each: subspace.write_vector(self.network, each), shape)

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

    def _write_gram(self, diagonal: Numbers, base: Numbers | None, rows: Numbers) -> Floats:  # noqa: ARG002
        latest = np.asarray(rows)
        gram = np.swapaxes(latest, -1, -2) @ latest
        whole = gram if base is None else gram + np.asarray(base)
        return subspace.write_matrix(self.network, whole).astype(latest.dtype)

    def _write_inverse(self, inverse: Numbers) -> Floats:
        return subspace.write_inverse(self.network, self.ridge, inverse)


class DiagonalFormat(FullFormat):
    """How diagonals are put into messages and read from them."""

    contribution = DiagonalContribution
    averaged = DiagonalConsensus
    each = DiagonalInverses

    def gram(self, gram: Gram, latest: Array | None = None) -> CompactGram:
        """Return diagonals of sums."""
        shape = (*gram.diagonal.shape[:-1], self.network.parameters)
        return CompactGram(gram, self._write_diagonal, shape, latest)

    def inverse(self, inverse: Array) -> CompactArray:
        """Return diagonals of inverses."""
        return CompactArray((inverse,), self._write_diagonal, (*inverse.shape[:-1], self.network.parameters))

    def read_gram(self, full: Floats) -> tuple[Floats, Floats | None]:
        """Return the diagonal of sums from a network."""
        return subspace.read_diagonal(self.network, full), None

    def read_inverse(self, full: Floats) -> Floats:
        """Return diagonals of inverses from a network, one value a coordinate."""
        return subspace.read_diagonal(self.network, full)

    def _write_diagonal(self, diagonal: Numbers, *_: None) -> Floats:
        return subspace.write_diagonal(self.network, diagonal)
