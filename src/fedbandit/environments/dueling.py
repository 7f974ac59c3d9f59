"""The synthetic dueling world: latent utilities f_i(x) = theta_i . x, of which only the winners of duels are seen."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from fedbandit.core.algorithm import Setting
from fedbandit.core.environment import Environment
from fedbandit.core.parameters import parameter
from fedbandit.core.randomness import stream
from fedbandit.core.turns import Duels, Turns
from fedbandit.environments.arrivals import Arrivals


@dataclass(frozen=True)
class Dueling(Environment, id="dueling", title="duels between arms with linear utilities (synthetic)"):
    """Huang et al. 2025, section 5: theta and all arms are standard normal, clients act in rounds.

    `spread` makes the clients differ: theta_i = theta + N(0, spread^2 I), drawn once a client.

    >>> world = Dueling(clients=3, arms=4, dimension=2)
    >>> block = next(world.turns(count=6, seed=0, block=6))
    >>> block.client, block.outcomes.utility.shape
    (array([0, 1, 2, 0, 1, 2]), (6, 4))
    """

    clients: int = parameter(100, "number of clients", symbol="N", at_least=1)
    arms: int = parameter(10, "arms on offer at each turn", symbol="K", at_least=1)
    dimension: int = parameter(5, "features of an arm", symbol="d", at_least=1)
    spread: float = parameter(
        0.0, "standard deviation of a client's theta around the common one", symbol="sigma", at_least=0
    )

    def setting(self) -> Setting:
        """Return the sizes of the world."""
        return Setting(self.clients, self.arms, self.dimension, horizon=500 * self.clients)

    def turns(self, count: int, seed: int, block: int) -> Iterator[Turns]:
        """Yield the turns of one seed."""
        arrivals = Arrivals("round-robin", self.clients, skew=0.0)
        arms, coins = stream(seed, "arms"), stream(seed, "coins")
        theta = stream(seed, "parameter").standard_normal(self.dimension)
        own = stream(seed, "personal").standard_normal((self.clients, self.dimension))
        theta_of = theta + self.spread * own
        for first in range(0, count, block):
            size = min(block, count - first)
            client = arrivals.next(coins, size)
            offer = arms.standard_normal((size, self.arms, self.dimension))
            utility = np.einsum("tkd,td->tk", offer, theta_of[client])
            yield Turns(client, offer, Duels(utility, coins.random(size)))
