"""The arrays that the neural family computes with."""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
from jax import Array

from fedbandit.core.arrays import Floats

__all__ = ["Array", "Numbers", "Precision"]

Numbers: TypeAlias = Array | Floats  # on the device; or NumPy's, as what comes from the host or was stored
Precision: TypeAlias = np.dtype[np.float32] | np.dtype[np.float64]
