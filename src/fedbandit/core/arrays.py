"""Names for the arrays that travel between the folders."""

from __future__ import annotations

import math
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

Floats: TypeAlias = npt.NDArray[np.floating]
Ints: TypeAlias = npt.NDArray[np.int64]
Bools: TypeAlias = npt.NDArray[np.bool_]
FEW = 8192  # up to so many numbers BLAS multiplies in one thread: others, once awake, would wait by spinning


def no_ints() -> Ints:
    """Return an empty array: what a field holds that a stored record lacks, until it is filled in.

    >>> no_ints()
    array([], dtype=int64)
    """
    return np.zeros(0, dtype=np.int64)


def are_finite(values: Floats) -> bool:
    """Tell whether all values are finite. The sum of their squares soon tells so, unless it is too large itself.

    >>> are_finite(np.full((2, 2), 1e200)), are_finite(np.array([1.0, np.nan]))
    (True, False)
    """
    return math.isfinite(_sum_of_squares(values)) or bool(np.isfinite(values).all())


def are_within(values: Floats, most: float) -> bool:
    """Tell whether no value is farther from zero than `most`, which their sum of squares soon tells in most cases.

    >>> are_within(np.array([3.0, -4.0]), most=4.0), are_within(np.array([3.0, -4.1]), most=4.0)
    (True, False)
    """
    return _sum_of_squares(values) <= most * most or float(np.abs(values).max(initial=0.0)) <= most


def _sum_of_squares(values: Floats) -> float:
    """Return the sum of the squares where it is quick to have, else what says nothing."""
    return float(np.vdot(values, values)) if values.dtype == np.float64 and math.prod(values.shape) <= FEW else math.nan
