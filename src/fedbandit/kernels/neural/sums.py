"""Sums of phi phi^T of clients, as the rows phi since the last upload; long ones are added up.

Where rows are added up, they are in double precision whatever the rest is in: a rounding error of 1e-7 of the largest
entries is as large as the ridge after some thousand observations, and would show in the inverse.
"""

from __future__ import annotations

from contextlib import AbstractContextManager
from dataclasses import dataclass

import jax
import jax.numpy as jnp
import numpy as np

from fedbandit.core.arrays import Ints
from fedbandit.kernels.neural.arrays import Array
from fedbandit.kernels.neural.cohort import is_everyone


@dataclass
class Sums:
    """The sums of n clients: base + rows^T rows. Rows that are not in use are zero."""

    base: Array | None  # (n, q, q); None until anything was added up
    rows: Array | None  # (n, a power of two, q); None while there are none
    used: Ints  # (n,) rows in use
    most: int  # rows at which they are added up

    @classmethod
    def empty(cls, clients: int, most: int) -> Sums:
        """Return sums over nothing.

        >>> Sums.empty(clients=2, most=4).used
        array([0, 0])
        """
        return cls(None, None, np.zeros(clients, dtype=np.int64), most)

    def add(self, who: Ints, rows: Array) -> None:
        """Take in one row of each client of `who`, (n, 1, q)."""
        clients = len(self.used)
        if self.rows is None:
            empty = None if is_everyone(who, clients) else jnp.zeros((clients, *rows.shape[1:]), rows.dtype)
            self.rows = rows if empty is None else empty.at[who].set(rows)
        else:
            self._make_room(who)
            self.rows = _put(self.rows, who, self.used[who], rows)
        self.used[who] += 1

    def taken(self, who: Ints, size: int, dtype: np.dtype[np.floating]) -> tuple[Array | None, Array]:
        """Return base and rows of some clients, and forget them."""
        everyone = is_everyone(who, len(self.used))
        base, rows = self.base, self.rows
        if rows is None:
            rows = jnp.zeros((len(self.used), 1, size), dtype)
        self.used[who] = 0
        if everyone:
            self.base = self.rows = None
            return base, rows
        with doubly():
            self.base = None if base is None else jnp.asarray(base).at[who].set(0)
            taken = None if base is None else base[who]
        self.rows = jnp.asarray(rows).at[who].set(0)
        return taken, rows[who]

    def _make_room(self, who: Ints) -> None:
        if self.used[who].max() < self.rows.shape[1]:  # type: ignore[union-attr]
            return
        zeros = jnp.zeros_like(self.rows)
        if zeros.shape[1] < self.most:
            self.rows = jnp.concatenate([self.rows, zeros], axis=1)  # twice as long: few lengths are ever compiled
        else:
            self.base, self.rows = total(self.base, self.rows), zeros
            self.used[:] = 0


def doubly() -> AbstractContextManager[None]:
    """Return the context in which double precision is kept."""
    context: AbstractContextManager[None] = jax.enable_x64(True)
    return context


def total(base: Array | None, rows: Array) -> Array:
    """Return base + rows^T rows in double precision, for any leading axes."""
    with doubly():
        return _gram(rows) if base is None else _sum(base, rows)


def _square(rows: Array) -> Array:
    exact = rows.astype(np.float64)
    return jnp.swapaxes(exact, -1, -2) @ exact


_gram = jax.jit(_square)
_sum = jax.jit(lambda base, rows: base + _square(rows))
_put = jax.jit(lambda all_rows, who, at, rows: all_rows.at[who, at].set(rows[:, 0]))
