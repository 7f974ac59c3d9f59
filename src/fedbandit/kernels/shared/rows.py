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


def doubled_array(array: Any) -> Any:
    """Return an array with twice the length, the new half zero."""
    grown = np.zeros((2 * len(array), *array.shape[1:]), dtype=array.dtype)
    grown[: len(array)] = array
    return grown
