"""Clients in groups that nobody is told of: one parameter a group; some clients may lie about their rewards."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from fedbandit.core.arrays import Floats, Ints
from fedbandit.core.errors import InvalidInput
from fedbandit.core.parameters import parameter
from fedbandit.core.randomness import stream
from fedbandit.core.turns import Rewards, Turns
from fedbandit.environments.linear import Linear, means, unit

LIES: dict[str, Callable[[Floats, Floats], Floats]] = {
    "flipped": lambda reward, first: -reward,  # noqa: ARG005
    "extreme": lambda reward, first: -10.0 * np.sign(reward),  # noqa: ARG005
    "slight": lambda reward, first: reward + 0.2 * first,
}


@dataclass(frozen=True)
class Grouped(Linear, id="grouped", title="clients in groups that nobody knows, some of whom may lie (synthetic)"):
    """Linear rewards with one theta for each group; clients are dealt to the groups evenly, at random.

    By default the groups' parameters are independent and uniform on the unit sphere. With `distance` they are about
    that far apart: theta_g = sqrt(1 - s^2) c + s e_g with s = distance / sqrt 2, c common to all, and e_g random and
    orthogonal to c.

    The first `liars` clients report other rewards y than they get, for an arm x: `flipped` -y, `extreme` -10 sign(y),
    `slight` y + 0.2 x_0 with x_0 the arm's first feature. What a liar earns is no concern: the expected rewards of its
    arms count as 0, so that regret is that of the honest clients. All else is as in the environment `linear`, which is
    this one with one group and nobody who lies.

    >>> world = Grouped(clients=6, arms=4, dimension=3, groups=3)
    >>> sorted(world.group_of(seed=0).tolist())
    [0, 0, 1, 1, 2, 2]
    """

    groups: int = parameter(4, "number of groups", symbol="G", at_least=1)
    distance: float | None = parameter(
        None, "how far apart the groups' parameters are; default: independent ones", at_least=0, at_most=math.sqrt(2)
    )
    liars: int = parameter(0, "how many of the first clients report false rewards", at_least=0)
    lie: str = parameter("flipped", "what liars report", choices=tuple(LIES))

    def __post_init__(self) -> None:
        """Check that there are clients for every group and every lie, and room for groups at a distance."""
        super().__post_init__()
        for name in ("groups", "liars"):
            if getattr(self, name) > self.clients:
                raise InvalidInput(
                    f"{name}={getattr(self, name)}, but there are clients={self.clients}: give at most that many"
                )
        if self.distance is not None and self.dimension < 2:
            raise InvalidInput(
                f"distance={self.distance} needs groups that differ across a common direction, but dimension="
                f"{self.dimension}: give a dimension of at least 2, or no distance"
            )

    def group_of(self, seed: int) -> Ints:
        """Return the group of each client."""
        return stream(seed, "groups").permutation(self.clients) % self.groups

    def parameter(self, seed: int) -> Floats:
        """Return the parameter of each group, (groups, dimension)."""
        theta = unit(stream(seed, "parameter").standard_normal((self.groups, self.dimension)))
        if self.distance is None:
            return theta
        common = unit(stream(seed, "common parameter").standard_normal(self.dimension))
        own = unit(theta - (theta @ common)[:, np.newaxis] * common)
        share = self.distance / math.sqrt(2)
        return math.sqrt(max(0.0, 1.0 - share**2)) * common + share * own

    def turns(self, count: int, seed: int, block: int) -> Iterator[Turns]:
        """Yield the turns of one seed."""
        for turns in super().turns(count, seed, block):
            yield self._with_lies(turns) if self.liars else turns

    def _with_lies(self, turns: Turns) -> Turns:
        assert isinstance(turns.outcomes, Rewards)
        assert turns.outcomes.mean is not None
        lies = (turns.client < self.liars)[:, np.newaxis]
        told = LIES[self.lie](turns.outcomes.payoff, turns.features[:, :, 0])
        payoff = np.where(lies, told, turns.outcomes.payoff)
        return Turns(turns.client, turns.features, Rewards(payoff, np.where(lies, 0.0, turns.outcomes.mean)))

    def _theta(self, seed: int) -> Floats:
        return self.parameter(seed)[0] if self.groups == 1 else np.zeros(self.dimension)

    def _own_part(self, seed: int) -> Callable[[Ints, Ints, Floats], Floats | float]:
        if self.groups == 1:
            return super()._own_part(seed)
        theta = self.parameter(seed)[self.group_of(seed)]
        return lambda turn, client, arms: means(arms, theta[client])  # noqa: ARG005
