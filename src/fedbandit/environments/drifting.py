"""A linear world that changes: theta turns at once, turns slowly, or stays as it is."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from fedbandit.core.algorithm import Setting
from fedbandit.core.arrays import Floats, Ints
from fedbandit.core.errors import InvalidInput
from fedbandit.core.parameters import parameter
from fedbandit.core.randomness import stream
from fedbandit.environments.linear import Linear, means, unit

DEGREES = {"abrupt": 120.0, "slow": 180.0, "still": 0.0}


@dataclass(frozen=True)
class Drifting(Linear, id="drifting", title="linear rewards that change over time, alike for all clients (synthetic)"):
    """One theta for all clients, which turns in the plane of itself and a random direction across it.

    With T = `length`, turns counted from 0: `abrupt` turns theta by `degrees` before turn T / 2, at once; `slow` has
    turned it by `degrees` t / T before turn t, and goes on so after T; `still` is the environment `linear`. All else is
    as there.

    >>> world = Drifting(clients=3, arms=4, dimension=2, drift="abrupt", degrees=180, length=100)
    >>> theta = world.parameter(seed=0, turn=np.array([0, 49, 50]))
    >>> bool(np.allclose(theta[0], theta[1])), bool(np.allclose(theta[0], -theta[2]))
    (True, True)
    """

    drift: str = parameter("abrupt", "how theta changes", choices=tuple(DEGREES))
    degrees: float | None = parameter(
        None, "by how much theta turns; default: 120 if abrupt, 180 if slow", at_least=0, at_most=360
    )
    tails: str = parameter(
        "normal", "the noise: Gaussian, or Student's t with 3 degrees of freedom, of the same deviation",
        choices=("normal", "heavy"),
    )  # fmt: skip
    length: int | None = parameter(None, "turns over which it changes; default: 300 a client", symbol="T", at_least=2)

    def __post_init__(self) -> None:
        """Check that there is a plane to turn in."""
        super().__post_init__()
        if self.drift != "still" and self.dimension < 2:
            raise InvalidInput(
                f"dimension={self.dimension} leaves theta nowhere to turn: give at least 2, or drift=still"
            )

    def setting(self) -> Setting:
        """Return the sizes of the world; it is natural to play all of its change."""
        return Setting(self.clients, self.arms, self.dimension, horizon=self._length())

    def parameter(self, seed: int, turn: Ints) -> Floats:
        """Return theta at each of some turns."""
        theta = super()._theta(seed)
        drawn = stream(seed, "direction of the drift").standard_normal(self.dimension)
        across = unit(drawn - (drawn @ theta) * theta)
        whole = np.radians(DEGREES[self.drift] if self.degrees is None else self.degrees)
        share = turn / self._length() if self.drift == "slow" else (turn >= self._length() // 2).astype(np.float64)
        angle = (whole * share)[:, np.newaxis]
        return np.asarray(np.cos(angle) * theta + np.sin(angle) * across)

    def _length(self) -> int:
        return super().setting().horizon if self.length is None else self.length

    def _theta(self, seed: int) -> Floats:
        return super()._theta(seed) if self.drift == "still" else np.zeros(self.dimension)

    def _errors(self, rng: np.random.Generator, size: int) -> Floats:
        if self.tails == "normal":
            return super()._errors(rng, size)
        return np.asarray(rng.standard_t(3, size) / np.sqrt(3.0))  # whose variance is 3

    def _own_part(self, seed: int) -> Callable[[Ints, Ints, Floats], Floats | float]:
        if self.drift == "still":
            return super()._own_part(seed)
        return lambda turn, client, arms: means(arms, self.parameter(seed, turn))  # noqa: ARG005
