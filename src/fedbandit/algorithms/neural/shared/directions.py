"""In which direction of its uncertainty a lone client looks at each arm: upwards, or where a sample falls."""

from __future__ import annotations

import numpy as np

from fedbandit.core.arrays import Floats
from fedbandit.core.errors import InvalidInput


def directions_of(features: Floats, draws: Floats, sampled: int) -> Floats:
    """Return the direction (m, K) of each arm on offer: 1, or with `sampled` arms the standard normals of a sample.

    >>> directions_of(np.zeros((1, 3, 2)), np.empty((1, 0)), sampled=0)
    array([[1., 1., 1.]])
    """
    directions = draws if sampled else np.ones(features.shape[:2])
    if directions.shape != features.shape[:2]:
        raise InvalidInput(
            f"{features.shape[1]} arms on offer, but arms={sampled} when the algorithm was built: give that number"
        )
    return directions
