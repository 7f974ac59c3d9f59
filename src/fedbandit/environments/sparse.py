"""The sparse world of Wang, Li and Lin 2023 (appendix F.1): one context a turn, a sparse parameter for each arm."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from fedbandit.core.algorithm import Setting
from fedbandit.core.arrays import Floats
from fedbandit.core.environment import Environment
from fedbandit.core.errors import InvalidInput
from fedbandit.core.parameters import parameter
from fedbandit.core.randomness import stream
from fedbandit.core.turns import Rewards, Turns

CLIENTS_ARE = ("similar", "identical")


@dataclass(frozen=True)
class Sparse(Environment, id="sparse", title="sparse linear rewards, arms that share a context (synthetic)"):
    """Clients whose parameters are sparse and similar: b_k^(m) has `support` entries that are not zero.

    For each arm `candidates` positions are drawn, which all clients share; each client draws its own `support` of
    them, and their values uniformly from [0, 1]. Contexts are standard normal, clients take turns in order.

    >>> world = Sparse(clients=2, arms=3, dimension=20)
    >>> block = next(world.turns(count=10, seed=0, block=10))
    >>> block.features.shape, world.parameter(seed=0).shape
    ((10, 20), (2, 3, 20))
    """

    clients: int = parameter(5, "number of clients", symbol="M", at_least=1)
    arms: int = parameter(5, "number of arms", symbol="K", at_least=1)
    dimension: int = parameter(100, "features of a context", symbol="d", at_least=1)
    support: int = parameter(5, "entries of a parameter that are not zero", symbol="s", at_least=1)
    candidates: int = parameter(10, "positions per arm that the clients' supports are drawn from", at_least=1)
    noise: float = parameter(0.1, "standard deviation of the reward noise", symbol="sigma", at_least=0)
    clients_are: str = parameter("similar", "whether clients differ in their parameters", choices=CLIENTS_ARE)

    def __post_init__(self) -> None:
        """Check that supports can be drawn."""
        super().__post_init__()
        if not self.support <= self.candidates <= self.dimension:
            raise InvalidInput(
                f"support={self.support}, candidates={self.candidates}, dimension={self.dimension}: "
                "give a support no larger than the candidates, and no more candidates than the dimension"
            )

    def setting(self) -> Setting:
        """Return the sizes of the world."""
        return Setting(self.clients, self.arms, self.dimension, horizon=2000 * self.clients)

    def parameter(self, seed: int) -> Floats:
        """Return b, (clients, arms, dimension). Each client has a stream of its own: more of them change no other."""
        places = stream(seed, "candidates").permuted(np.tile(np.arange(self.dimension), (self.arms, 1)), axis=1)
        places = places[:, : self.candidates]
        parameter = np.zeros((self.clients, self.arms, self.dimension))
        for client in range(self.clients):
            rng = stream(seed, "parameter", client if self.clients_are == "similar" else 0)
            mine = rng.permuted(places, axis=1)[:, : self.support]
            np.put_along_axis(parameter[client], mine, rng.random(mine.shape), axis=1)
        return parameter

    def turns(self, count: int, seed: int, block: int) -> Iterator[Turns]:
        """Yield the turns of one seed."""
        parameter = self.parameter(seed)
        places = np.argsort(parameter == 0, axis=2, kind="stable")[:, :, : self.support]
        values = np.take_along_axis(parameter, places, axis=2)
        contexts, noise = stream(seed, "contexts"), stream(seed, "noise")
        for first in range(0, count, block):
            size = min(block, count - first)
            client = np.arange(first, first + size) % self.clients
            context = contexts.standard_normal((size, self.dimension))
            mean = np.empty((size, self.arms))
            for each in range(self.clients):
                mine = client == each
                mean[mine] = (context[mine][:, places[each]] * values[each]).sum(axis=-1)
            payoff = mean + self.noise * noise.standard_normal(size)[:, np.newaxis]
            yield Turns(client, context, Rewards(payoff, mean))
