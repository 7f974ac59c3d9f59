"""The array types that the readers return."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
Strings = NDArray[np.str_]
Booleans = NDArray[np.bool_]
Dates = NDArray[np.datetime64]
