"""Some clients of a cohort, or all of them: rows of arrays whose first axis is the client.

Where all clients have the same row, an array has that one row, and a first axis of length 1. A state that was stored
comes back with NumPy's arrays.
"""

from __future__ import annotations

from functools import lru_cache

import jax.numpy as jnp
import numpy as np

from fedbandit.core.arrays import Ints
from fedbandit.kernels.neural.arrays import Array, Numbers


def is_everyone(who: Ints, clients: int) -> bool:
    """Tell whether these are all clients of a cohort, in order.

    >>> is_everyone(np.array([0, 1]), 2), is_everyone(np.array([1, 0]), 2)
    (True, False)
    """
    return len(who) == clients and bool((who == _numbers(clients)).all())


@lru_cache(maxsize=64)
def _numbers(clients: int) -> Ints:
    return np.arange(clients)


def rows_of(array: Numbers, who: Ints, clients: int) -> Numbers:
    """Return the rows of some clients; of an array that all share, its one row."""
    return array if len(array) == 1 < clients or is_everyone(who, clients) else array[who]


def put_rows(array: Numbers, who: Ints, rows: Array, clients: int) -> Array:
    """Return an array with other rows at some clients."""
    return rows if is_everyone(who, clients) else jnp.asarray(array).at[who].set(rows)


def share_row(array: Numbers, who: Ints, row: Array, clients: int) -> Array:
    """Return an array in which some clients have one and the same row; one row stands for all if all have it."""
    if is_everyone(who, clients):
        return row
    return one_each(array, clients).at[who].set(row)


def one_each(array: Numbers, clients: int) -> Array:
    """Return an array with a row of its own for each client."""
    return jnp.asarray(array) if len(array) == clients else jnp.broadcast_to(array, (clients, *array.shape[1:]))
