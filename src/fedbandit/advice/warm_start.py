"""What it would change if every site first learnt from its own rows of the log, as `Site.warm_start` lets it do.

The past is the log as it is. The drawn worlds are what may follow it: their parameters are drawn from what the log
leaves open. So a setting that has learnt from the log is tried in them, beside the same setting that begins at nothing.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from fedbandit.advice.frontier import band_of, interval_of
from fedbandit.advice.model.fitted import Rows
from fedbandit.advice.trials import Candidate, Tried, Worlds
from fedbandit.core.algorithm import Algorithm, Setting
from fedbandit.core.turns import Observations
from fedbandit.experiments.intervals import plain
from fedbandit.files.amounts import shown_bytes
from fedbandit.protocol.ledger import Ledger
from fedbandit.simulation.wire import Wire, begin

DRAWS = 10  # worlds that it is tried in


@dataclass(frozen=True)
class WarmStart:
    """The advised setting with a past, over the time of the log once more; rewards are expected ones."""

    gain: float  # beyond the same setting that begins at nothing
    gain_band: tuple[float, float]
    beyond_alone: float  # beyond every site alone, each with its own past too
    beyond_alone_interval: tuple[float, float]  # 95 %, of the mean over draws
    bytes: float  # that the past takes, once, before the first decision
    bytes_later: float  # in the time of the log, without idle talk
    draws: int

    def sentence(self, helps: bool) -> str:
        """Return it in words; `helps` tells whether a federation is advised."""
        low, high = (plain(each) for each in self.gain_band)
        said = (
            "warm start: had every site first learnt from its rows of this log, the same setting would have earned "
            f"{_more(self.gain)} in the same time (in nine of ten draws {low} to {high})"
        )
        return f"{said}, for {shown_bytes(self.bytes)} once; {self._beside_alone()}" if helps else said

    def _beside_alone(self) -> str:
        low, high = self.beyond_alone_interval
        said = (
            f"that is {_more(self.beyond_alone)} than every site alone with its own past (95 % interval {plain(low)} "
            f"to {plain(high)})"
        )
        if low > 0:
            return said
        advice = "federation buys nothing that can be told" if high >= 0 else "let every site learn alone"
        return f"{said}, so with that past {advice}"


def _more(reward: float) -> str:
    return f"{plain(abs(reward))} {'less' if reward < 0 else 'more'}"


def warm_start_of(worlds: Worlds, advised: Candidate, alone: Candidate, tried: Tried) -> WarmStart:
    """Return what a past changes for the advised setting, in worlds in which it was tried without one."""
    cold = tried.of(advised)[0][:DRAWS]
    both = [(each.algorithm, with_past_of(worlds.rows, each.algorithm)) for each in dict.fromkeys((advised, alone))]
    regret, later = worlds.go_on(both, len(cold))
    warm, others = regret[0], regret[-1]
    return WarmStart(
        float((cold - warm).mean()), band_of(cold - warm), float((others - warm).mean()), interval_of(others - warm),
        float(both[0][1].ledger.bytes), float(later[0].mean()), len(cold),
    )  # fmt: skip


def with_past_of(rows: Rows, algorithm: Algorithm) -> Wire:
    """Return a federation whose sites have learnt from their rows, one site after the other, and told each other."""
    setting = Setting(rows.sites, rows.vectors.shape[1], rows.vectors.shape[2], horizon=len(rows.site))
    wire = begin(algorithm.federation(setting), rows.sites, Ledger())
    chosen, first = rows.chosen[:, np.newaxis, np.newaxis], np.zeros(1, dtype=np.int64)
    for row in np.argsort(rows.site, kind="stable").tolist():
        seen = Observations(chosen[row], first, rows.reward[row : row + 1])
        wire.carry(wire.clients.learn(rows.site[row : row + 1], seen))
    return wire
