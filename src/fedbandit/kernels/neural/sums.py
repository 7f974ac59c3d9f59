"""Sums of phi phi^T: most of them added up, the latest as rows, so that one more costs a row and not a matrix."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from fedbandit.core.arrays import Ints
from fedbandit.kernels.neural.cohort import is_everyone
from fedbandit.kernels.neural.tangent_features import Array


@dataclass
class Sums:
    """The sums of n clients: base + rows^T rows. Rows that are not in use are zero."""

    base: Array | None  # (n, q, q); None until anything was added up
    rows: Array  # (n, capacity, q)
    used: Ints  # (n,) rows in use
    most: int  # rows at which they are added up

    @classmethod
    def empty(cls, clients: int, size: int, most: int, dtype: Any, capacity: int = 1) -> Sums:
        """Return sums over nothing.

        >>> Sums.empty(clients=2, size=3, most=4, dtype=np.float32).rows.shape
        (2, 1, 3)
        """
        return cls(None, jnp.zeros((clients, capacity, size), dtype), np.zeros(clients, dtype=np.int64), most)

    @property
    def is_full(self) -> bool:
        """Tell whether some client has as many rows as may be kept."""
        return bool(self.used.max() >= self.most)

    def add(self, who: Ints, features: Array) -> None:
        """Take in one row of each client."""
        if self.is_full:
            self.fold()
        elif self.used[who].max() == self.rows.shape[1]:
            self.rows = jnp.concatenate([self.rows, jnp.zeros_like(self.rows)], axis=1)
        self.rows = _put(self.rows, who, self.used[who], features)
        self.used[who] += 1

    def fold(self) -> None:
        """Add the rows up."""
        self.base = _first(self.rows) if self.base is None else _more(self.base, self.rows)
        self.rows = jnp.zeros_like(self.rows)
        self.used[:] = 0

    def taken(self, who: Ints) -> tuple[Array | None, Array]:
        """Return base and rows of some clients, which are then the caller's, and forget them."""
        everyone = is_everyone(who, len(self.used))
        base = self.base if everyone or self.base is None else self.base[who]
        # Lengths are powers of two, so that few shapes are ever compiled.
        length = 1 << int(max(self.used[who].max() - 1, 0)).bit_length()
        rows = (self.rows if everyone else self.rows[who])[:, :length]
        self.base = None if everyone or self.base is None else self.base.at[who].set(0)
        self.rows = jnp.zeros_like(self.rows) if everyone else self.rows.at[who].set(0)
        self.used[who] = 0
        return base, rows


def total(base: Array | None, rows: Array) -> Array:
    """Return base + rows^T rows, for any leading axes."""
    return _first(rows) if base is None else _sum(base, rows)


def _gram(rows: Array) -> Array:
    return jnp.swapaxes(rows, -1, -2) @ rows


_first = jax.jit(_gram)
_sum = jax.jit(lambda base, rows: base + _gram(rows))
_more = jax.jit(lambda base, rows: base + _gram(rows), donate_argnums=0)
_put = jax.jit(lambda rows, who, at, features: rows.at[who, at].set(features), donate_argnums=0)
