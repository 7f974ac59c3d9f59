"""Growing tuples of arrays that share their first axis."""

from __future__ import annotations

from typing import Any, TypeVar

import numpy as np

T = TypeVar("T", bound=tuple[Any, ...])


def doubled(rows: T) -> T:
    """Return the rows with room for as many again, the new ones zero.

    >>> from fedbandit.kernels.linear.snapshots import empty_snapshots
    >>> len(doubled(empty_snapshots(4, 2)).users)
    8
    """
    return type(rows)(*(doubled_array(each) for each in rows))


FEW = 1 << 16


def roomier(rows: T, most: int) -> T:
    """Return the rows with room for as many again; where there are not few of them, for all that there can be.

    Memory that was never written to is not taken, and rows that move need twice their memory: they do so once.

    >>> from fedbandit.kernels.linear.ridge_rows import empty_model
    >>> len(roomier(empty_model(2, 1), most=3).log_det)
    3
    """
    length = len(rows[0])
    wanted = [most] if length >= FEW else []
    for size in [*wanted, min(most, 2 * length)]:
        try:
            return type(rows)(*(_lengthened(each, size) for each in rows))
        except MemoryError:
            if size == 2 * length:
                raise
    raise MemoryError(f"{most} rows do not fit into memory")


def _lengthened(array: Any, length: int) -> Any:
    grown = np.zeros((length, *array.shape[1:]), dtype=array.dtype)
    grown[: len(array)] = array
    return grown


def doubled_array(array: Any) -> Any:
    """Return an array with twice the length, the new half zero."""
    return _lengthened(array, 2 * len(array))
