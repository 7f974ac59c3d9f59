"""What the server has summed up, and what follows from it for the pooled matrix; in full or by diagonals.

In full, a client's W_new is kept as the rows phi of its observations, and the server tells beside W_sync which rows
came last: a client that had the version before brings its inverse up to date by one update of their number. A client
that missed a version, or has its download from a network (where only W_sync travels), computes the inverse afresh.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp

from fedbandit.core.arrays import Ints
from fedbandit.kernels.neural.device import Device
from fedbandit.kernels.neural.matrices import Full
from fedbandit.kernels.neural.sums import Sums, doubly, total
from fedbandit.kernels.neural.tangent_features import Array

Adding = Callable[..., Any]
REFRESH = 512  # after so many rank-one updates an inverse is computed afresh
LATEST = 64  # rows that the server keeps beside its sum


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


@dataclass
class Synced:
    """The pooled matrix of the latest version that a cohort took in, alike for all its clients."""

    matrix: Array  # (1, ...) without `rows`
    version: int
    updates: int
    rows: Array | None = None  # which it lacks: the next choice takes them in, and saves a call


class DiagonalGrams:
    """Diagonals alone: sums of squares, which need nothing beside them."""

    def __init__(self, matrices: Any, device: Device) -> None:
        """Take the matrices whose sums these are."""
        self.size, self.dtype = matrices.size, device.dtype

    def nothing(self) -> Whole:
        """Return the server's sums over nothing."""
        return Whole(Gram(jnp.zeros((1, self.size), self.dtype)))

    def add(self, new: Sums, who: Ints, rows: Array) -> None:  # noqa: ARG002
        """Count an observation of each client; its diagonal is summed elsewhere."""
        new.used[who] += 1

    def take(self, new: Sums, who: Ints, diagonal: Array) -> Gram:
        """Return what clients upload."""
        new.used[who] = 0
        return Gram(diagonal)

    def merge(self, whole: Whole, parts: list[Gram], adding: Adding) -> Whole:
        """Return the server's sums with what was uploaded, in the order of clients."""
        return Whole(Gram(adding(whole.gram.diagonal, [part.diagonal for part in parts])))

    def added(self, diagonal: Array, diagonals: list[Array]) -> Array:
        """Return the sum of diagonals."""
        return diagonal + jnp.concatenate(diagonals).sum(axis=0, keepdims=True)

    def synced(self, before: Synced, gram: Gram, news: None, version: int) -> Synced:  # noqa: ARG002
        """Return the pooled matrix that follows from the server's sums."""
        return Synced(gram.diagonal, version, 0)

    def own(self, gram: Gram, new: Sums, diagonal: Array, client: int) -> Array:  # noqa: ARG002
        """Return the pooled matrix of a client that has observed more since its upload."""
        return gram.diagonal[0] + diagonal[client]


class FullGrams:
    """Whole matrices: sums, and the rows that were added last."""

    def __init__(self, matrices: Full, device: Device) -> None:
        """Take the matrices whose sums these are."""
        self.size, self.dtype = matrices.size, device.dtype
        self._inverted = device.compiled(lambda gram: matrices.invert(gram[0])[None].astype(device.dtype))

    def nothing(self) -> Whole:
        """Return the server's sums over nothing."""
        rows = jnp.zeros((1, LATEST, self.size), self.dtype)
        return Whole(Gram(jnp.zeros((1, self.size), self.dtype), None, rows))

    def add(self, new: Sums, who: Ints, rows: Array) -> None:
        """Keep the features (n, 1, q) that clients have observed."""
        new.add(who, rows)

    def take(self, new: Sums, who: Ints, diagonal: Array) -> Gram:
        """Return what clients upload; it is theirs no more."""
        return Gram(diagonal, *new.taken(who, self.size, self.dtype))

    def merge(self, whole: Whole, parts: list[Gram], adding: Adding) -> Whole:
        """Return the server's sums with what was uploaded, in the order of clients; `adding` is `added`, compiled."""
        (diagonal, base, rows), used = whole.gram, whole.used
        bases = [part.base for part in parts if part.base is not None]
        with doubly():
            for more in bases:
                base = more.sum(axis=0, keepdims=True) + (0 if base is None else base)
        arriving = sum(part.rows.shape[0] * part.rows.shape[1] for part in parts if part.rows is not None)
        if used + arriving > LATEST:
            base, rows, used = total(base, rows), jnp.zeros_like(rows), 0
        diagonal, more_rows, news = adding(
            diagonal, rows, used, [part.diagonal for part in parts], [part.rows for part in parts]
        )
        if arriving > LATEST:
            base = total(base, news[None])
        else:
            rows, used = more_rows, used + arriving
        return Whole(Gram(diagonal, base, rows), None if bases else news, used)

    def synced(self, before: Synced, gram: Gram, news: Array | None, version: int) -> Synced:
        """Return the pooled matrix that follows from the server's sums."""
        if version == before.version:
            return before
        if news is None or version != before.version + 1 or before.updates + len(news) > REFRESH:
            return Synced(self._invert(total(gram.base, gram.rows)), version, 0)
        return Synced(before.matrix, version, before.updates + len(news), news)

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

    def added(
        self, diagonal: Array, rows: Array, used: Array, diagonals: list[Array], new_rows: list[Array]
    ) -> tuple[Array, Array, Array]:
        """Return the sum of diagonals, the latest rows with the new ones among them, and the new ones."""
        news = jnp.concatenate([each.reshape(-1, self.size) for each in new_rows])
        if len(news) <= LATEST:
            rows = jax.lax.dynamic_update_slice(rows, news[None], (0, used, 0))
        return diagonal + jnp.concatenate(diagonals).sum(axis=0, keepdims=True), rows, news
