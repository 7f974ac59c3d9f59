"""What the server has summed up, and what follows from it for the pooled matrix; in full or by diagonals.

In full, a client's W_new is kept as the rows phi of its observations, and the server tells beside W_sync which rows
came last: a client that had the version before brings its inverse up to date by one update of their number. A client
that missed a version, or has its download from a network (where only W_sync travels), computes the inverse afresh.
"""

from __future__ import annotations

from typing import NamedTuple, TypeAlias

import jax
import jax.numpy as jnp

from fedbandit.core.arrays import Ints
from fedbandit.kernels.neural.arrays import Array
from fedbandit.kernels.neural.device import Device
from fedbandit.kernels.neural.matrices import Diagonal, Full
from fedbandit.kernels.neural.sums import Sums, doubly, total

REFRESH = 512  # after so many rank-one updates an inverse is computed afresh
LATEST = 64  # rows that the server keeps beside its sum
SPAN = 128  # rounds that are played at once, at most


class Gram(NamedTuple):
    """Sums of phi phi^T as base + rows^T rows, and the diagonal of the full matrix; the first axis is the client.

    The server's sums have a first axis of length 1.
    """

    diagonal: Array
    base: Array | None = None
    rows: Array | None = None  # never None where matrices are full


class Whole(NamedTuple):
    """The server's sums of one version."""

    gram: Gram
    news: Array | None = None  # the rows by which this version differs from the last, where they are known
    used: int = 0  # rows in use, the others being zero


class Synced(NamedTuple):
    """The pooled matrix of the latest version that a cohort took in, alike for all its clients."""

    matrix: Array  # (1, ...)
    version: int
    updates: int  # of rank one since it was computed afresh


class DiagonalGrams:
    """Diagonals alone: sums of squares, which need nothing beside them."""

    def __init__(self, matrices: Diagonal, device: Device) -> None:
        """Take the matrices whose sums these are."""
        self.size, self.dtype = matrices.size, device.dtype

    def nothing(self) -> Whole:
        """Return the server's sums over nothing."""
        return Whole(Gram(jnp.zeros((1, self.size), self.dtype)))

    def add(self, new: Sums, who: Ints, rows: Array) -> None:  # noqa: ARG002
        """Count an observation of each client; its diagonal is summed elsewhere."""
        new.used[who] += 1

    def no_sums(self, zeros: Array) -> Gram:
        """Return what clients upload that have nothing to tell."""
        return Gram(zeros)

    def take(self, new: Sums, who: Ints, diagonal: Array) -> Gram:
        """Return what clients upload."""
        new.used[who] = 0
        return Gram(diagonal)

    def merge(self, whole: Whole, parts: list[Gram]) -> Whole:
        """Return the server's sums with what was uploaded, in the order of clients."""
        return Whole(Gram(_added(whole.gram.diagonal, parts)))

    def synced(self, before: Synced, gram: Gram, news: None, version: int) -> Synced:  # noqa: ARG002
        """Return the pooled matrix that follows from the server's sums."""
        return Synced(gram.diagonal, version, 0)

    def rounds_left(self, updates: int, clients: int) -> int:  # noqa: ARG002
        """Return for how many rounds the pooled matrix can be updated: for any, since it is a sum."""
        return SPAN

    def afresh(self, gram: Gram) -> Array:
        """Return the pooled matrix of the server's sums: what it always is."""
        return gram.diagonal

    def summed(self, whole: Whole, diagonal: Array, features: None, slot: int) -> Whole:  # noqa: ARG002
        """Return the server's sums after rounds in which the diagonal became what it is."""
        return Whole(Gram(diagonal))

    def joined(self, pooled: Array, rows: Array, diagonal: Array) -> Array:  # noqa: ARG002
        """Return the pooled matrix (1, ...) with more rows, which make the diagonal of W_sync what it is now."""
        return diagonal

    def own(self, gram: Gram, new: Sums, diagonal: Array, client: int) -> Array:  # noqa: ARG002
        """Return the pooled matrix of a client that has observed more since its upload."""
        return gram.diagonal[0] + diagonal[client]


