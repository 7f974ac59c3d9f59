"""Common ground: one world in the three forms that algorithms take, so that their regrets can be compared."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from fedbandit.core.algorithm import Setting
from fedbandit.core.arrays import Floats, Ints
from fedbandit.core.environment import Environment
from fedbandit.core.errors import InvalidInput
from fedbandit.core.parameters import parameter
from fedbandit.core.randomness import stream
from fedbandit.core.turns import Duels, Outcomes, Rewards, Turns
from fedbandit.environments.arrivals import Arrivals
from fedbandit.environments.linear import unit

FORMS = ("arms", "contexts", "duels")
REWARDS = ("linear", "logistic")
DRAWS = ("reported", "tuning")


@dataclass(frozen=True, slots=True)
class CountedDuels(Duels):
    """Duels whose regret counts in rewards: what the two arms fall short of the best one, in the mean of both.

    >>> world = CountedDuels(utility=np.array([[0.0, 2.0]]), coin=np.array([0.5]), mean=np.array([[0.0, 0.5]]))
    >>> world.regret(slice(None), np.array([[1, 0]]))
    array([0.25])
    """

    mean: Floats

    def regret(self, turn: Ints | slice, choice: Ints) -> Floats:
        """Return the best expected reward on offer minus the mean of the two arms' ones."""
        rewards = Rewards(self.mean, self.mean)
        return (rewards.regret(turn, choice[:, 0]) + rewards.regret(turn, choice[:, 1])) / 2.0

    def take(self, turn: Ints | slice) -> CountedDuels:
        """Return the outcomes of some of the turns."""
        return CountedDuels(self.utility[turn], self.coin[turn], self.mean[turn])


@dataclass(frozen=True)
class CommonGround(
    Environment, id="common-ground", title="one world in three forms: arms, contexts, duels (synthetic)"
):
    """A context a turn and a parameter for each arm, alike for all clients: arm k has the margin theta_k . x.

    x and every theta_k are unit vectors, and `support` entries of theta_k are not zero. Rewards are the margin plus
    noise (linear), or coins that pay with the odds e^(steepness theta_k . x) (logistic). All arms of a turn share the
    noise, or the coin.

    One seed is one world, which `form` shows in three ways. "contexts": x alone, and the number of the chosen arm.
    "arms": each arm has x in a place of its own among `arms` times `dimension` features, so that one parameter serves
    all. "duels": the same arms, of which two are chosen; the first wins with the odds e^(steepness difference of the
    margins). The regret of a duel is what its two arms fall short of the best expected reward, in the mean of both.

    >>> worlds = [CommonGround(form=form, clients=2, arms=3, dimension=5) for form in FORMS]
    >>> [next(world.turns(count=4, seed=0, block=4)).features.shape for world in worlds]
    [(4, 3, 15), (4, 5), (4, 3, 15)]
    """

    clients: int = parameter(10, "number of clients", symbol="N", at_least=1)
    arms: int = parameter(4, "number of arms", symbol="K", at_least=1)
    dimension: int = parameter(10, "features of a context", at_least=1)
    support: int = parameter(3, "features of a context that matter to an arm", symbol="s", at_least=1)
    rewards: str = parameter("linear", "what an arm pays: its margin plus noise, or a coin", choices=REWARDS)
    form: str = parameter("arms", "how the world is shown", choices=FORMS)
    noise: float = parameter(0.1, "standard deviation of the noise of linear rewards", symbol="sigma", at_least=0)
    steepness: float = parameter(6.0, "how fast odds grow with the margin, of coins and of duels", above=0)
    draw: str = parameter("reported", "which worlds seeds name: two sets that have none in common", choices=DRAWS)

    def __post_init__(self) -> None:
        """Check that a context has the features that matter."""
        super().__post_init__()
        if self.support > self.dimension:
            raise InvalidInput(
                f"support={self.support} features of a context matter, but it has dimension={self.dimension}: "
                "give a smaller support"
            )

    def setting(self) -> Setting:
        """Return the sizes of the world in its form."""
        dimension = self.dimension if self.form == "contexts" else self.arms * self.dimension
        return Setting(self.clients, self.arms, dimension, horizon=300 * self.clients)

    def parameter(self, seed: int) -> Floats:
        """Return theta, (arms, dimension)."""
        rng = stream(seed, f"{self.draw} parameter")
        theta = np.zeros((self.arms, self.dimension))
        places = rng.permuted(np.tile(np.arange(self.dimension), (self.arms, 1)), axis=1)[:, : self.support]
        np.put_along_axis(theta, places, unit(rng.standard_normal(places.shape)), axis=1)
        return theta

    def turns(self, count: int, seed: int, block: int) -> Iterator[Turns]:
        """Yield the turns of one seed."""
        arrivals = Arrivals("round-robin", self.clients, skew=0.0)
        contexts, noise, coins = (stream(seed, f"{self.draw} {name}") for name in ("contexts", "noise", "coins"))
        theta = self.parameter(seed)
        for first in range(0, count, block):
            size = min(block, count - first)
            context = unit(contexts.standard_normal((size, self.dimension)))
            margin = (context[:, np.newaxis] * theta).sum(axis=2)  # the same bits in blocks of any size
            outcomes = self._outcomes(margin, noise.standard_normal((size, 1)), coins.random(size))
            yield Turns(arrivals.next(coins, size), self._shown(context), outcomes)

    def _outcomes(self, margin: Floats, noise: Floats, coin: Floats) -> Outcomes:
        utility = self.steepness * margin
        mean = margin if self.rewards == "linear" else 1.0 / (1.0 + np.exp(-utility))
        if self.form == "duels":
            return CountedDuels(utility, coin, mean)
        if self.rewards == "linear":
            return Rewards(mean + self.noise * noise, mean)
        return Rewards((coin[:, np.newaxis] < mean).astype(np.float64), mean)

    def _shown(self, context: Floats) -> Floats:
        if self.form == "contexts":
            return context
        features = np.zeros((len(context), self.arms, self.arms, self.dimension))
        each = np.arange(self.arms)
        features[:, each, each] = context[:, np.newaxis]
        return features.reshape(len(context), self.arms, self.arms * self.dimension)
