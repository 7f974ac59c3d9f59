"""Drawing without replacement."""

from __future__ import annotations

import numpy as np

from fedbandit.core.arrays import Floats, Ints
from fedbandit.kernels.compiled import compiled


@compiled
def draw_distinct(uniforms: Floats, order: Ints) -> Ints:
    """Return, for each row of uniforms in [0, 1), as many distinct entries of `order`, which is left shuffled.

    The first steps of a Fisher-Yates shuffle: entry k is swapped with one at or after it. The order that one row
    leaves behind is as good a start for the next as any other.
    """
    drawn = np.empty(uniforms.shape, dtype=np.int64)
    for row in range(uniforms.shape[0]):
        for k in range(uniforms.shape[1]):
            other = k + int(uniforms[row, k] * (order.size - k))
            order[k], order[other] = order[other], order[k]
            drawn[row, k] = order[k]
    return drawn


@compiled
def gather(pool: Floats, index: Ints) -> Floats:
    """Return pool[index]: the rows named by each entry of a table."""
    taken = np.empty((*index.shape, pool.shape[1]))
    for row in range(index.shape[0]):
        for k in range(index.shape[1]):
            taken[row, k] = pool[index[row, k]]
    return taken
