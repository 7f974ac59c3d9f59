"""Gradients and their matrices written out in all p_0 coordinates, and read back into those of their subspace.

With Q the p_0 x q matrix of orthonormal columns for which every gradient is Q u: vectors are Q u, sums of u u^T are
Q W Q^T, and (ridge I + Q W Q^T)^-1 = Q (ridge I + W)^-1 Q^T + (I - Q Q^T) / ridge. Diagonals repeat one value at each
copy.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import scipy

from fedbandit.core.arrays import Floats
from fedbandit.kernels.neural.network import Network

if TYPE_CHECKING:
    from fedbandit.kernels.neural.arrays import Numbers


def write_vector(network: Network, coordinates: Numbers) -> Floats:
    """Return Q u for vectors (..., q)."""
    values = np.asarray(coordinates)
    return np.asarray(values[..., network.copy_of] * network.share.astype(values.dtype))


def write_matrix(network: Network, coordinates: Numbers) -> Floats:
    """Return Q W Q^T for matrices (..., q, q), symmetric to the last bit."""
    values = np.asarray(coordinates)
    values = (values + np.swapaxes(values, -1, -2)) / 2
    share = network.share.astype(values.dtype)
    place = network.copy_of
    return np.asarray(values[..., place[:, np.newaxis], place] * (share[:, np.newaxis] * share))


def write_inverse(network: Network, ridge: float, coordinates: Numbers) -> Floats:
    """Return Q W Q^T + (I - Q Q^T) / ridge for inverses (..., q, q)."""
    values = np.asarray(coordinates)
    rest = np.eye(network.parameters) - write_matrix(network, np.eye(network.coordinates))
    return np.asarray(write_matrix(network, values) + (rest / ridge).astype(values.dtype))


def write_diagonal(network: Network, coordinates: Numbers) -> Floats:
    """Return the value of each copy for diagonals (..., q)."""
    return np.asarray(np.asarray(coordinates)[..., network.copy_of])


def read_vector(network: Network, full: Floats) -> Floats:
    """Return Q^T v for vectors (..., p_0).

    >>> from fedbandit.kernels.neural.network import symmetric_network
    >>> network = symmetric_network(inputs=2, width=4, depth=1, seed=0)
    >>> coordinates = np.arange(6.0)
    >>> bool(np.allclose(read_vector(network, write_vector(network, coordinates)), coordinates))
    True
    """
    return _times_basis(network, full)


def read_matrix(network: Network, full: Floats) -> Floats:
    """Return Q^T M Q for symmetric matrices (..., p_0, p_0): of a sum and of an inverse, the part in the subspace."""
    once = _times_basis(network, full)
    return _times_basis(network, np.swapaxes(once, -1, -2))


def read_diagonal(network: Network, full: Floats) -> Floats:
    """Return one value for each coordinate of diagonals (..., p_0)."""
    first = np.unique(network.copy_of, return_index=True)[1]
    return np.asarray(full[..., first])


def _times_basis(network: Network, full: Floats) -> Floats:
    rows = np.arange(network.parameters)
    basis = scipy.sparse.csr_array((network.share, (rows, network.copy_of)))
    flat = full.reshape(-1, network.parameters)
    product = (basis.T @ flat.T).T
    return np.asarray(product, dtype=full.dtype).reshape(*full.shape[:-1], network.coordinates)