class FullGrams:
    """Whole matrices: sums, and the rows that were added last."""

    def __init__(self, matrices: Full, device: Device) -> None:
        """Take the matrices whose sums these are."""
        self.matrices = matrices
        self.size, self.dtype = matrices.size, device.dtype
        self._joined = device.compiled(self.joined)
        self._latest = device.compiled(_latest)
        self._inverted = device.compiled(lambda gram: matrices.invert(gram[0])[None].astype(device.dtype))

    def nothing(self) -> Whole:
        """Return the server's sums over nothing."""
        rows = jnp.zeros((1, LATEST, self.size), self.dtype)
        return Whole(Gram(jnp.zeros((1, self.size), self.dtype), None, rows))

    def add(self, new: Sums, who: Ints, rows: Array) -> None:
        """Keep the features (n, 1, q) that clients have observed."""
        new.add(who, rows)

    def no_sums(self, zeros: Array) -> Gram:
        """Return what clients upload that have nothing to tell."""
        return Gram(zeros, None, zeros[:, None])

    def take(self, new: Sums, who: Ints, diagonal: Array) -> Gram:
        """Return what clients upload; it is theirs no more."""
        return Gram(diagonal, *new.taken(who, self.size, self.dtype))

    def merge(self, whole: Whole, parts: list[Gram]) -> Whole:
        """Return the server's sums with what was uploaded, in the order of clients."""
        (diagonal, base, rows), used = whole.gram, whole.used
        bases = [part.base for part in parts if part.base is not None]
        with doubly():
            for more in bases:
                base = jnp.asarray(more).sum(axis=0, keepdims=True) + (0 if base is None else base)
        news = jnp.concatenate([part.rows.reshape(-1, self.size) for part in parts])  # type: ignore[union-attr]
        if used + len(news) > LATEST:
            base, rows, used = total(base, rows), jnp.zeros_like(rows), 0
        if len(news) > LATEST:
            base = total(base, news[None])
        else:
            rows, used = jax.lax.dynamic_update_slice(rows, news[None], (0, used, 0)), used + len(news)
        return Whole(Gram(_added(diagonal, parts), base, rows), None if bases else news, used)

    def synced(self, before: Synced, gram: Gram, news: Array | None, version: int) -> Synced:
        """Return the pooled matrix that follows from the server's sums."""
        if news is not None and version == before.version:  # others of the cohort have had it
            return before
        if news is None or version != before.version + 1 or before.updates + len(news) > REFRESH:
            return Synced(self.afresh(gram), version, 0)
        return Synced(self._joined(before.matrix, news, gram.diagonal), version, before.updates + len(news))

    def rounds_left(self, updates: int, clients: int) -> int:
        """Return for how many rounds the pooled inverse can be updated, after so many updates of rank one."""
        return (REFRESH - updates) // clients

    def summed(self, whole: Whole, diagonal: Array, features: Array, slot: int) -> Whole:
        """Return the server's sums with features (clients, REFRESH, q), of which SPAN rows at most from `slot` on."""
        base = None if whole.gram.base is None and not whole.used else total(whole.gram.base, whole.gram.rows)
        rows = jnp.zeros((1, LATEST, self.size), self.dtype)
        return Whole(Gram(diagonal, total(base, self._latest(features, slot)), rows))

    def joined(self, pooled: Array, rows: Array, diagonal: Array) -> Array:  # noqa: ARG002
        """Return the pooled inverse (1, q, q) with more rows in its sums."""
        return self.matrices.absorb_rows(pooled[0], rows)[None]

    def afresh(self, gram: Gram) -> Array:
        """Return the pooled inverse (1, q, q) of the server's sums, computed afresh."""
        return self._invert(total(gram.base, gram.rows))

    def own(self, gram: Gram, new: Sums, diagonal: Array, client: int) -> Array:  # noqa: ARG002
        """Return the pooled matrix of a client that has observed more since its upload."""
        one = slice(client, client + 1)
        with doubly():
            base = None if new.base is None else new.base[one]
            latest = total(base, new.rows[one])  # type: ignore[index]
            return self._invert(total(gram.base, gram.rows) + latest)[0]

    def _invert(self, gram: Array) -> Array:
        with doubly():
            return self._inverted(gram)


Grams: TypeAlias = DiagonalGrams | FullGrams


def _added(diagonal: Array, parts: list[Gram]) -> Array:
    return diagonal + jnp.concatenate([part.diagonal for part in parts]).sum(axis=0, keepdims=True)


def _latest(features: Array, slot: Array) -> Array:
    """Return the rows from `slot` on of all clients, SPAN of each, as rows of one matrix (1, ...)."""
    start = jnp.minimum(slot, features.shape[1] - SPAN)
    rows = jax.lax.dynamic_slice_in_dim(features, start, SPAN, axis=1)
    known = (start + jnp.arange(SPAN) >= slot)[:, None]
    return jnp.where(known, rows, 0).reshape(1, -1, features.shape[2])
