"""The synthetic logistic world: rewards are coins whose odds follow theta . x, with one theta for all clients."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from fedbandit.core.algorithm import Setting
from fedbandit.core.arrays import Floats
from fedbandit.core.environment import Environment
from fedbandit.core.errors import InvalidInput
from fedbandit.core.parameters import parameter
from fedbandit.core.randomness import stream
from fedbandit.core.turns import Rewards, Turns
from fedbandit.environments.arrivals import Arrivals
from fedbandit.environments.linear import unit
from fedbandit.kernels.shared.sampling import gather


@dataclass(frozen=True)
class Logistic(Environment, id="logistic", title="homogeneous clients with Bernoulli rewards (synthetic)"):
    """An arm x pays 1 with probability 1 / (1 + e^(-theta . x)), else 0; theta is uniform on a sphere.

    Arms are fresh from the unit sphere at each turn ("sphere"), or as in the authors' code of FedGLB-UCB ("pool"): a
    fixed pool of vectors, unit in all coordinates but the last, which is 1 (so their length is sqrt 2: an algorithm
    needs arm_bound = 1.4143), from which the arms of a turn are drawn with replacement. Clients act in rounds, in
    order. All arms of a turn share one coin: an arm that pays makes every arm with better odds pay.

    >>> world = Logistic(clients=3, arms=4, dimension=2, source="pool")
    >>> block = next(world.turns(count=6, seed=0, block=10))
    >>> block.features[0, 0, -1], block.client
    (np.float64(1.0), array([0, 1, 2, 0, 1, 2]))
    """

    clients: int = parameter(200, "number of clients", symbol="N", at_least=1)
    arms: int = parameter(25, "arms on offer at each turn", symbol="K", at_least=1)
    dimension: int = parameter(10, "features of an arm", symbol="d", at_least=1)
    radius: float = parameter(1.0, "length of theta", symbol="S", at_least=0)
    source: str = parameter("sphere", "arms fresh from the sphere, or from a fixed pool", choices=("sphere", "pool"))
    pool: int = parameter(1000, "number of arms in the pool", at_least=1)

    def __post_init__(self) -> None:
        """Check that a pool's arms have a coordinate to differ in."""
        super().__post_init__()
        if self.source == "pool" and self.dimension < 2:
            raise InvalidInput(
                f"dimension must be at least 2 with source=pool, not {self.dimension}: the last coordinate is constant"
            )

    def setting(self) -> Setting:
        """Return the sizes of the world."""
        return Setting(self.clients, self.arms, self.dimension, horizon=2000 * self.clients)

    def turns(self, count: int, seed: int, block: int) -> Iterator[Turns]:
        """Yield the turns of one seed."""
        arrivals = Arrivals("round-robin", self.clients, skew=0.0)
        coin = stream(seed, "rewards")
        offer = self._offers(seed)
        for first in range(0, count, block):
            size = min(block, count - first)
            arms, mean = offer(size)
            payoff = (coin.random(size)[:, np.newaxis] < mean).astype(np.float64)
            yield Turns(arrivals.next(coin, size), arms, Rewards(payoff, mean))

    def _offers(self, seed: int) -> Callable[[int], tuple[Floats, Floats]]:
        rng = stream(seed, "arms")
        theta = self.radius * unit(stream(seed, "parameter").standard_normal(self.dimension))
        if self.source == "sphere":

            def fresh(size: int) -> tuple[Floats, Floats]:
                arms = unit(rng.standard_normal((size, self.arms, self.dimension)))
                return arms, _odds(arms @ theta)

            return fresh
        pool = np.ones((self.pool, self.dimension))
        pool[:, :-1] = unit(stream(seed, "pool").standard_normal((self.pool, self.dimension - 1)))
        pool_mean = _odds(pool @ theta)

        def pooled(size: int) -> tuple[Floats, Floats]:
            index = rng.integers(self.pool, size=(size, self.arms))
            return gather(pool, index), pool_mean[index]

        return pooled


def _odds(margin: Floats) -> Floats:
    return np.asarray(1.0 / (1.0 + np.exp(-margin)))
