"""Names for the arrays that travel between the folders."""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
import numpy.typing as npt

Floats: TypeAlias = npt.NDArray[np.floating]
Ints: TypeAlias = npt.NDArray[np.int64]
Bools: TypeAlias = npt.NDArray[np.bool_]


def no_ints() -> Ints:
    """Return an empty array: what a field holds that a stored record lacks, until it is filled in.

    >>> no_ints()
    array([], dtype=int64)
    """
    return np.zeros(0, dtype=np.int64)
