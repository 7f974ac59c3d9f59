"""Worlds made of a log: its own arrivals and arms, with rewards that a fitted model draws, or its own choices."""

from __future__ import annotations

from collections.abc import Callable, Iterator
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
    return _world_of(rows, model, _mixed(rows.site, rng.permutation), rng)


def another_time(rows: Rows, model: FittedModel, number: int) -> LogWorld:
    """Return the world of the n-th draw, in which other decisions come: those of each tenth are drawn from its own.

    They are drawn with replacement, so that a site may have more turns than in the log, or fewer: in another time
    nobody comes as often as in this one.
    """
    rng = stream(number, "another time of a log")
    return _world_of(rows, model, _mixed(rows.site, lambda some: rng.choice(some, len(some))), rng)


def _mixed(site: Ints, mix: Callable[[Ints], Ints]) -> Ints:
    """Return rows of the log as turns, mixed within each tenth of the time.

    The first row of each site stays in its place, for when a site begins is no matter of luck: what it is told from
    then on is counted.
    """
    turns = len(site)
    _, first = np.unique(site, return_index=True)
    others = np.delete(np.arange(turns), first)
    mixed = np.arange(turns)
    for tenth in range(TENTHS):
        some = others[others * TENTHS // turns == tenth]
        mixed[some] = mix(some)
    return mixed


def _world_of(rows: Rows, model: FittedModel, order: Ints, rng: np.random.Generator) -> LogWorld:
    """Return the world of a draw of the parameters whose turns are rows of the log; a row may be several turns."""
    site, mean = rows.site[order], model.means(rows, model.draw(rng))[order]
    if rows.is_binary:
        mean = np.clip(mean, 0.0, 1.0)
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
