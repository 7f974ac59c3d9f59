"""Synthetic nonlinear worlds in which all clients share one reward function (FN-UCB, section 5.1)."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from fedbandit.core.algorithm import Setting
from fedbandit.core.arrays import Floats
from fedbandit.core.environment import Environment
from fedbandit.core.parameters import parameter
from fedbandit.core.randomness import stream
from fedbandit.core.turns import Rewards, Turns
from fedbandit.environments.linear import unit

ROUNDS = 5000


@dataclass(frozen=True)
class Nonlinear(Environment):
    """Unit contexts, fresh at every turn; the reward is a function of a . x for a unit vector a, plus Gaussian noise.

    Clients act in rounds, in order. The authors draw contexts uniformly from a cube around 0 and normalise them.
    """

    clients: int = parameter(2, "number of clients", symbol="N", at_least=1)
    arms: int = parameter(4, "arms on offer at each turn", symbol="K", at_least=1)
    dimension: int = parameter(10, "features of an arm", symbol="d", at_least=1)
    noise: float = parameter(0.01, "standard deviation of the reward noise", at_least=0)
    source: str = parameter("cube", "contexts: normalised from a cube, or from the sphere", choices=("cube", "sphere"))

    @abstractmethod
    def reward(self, along: Floats) -> Floats:
        """Return the expected reward of contexts with these a . x."""

    def setting(self) -> Setting:
        """Return the sizes of the world."""
        return Setting(self.clients, self.arms, self.dimension, horizon=ROUNDS * self.clients)

    def turns(self, count: int, seed: int, block: int) -> Iterator[Turns]:
        """Yield the turns of one seed."""
        direction = unit(stream(seed, "parameter").standard_normal(self.dimension))
        offered, noise = stream(seed, "arms"), stream(seed, "noise")
        for first in range(0, count, block):
            size = min(block, count - first)
            shape = (size, self.arms, self.dimension)
            drawn = offered.random(shape) - 0.5 if self.source == "cube" else offered.standard_normal(shape)
            arms = unit(drawn)
            mean = self.reward(arms @ direction)
            payoff = mean + self.noise * noise.standard_normal(size)[:, np.newaxis]
            yield Turns(np.arange(first, first + size) % self.clients, arms, Rewards(payoff, mean))


@dataclass(frozen=True)
class Cosine(Nonlinear, id="cosine", title="rewards cos(3 a.x), alike for all clients (synthetic)"):
    """The cosine function.

    >>> world = Cosine(clients=3)
    >>> block = next(world.turns(count=9, seed=0, block=9))
    >>> block.features.shape, block.client[:4].tolist()
    ((9, 4, 10), [0, 1, 2, 0])
    """

    def reward(self, along: Floats) -> Floats:
        """Return cos(3 a.x)."""
        return np.asarray(np.cos(3.0 * along))


@dataclass(frozen=True)
class Square(Nonlinear, id="square", title="rewards 10 (a.x)^2, alike for all clients (synthetic)"):
    """The square function.

    >>> float(Square().reward(np.array(0.5)))
    2.5
    """

    def reward(self, along: Floats) -> Floats:
        """Return 10 (a.x)^2."""
        return np.asarray(10.0 * along**2)
