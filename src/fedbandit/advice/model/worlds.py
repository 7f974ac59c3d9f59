"""Worlds made of a log: its own arms, with arrivals and rewards that a fitted model draws, or its own choices."""

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
    """Return the world of the n-th draw of the model; the same number gives the same world.

    Turns are rows of the log, each in about its time; a row may be several turns. Who comes when is drawn as well, and
    so are the parameters. Rewards are 0 or 1 where all of the log are, with the chance of the mean; else the mean, and
    a residual.
    """
    rng = stream(number, "world of a log")
    order = rows.arrivals.draw(rng)
    site, mean = rows.site[order], model.means(rows, model.draw(rng))[order]
    if rows.is_binary:
        payoff = (rng.random(mean.shape) < mean).astype(np.float64)
    else:
        payoff = mean + _noise(site, rows, rows.reward - model.predicted(rows), rng)
    return LogWorld(whole=Turns(site, rows.vectors[order], Rewards(payoff, mean)))


def _noise(site: Ints, rows: Rows, residual: Floats, rng: np.random.Generator) -> Floats:
    """Return for turns of sites (T, K) residuals of the same site, drawn with replacement."""
    found = np.empty((len(site), rows.vectors.shape[1]))
    for each in range(rows.sites):
        turns, own = site == each, residual[rows.site == each]
        pool = own if len(own) >= FEWEST_RESIDUALS else residual
        found[turns] = pool[rng.integers(len(pool), size=(int(turns.sum()), found.shape[1]))]
    return found
