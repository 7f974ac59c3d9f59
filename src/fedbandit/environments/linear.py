"""The synthetic linear world: every client's reward is theta . x plus noise, with one theta for all."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from fedbandit.core.algorithm import Setting
from fedbandit.core.arrays import Floats, Ints
from fedbandit.core.environment import Environment
from fedbandit.core.errors import InvalidInput
from fedbandit.core.parameters import parameter
from fedbandit.core.randomness import stream
from fedbandit.core.turns import Rewards, Turns
from fedbandit.environments.arrivals import ARRIVALS, Arrivals, acting
from fedbandit.kernels.shared.sampling import draw_distinct, gather


@dataclass(frozen=True)
class Linear(Environment, id="linear", title="homogeneous clients with linear rewards (synthetic)"):
    """Homogeneous linear rewards: theta uniform on the unit sphere, Gaussian noise.

    Arms come from a fixed pool of unit vectors as in the authors' code (coordinate i is normal with variance
    (d - i) / d before normalisation; the arms of a turn are drawn without replacement), or fresh from the sphere.

    >>> world = Linear(clients=3, arms=4, dimension=2)
    >>> block = next(world.turns(count=10, seed=0, block=10))
    >>> block.features.shape
    (10, 4, 2)
    """

    clients: int = parameter(100, "number of clients", symbol="N", at_least=1)
    arms: int = parameter(25, "arms on offer at each turn", symbol="K", at_least=1)
    dimension: int = parameter(25, "features of an arm", symbol="d", at_least=1)
    noise: float = parameter(0.1, "standard deviation of the reward noise", symbol="sigma", at_least=0)
    arrivals: str = parameter("uniform", "whose turn it is", choices=ARRIVALS)
    skew: float = parameter(1.0, "exponent of the Zipf distribution of skewed arrivals", at_least=0)
    source: str = parameter("pool", "arms from a fixed pool, or fresh from the sphere", choices=("pool", "sphere"))
    pool: int = parameter(1000, "number of arms in the pool", at_least=1)

    def __post_init__(self) -> None:
        """Check that a turn's arms can be drawn from the pool."""
        super().__post_init__()
        if self.source == "pool" and self.pool < self.arms:
            raise InvalidInput(
                f"pool={self.pool} has fewer arms than the arms={self.arms} of a turn: make the pool larger"
            )

    def setting(self) -> Setting:
        """Return the sizes of the world."""
        return Setting(self.clients, self.arms, self.dimension, horizon=300 * self.clients)

    def acting(self, turns: int) -> int:
        """Return how many clients have a turn among so many, at most."""
        return acting(self.arrivals, self.clients, self.skew, turns)

    def turns(self, count: int, seed: int, block: int) -> Iterator[Turns]:
        """Yield the turns of one seed."""
        arrivals = Arrivals(self.arrivals, self.clients, self.skew)
        whose, noise = stream(seed, "arrivals"), stream(seed, "noise")
        offer = self._offers(seed)
        own = self._own_part(seed)
        for first in range(0, count, block):
            size = min(block, count - first)
            client = arrivals.next(whose, size)
            arms, mean = offer(size)
            mean = mean + own(np.arange(first, first + size), client, arms)
            payoff = mean + self.noise * self._errors(noise, size)[:, np.newaxis]
            yield Turns(client, arms, Rewards(payoff, mean))

    def _theta(self, seed: int) -> Floats:
        """Return the parameter that all clients share at all times."""
        return unit(stream(seed, "parameter").standard_normal(self.dimension))

    def _errors(self, rng: np.random.Generator, size: int) -> Floats:
        """Return the noise of so many rewards, with a standard deviation of 1."""
        return rng.standard_normal(size)

    def _own_part(self, seed: int) -> Callable[[Ints, Ints, Floats], Floats | float]:  # noqa: ARG002
        """Return what gives the means of arms, beside `_theta`'s, by turn, client and arms: here nothing."""
        return lambda turn, client, arms: 0.0  # noqa: ARG005

    def _offers(self, seed: int) -> Callable[[int], tuple[Floats, Floats]]:
        rng = stream(seed, "arms")
        theta = self._theta(seed)
        if self.source == "sphere":

            def fresh(size: int) -> tuple[Floats, Floats]:
                arms = unit(rng.standard_normal((size, self.arms, self.dimension)))
                return arms, arms @ theta

            return fresh
        variance = np.arange(self.dimension, 0, -1) / self.dimension
        pool = unit(stream(seed, "pool").standard_normal((self.pool, self.dimension)) * np.sqrt(variance))
        pool_mean = pool @ theta
        order = np.arange(self.pool)

        def pooled(size: int) -> tuple[Floats, Floats]:
            index = draw_distinct(rng.random((size, self.arms)), order)
            return gather(pool, index), pool_mean[index]

        return pooled


def unit(vectors: Floats) -> Floats:
    """Return each vector (the last axis) scaled to length 1.

    >>> unit(np.array([3.0, 4.0]))
    array([0.6, 0.8])
    """
    return np.asarray(vectors / np.linalg.norm(vectors, axis=-1, keepdims=True))


def means(arms: Floats, theta: Floats) -> Floats:
    """Return theta . x for the arms of each turn, (turns, K, d), with a theta for each, (turns, d).

    >>> means(np.eye(2)[np.newaxis], np.array([[3.0, 4.0]]))
    array([[3., 4.]])
    """
    return np.asarray((arms @ theta[:, :, np.newaxis])[:, :, 0])
