"""Eight small linear worlds in which ways to explore differ: what serves one of them well may fail in another."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from fedbandit.core.algorithm import Setting
from fedbandit.core.arrays import Floats
from fedbandit.core.environment import Environment
from fedbandit.core.parameters import parameter
from fedbandit.core.randomness import stream
from fedbandit.core.turns import Rewards, Turns
from fedbandit.environments.arrivals import Arrivals
from fedbandit.environments.linear import unit


class Case(NamedTuple):
    """The sizes of one of the worlds, and the standard deviation of its noise."""

    dimension: int
    arms: int
    noise: float


CASES = {
    "scout": Case(25, 25, 0.1),
    "noisy": Case(5, 10, 0.5),
    "scaled": Case(8, 10, 2.0),
    "disjoint": Case(20, 4, 0.3),
    "pool": Case(5, 20, 0.3),
    "fixed": Case(10, 10, 0.1),
    "fixed-noisy": Case(10, 10, 0.5),
    "optimism": Case(2, 3, 0.3),
}
FRESH, GAPS = {"scout": 1.0, "noisy": 1.0, "scaled": 10.0}, {"fixed": 0.1, "fixed-noisy": 0.2}
FEATURES = 5  # of the context that the arms of `disjoint` share
USUAL = 0.5  # what every arm of `fixed` and `fixed-noisy` is worth, but for the best


@dataclass(frozen=True)
class ExplorationTestbed(
    Environment, id="testbed", title="eight small linear worlds in which ways to explore differ (synthetic)"
):
    """One theta for all clients, Gaussian noise; arms as the case says.

    `scout`, `noisy`, `scaled`: fresh unit arms; rewards of `scaled` are ten times as large. `disjoint`: a context of 5
    features, in the place of each of 4 arms, each of which has a unit theta of its own. `pool`: 20 unit arms, the same
    at every turn. `fixed`, `fixed-noisy`: ten arms that tell nothing about each other, one of which is better than all
    others by 0.1 and 0.2. `optimism`: theta = (1, 0) and the arms (1, 0), (0, 1), (0.9, 0.2), of which the bad second
    one tells most about how the third compares with the first (Lattimore and Szepesvari 2017).

    >>> block = next(ExplorationTestbed(case="optimism").turns(count=2, seed=0, block=10))
    >>> block.outcomes.mean[0]
    array([1. , 0. , 0.9])
    """

    case: str = parameter("scout", "which of the worlds", choices=tuple(CASES))
    clients: int = parameter(10, "number of clients, which arrive uniformly", symbol="N", at_least=1)

    def setting(self) -> Setting:
        """Return the sizes of the world."""
        sizes = CASES[self.case]
        return Setting(self.clients, sizes.arms, sizes.dimension, horizon=4000)

    def turns(self, count: int, seed: int, block: int) -> Iterator[Turns]:
        """Yield the turns of one seed."""
        whose, noise = stream(seed, "arrivals"), stream(seed, "noise")
        arrivals, offer = Arrivals("uniform", self.clients, 1.0), self._offers(seed)
        for first in range(0, count, block):
            size = min(block, count - first)
            arms, mean = offer(size)
            payoff = mean + CASES[self.case].noise * noise.standard_normal(mean.shape)
            yield Turns(arrivals.next(whose, size), arms, Rewards(payoff, mean))

    def _offers(self, seed: int) -> Callable[[int], tuple[Floats, Floats]]:
        """Return what gives the arms of so many turns, and their means."""
        sizes = CASES[self.case]
        theta, rng = stream(seed, "parameter"), stream(seed, "arms")
        if self.case in FRESH:
            direction = FRESH[self.case] * unit(theta.standard_normal(sizes.dimension))
            return lambda size: _with_means(unit(rng.standard_normal((size, *_shape(sizes)))), direction)
        if self.case == "disjoint":
            each = unit(theta.standard_normal((sizes.arms, FEATURES))).ravel()
            return lambda size: _with_means(_in_places(unit(rng.standard_normal((size, FEATURES))), sizes.arms), each)
        arms, direction = self._same_arms(theta, rng)
        return lambda size: _with_means(np.tile(arms, (size, 1, 1)), direction)

    def _same_arms(self, theta: np.random.Generator, rng: np.random.Generator) -> tuple[Floats, Floats]:
        """Return the arms that every turn offers, and theta."""
        sizes = CASES[self.case]
        if self.case == "optimism":
            return np.array([[1.0, 0.0], [0.0, 1.0], [0.9, 0.2]]), np.array([1.0, 0.0])
        if self.case == "pool":
            return unit(rng.standard_normal(_shape(sizes))), unit(theta.standard_normal(sizes.dimension))
        worth = np.full(sizes.arms, USUAL)
        worth[theta.integers(sizes.arms)] += GAPS[self.case]
        return np.eye(sizes.arms), worth


def _shape(sizes: Case) -> tuple[int, int]:
    return sizes.arms, sizes.dimension


def _with_means(arms: Floats, theta: Floats) -> tuple[Floats, Floats]:
    return arms, np.asarray(arms @ theta)


def _in_places(context: Floats, arms: int) -> Floats:
    """Return for each turn one row an arm, with the context in the arm's own place.

    >>> _in_places(np.array([[1.0, 2.0]]), arms=2)
    array([[[1., 2., 0., 0.],
            [0., 0., 1., 2.]]])
    """
    turns, features = context.shape
    table = np.zeros((turns, arms, arms, features))
    table[:, np.arange(arms), np.arange(arms)] = context[:, np.newaxis]
    return table.reshape(turns, arms, arms * features)
