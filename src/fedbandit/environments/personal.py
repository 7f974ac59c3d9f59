"""The heterogeneous linear world: a part of the reward is the same for all clients, a part is each client's own."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from fedbandit.core.arrays import Floats, Ints
from fedbandit.core.errors import InvalidInput
from fedbandit.core.parameters import parameter
from fedbandit.core.randomness import stream
from fedbandit.environments.linear import Linear, means, unit


@dataclass(frozen=True)
class Personal(Linear, id="personal", title="clients that differ: a shared and a personal part of the reward"):
    """Linear rewards x_g . theta_g + x_l . theta_i plus noise (Li and Wang 2022, equation 2).

    x_g are the first `global_dimension` features of x, x_l the rest. theta_g and every client's theta_i are uniform on
    their unit spheres. All else is as in the environment `linear`.

    >>> world = Personal(clients=3, arms=4, dimension=5, global_dimension=4)
    >>> block = next(world.turns(count=10, seed=0, block=10))
    >>> block.features.shape
    (10, 4, 5)
    """

    global_dimension: int | None = parameter(
        None, "how many of the first features are shared; default: half, rounded up", symbol="d_g", at_least=0
    )

    def __post_init__(self) -> None:
        """Check that the shared features are among the features."""
        super().__post_init__()
        if self.shared > self.dimension:
            raise InvalidInput(
                f"global_dimension={self.shared}, but arms have dimension={self.dimension}: give at most that many"
            )

    @property
    def shared(self) -> int:
        """Return the number of shared features."""
        return -(-self.dimension // 2) if self.global_dimension is None else self.global_dimension

    def _theta(self, seed: int) -> Floats:
        theta = np.zeros(self.dimension)
        theta[: self.shared] = unit(stream(seed, "parameter").standard_normal(self.shared))
        return theta

    def _own_part(self, seed: int) -> Callable[[Ints, Ints, Floats], Floats | float]:
        size = self.dimension - self.shared
        if not size:
            return super()._own_part(seed)
        theta = unit(stream(seed, "own parameters").standard_normal((self.clients, size)))

        return lambda turn, client, arms: means(arms[:, :, self.shared :], theta[client])  # noqa: ARG005
