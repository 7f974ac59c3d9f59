"""The matrices V = ridge I + sum phi phi^T of tangent features, in full or by their diagonal (FN-UCB, section 3.4).

`Full` keeps inverses and adds an observation by a rank-one update (Sherman-Morrison), those of many clients by one
update of their number. Rounding errors of such updates add up, so the sums are kept beside, in double precision and
with the features of the latest observations apart; from them the inverse is computed afresh now and then.

`Diagonal` keeps the diagonal of sum phi phi^T, one value for all copies of a coordinate: sums alone, exact at any time.

A state that all clients share has a first axis of length 1. Features u are taken in the coordinates of their subspace
(`fedbandit.kernels.neural.network`), in which norms and products are those of the full gradients.
"""

from __future__ import annotations

import jax
import jax.numpy as jnp

from fedbandit.core.arrays import Ints
from fedbandit.kernels.neural.arrays import Array, Precision
from fedbandit.kernels.neural.network import Network

FEW = 8  # rows that are taken in without a loop, which would cost a GPU more than they do


class Full:
    """Whole matrices, as their inverses."""

    def __init__(self, network: Network, ridge: float) -> None:
        """Take the network whose features they are made of."""
        self.size = network.coordinates
        self.ridge = ridge

    def start(self, clients: int, dtype: Precision) -> Array:
        """Return the inverses of clients that have observed nothing."""
        return jnp.broadcast_to(jnp.eye(self.size, dtype=dtype) / self.ridge, (clients, self.size, self.size))

    def towards(self, inverses: Array, features: Array) -> Array:
        """Return V^-1 u for features (n, K, q) and inverses (n, q, q), or (1, q, q) for all."""
        if len(inverses) == 1:
            return (features.reshape(-1, self.size) @ inverses[0]).reshape(features.shape)
        return features @ inverses

    def absorb(self, inverses: Array, features: Array) -> Array:
        """Return the inverses after one observation of each client, features (n, q)."""

        def of_one(inverse: Array, feature: Array) -> Array:
            towards = inverse @ feature
            # The root of the denominator goes into both factors, which keeps the matrix symmetric to the last bit.
            towards = towards / jnp.sqrt(1.0 + feature @ towards)
            return inverse - towards[:, None] * towards[None, :]

        return jax.vmap(of_one)(inverses, features)

    def absorb_rows(self, inverse: Array, rows: Array) -> Array:
        """Return one inverse (q, q) after all the observations of rows (r, q); rows of zeros change nothing."""
        towards = rows @ inverse
        after = jnp.arange(len(rows))

        def add(place: Array, towards: Array) -> Array:  # rank-one updates, of the rows that are still to come
            now = towards[place] / jnp.sqrt(1.0 + rows[place] @ towards[place])
            less = jnp.where(after > place, rows @ now, 0)
            return (towards - less[:, None] * now[None, :]).at[place].set(now)

        towards = jax.lax.fori_loop(0, len(rows), add, towards, unroll=len(rows) <= FEW)
        return inverse - towards.T @ towards

    def invert(self, gram: Array) -> Array:
        """Return (ridge I + gram)^-1, computed afresh, in the precision of the sums."""
        identity = jnp.eye(self.size, dtype=gram.dtype)
        lower = jnp.linalg.cholesky(gram + self.ridge * identity)
        inverse = jax.scipy.linalg.cho_solve((lower, True), identity)
        return (inverse + inverse.T) / 2

    def inverse(self, inverses: Array) -> Array:
        """Return what a client sends as V^-1."""
        return inverses

    def lengths(self, sent: Array, features: Array) -> Array:
        """Return u^T V^-1 u for one sent inverse and features (..., q)."""
        flat = features.reshape(-1, self.size)
        return ((flat @ sent) * flat).sum(axis=1).reshape(features.shape[:-1])


class Diagonal:
    """Diagonals, as the sums of squares without the ridge."""

    def __init__(self, network: Network, ridge: float) -> None:
        """Take the network whose features they are made of."""
        self.size = network.coordinates
        self.ridge = ridge
        self.copies = network.copies

    def start(self, clients: int, dtype: Precision) -> Array:
        """Return the sums of clients that have observed nothing."""
        return jnp.zeros((clients, self.size), dtype)

    def towards(self, sums: Array, features: Array) -> Array:
        """Return V^-1 u for features (n, K, q)."""
        return features / (self.ridge + sums)[:, None, :]

    def absorb(self, sums: Array, features: Array) -> Array:
        """Return the sums after one observation of each client, features (n, q)."""
        return sums + squares(self.copies, features)

    def inverse(self, sums: Array) -> Array:
        """Return what a client sends as V^-1."""
        return 1.0 / (self.ridge + sums)

    def lengths(self, sent: Array, features: Array) -> Array:
        """Return u^T V^-1 u for one sent inverse and features (..., q)."""
        return (features**2 * sent).sum(axis=-1)


def squares(copies: Ints, features: Array) -> Array:
    """Return what features (..., q) add to the diagonal of the full matrix, at each copy of a coordinate."""
    return features**2 / jnp.asarray(copies, features.dtype)


def growth(copies: Ints, ridge: float, before: Array, more: Array) -> Array:
    """Return log(det diag(V + more) / det diag V), with V = ridge I + before, over all p_0 coordinates."""
    return (jnp.asarray(copies, more.dtype) * jnp.log1p(more / (ridge + before))).sum(axis=-1)
