"""What clients have not yet uploaded, what the server has summed up, and what follows from it for the pooled matrix.

In full, W_new is kept as the rows phi of its observations, and the server tells beside W_sync which rows came last: a
client that had the version before brings its inverse up to date by one update of their number. A client that missed
a version, or has its download from a network (where only W_sync travels), computes the inverse afresh.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp

from fedbandit.core.arrays import Ints
from fedbandit.kernels.neural.matrices import Full
from fedbandit.kernels.neural.sums import Sums, total
from fedbandit.kernels.neural.tangent_features import Array

REFRESH = 512  # after so many rank-one updates an inverse is computed afresh
LATEST = 64  # rows that the server keeps beside its sum


class Gram(NamedTuple):
    """Sums of phi phi^T as base + rows^T rows, and the diagonal of the full matrix."""

    diagonal: Array
    base: Array | None = None
    rows: Array | None = None  # never None where matrices are full


class Whole(NamedTuple):
    """The server's sums of one version."""

    gram: Gram
    news: Array | None = None  # the rows by which this version differs from the last, where they are known
    used: int = 0  # rows in use, the others being zero


@dataclass
class Synced:
    """The pooled matrix of the latest version that a cohort took in, alike for all its clients."""

    matrix: Array  # (1, ...)
    version: int
    updates: int


class DiagonalGrams:
    """Diagonals alone: sums of squares, which need nothing beside them."""

    def __init__(self, matrices: Any, dtype: Any) -> None:
        """Take the matrices whose sums these are."""
        self.size, self.dtype = matrices.size, dtype

    def nothing(self) -> Whole:
        """Return the server's sums over nothing."""
        return Whole(Gram(jnp.zeros(self.size, self.dtype)))

    def start(self, clients: int) -> None:  # noqa: ARG002
        """Return what is kept of observations besides their diagonal: nothing."""

    def add(self, new: None, who: Ints, seen: Array) -> None:
        """Keep nothing of an observation besides its diagonal."""

    def take(self, new: None, who: Ints, diagonal: Array) -> Gram:  # noqa: ARG002
        """Return what clients upload."""
        return Gram(diagonal)

    def merge(self, whole: Whole, parts: list[Gram]) -> Whole:
        """Return the server's sums with what was uploaded, in the order of clients."""
        return Whole(Gram(whole.gram.diagonal + _diagonal(parts)))

    def synced(self, before: Synced, gram: Gram, news: None, version: int) -> Synced:  # noqa: ARG002
        """Return the pooled matrix that follows from the server's sums."""
        return Synced(gram.diagonal[None], version, 0)

    def own(self, gram: Gram, new: None, diagonal: Array, client: int) -> Array:  # noqa: ARG002
        """Return the pooled matrix of a client that has observed more since its upload."""
        return gram.diagonal + diagonal[client]


class FullGrams:
    """Whole matrices: sums, and the rows that were added last."""

    def __init__(self, matrices: Full, dtype: Any) -> None:
        """Take the matrices whose sums these are."""
        self.matrices = matrices
        self.dtype = dtype
        self._absorb = jax.jit(lambda inverse, rows: matrices.absorb_rows(inverse[0], rows)[None])
        self._invert = jax.jit(lambda gram: matrices.invert(gram)[None])

    def nothing(self) -> Whole:
        """Return the server's sums over nothing."""
        size = self.matrices.size
        return Whole(Gram(jnp.zeros(size, self.dtype), None, jnp.zeros((LATEST, size), self.dtype)))

    def start(self, clients: int) -> Sums:
        """Return what is kept of observations besides their diagonal."""
        return Sums.empty(clients, self.matrices.size, REFRESH, self.dtype)

    def add(self, new: Sums, who: Ints, seen: Array) -> None:
        """Keep an observation of each client."""
        new.add(who, seen)

    def take(self, new: Sums, who: Ints, diagonal: Array) -> Gram:
        """Return what clients upload; it is theirs no more."""
        return Gram(diagonal, *new.taken(who))

    def merge(self, whole: Whole, parts: list[Gram]) -> Whole:
        """Return the server's sums with what was uploaded, in the order of clients."""
        news = jnp.concatenate([_flat(part.rows) for part in parts])
        bases = [part.base.sum(axis=0) for part in parts if part.base is not None]
        (diagonal, base, rows), used = whole.gram, whole.used
        for more in bases:
            base = more if base is None else base + more
        if used + len(news) > LATEST:
            base, rows, used = total(base, rows), jnp.zeros_like(rows), 0
        if len(news) > LATEST:
            base = total(base, news)
        else:
            rows, used = _extended(rows, news, used), used + len(news)
        return Whole(Gram(diagonal + _diagonal(parts), base, rows), None if bases else news, used)

    def synced(self, before: Synced, gram: Gram, news: Array | None, version: int) -> Synced:
        """Return the pooled matrix that follows from the server's sums."""
        if version == before.version:
            return before
        if news is None or version != before.version + 1 or before.updates + len(news) > REFRESH:
            return Synced(self._invert(total(gram.base, gram.rows)), version, 0)
        return Synced(self._absorb(before.matrix, news), version, before.updates + len(news))

    def own(self, gram: Gram, new: Sums, diagonal: Array, client: int) -> Array:  # noqa: ARG002
        """Return the pooled matrix of a client that has observed more since its upload."""
        base = None if new.base is None else new.base[client]
        return self._invert(total(gram.base, gram.rows) + total(base, new.rows[client]))[0]


_extended = jax.jit(lambda rows, news, at: jax.lax.dynamic_update_slice(rows, news, (at, 0)))


def _diagonal(parts: list[Gram]) -> Array:
    return jnp.concatenate([part.diagonal for part in parts]).sum(axis=0)


def _flat(rows: Array) -> Array:
    return rows.reshape(-1, rows.shape[-1])

