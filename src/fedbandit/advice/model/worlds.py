"""Worlds made of a log: its own arrivals and arms, with rewards that a fitted model draws, or its own choices."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from fedbandit.advice.model.fitted import FittedModel, Rows
from fedbandit.core.algorithm import Setting
from fedbandit.core.arrays import Floats, Ints
from fedbandit.core.environment import Environment
from fedbandit.core.randomness import stream
from fedbandit.core.turns import Rewards, Turns

TENTHS = 10
FEWEST_RESIDUALS = 30  # of a site; one with fewer has the noise of all sites


@dataclass(frozen=True)
class LogWorld(Environment):
    """Turns in memory, in their order; the seed changes nothing."""

    whole: Turns = field(repr=False, kw_only=True)
    id = "log"

    def setting(self) -> Setting:
        """Return the sizes of the log."""
        _, arms, dimension = self.whole.features.shape
        return Setting(int(self.whole.client.max()) + 1, arms, dimension, horizon=len(self.whole))

    def turns(self, count: int, seed: int, block: int) -> Iterator[Turns]:  # noqa: ARG002
        """Yield the first `count` turns."""
        for first in range(0, count, block):
            yield self.whole.take(slice(first, min(first + block, count)))

    def save(self, path: str | Path) -> None:
        """Write the turns as a recorded file, for `fb.environment("recorded", path=...)`."""
        outcomes = self.whole.outcomes
        assert isinstance(outcomes, Rewards)
        means: dict[str, Any] = {} if outcomes.mean is None else {"mean": outcomes.mean}
        np.savez(path, client=self.whole.client, arms=self.whole.features, reward=outcomes.payoff, **means)

    def as_one_client(self) -> LogWorld:
        """Return the world in which all turns are one client's: alone, it is what pooled raw data would be."""
        return LogWorld(whole=Turns(np.zeros_like(self.whole.client), self.whole.features, self.whole.outcomes))


def logged_world(rows: Rows) -> LogWorld:
    """Return the logged choices as a world of one arm a turn.

    When linear algorithms send depends on the arms that were chosen, not on rewards. So a run in it tells the exact
    bytes of these choices.
    """
    arms = np.ascontiguousarray(rows.chosen[:, np.newaxis])
    return LogWorld(whole=Turns(rows.site, arms, Rewards(rows.reward[:, np.newaxis])))


def drawn_world(rows: Rows, model: FittedModel, number: int) -> LogWorld:
    """Return the world of the n-th draw of the model's parameters; the same number gives the same world.

    Turns are those of the log, in another order within each tenth of the time: in one order alone a setting may be
    lucky. Rewards are 0 or 1 where all of the log are, with the chance of the mean; else the mean, and a residual.
    """
    rng = stream(number, "world of a log")
    mean = model.means(rows, model.draw(rng))
    if rows.is_binary:
        mean = np.clip(mean, 0.0, 1.0)
        payoff = (rng.random(mean.shape) < mean).astype(np.float64)
    else:
        payoff = mean + _noise(rows.site, rows.reward - model.predicted(rows), mean.shape[1], rng)
    turns = len(mean)
    order = np.lexsort((rng.random(turns), np.arange(turns) * TENTHS // turns))
    return LogWorld(whole=Turns(rows.site, rows.vectors, Rewards(payoff, mean)).take(order))


def _noise(site: Ints, residual: Floats, arms: int, rng: np.random.Generator) -> Floats:
    """Return residuals of the same site (T, K), drawn with replacement."""
    found = np.empty((len(site), arms))
    for each in range(int(site.max()) + 1):
        own = site == each
        pool = residual[own] if own.sum() >= FEWEST_RESIDUALS else residual
        found[own] = pool[rng.integers(len(pool), size=(int(own.sum()), arms))]
    return found
