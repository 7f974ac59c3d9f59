"""Settings tried in worlds that a fitted model draws: the same worlds for all, so that differences are paired."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np

from fedbandit.advice.families import ALONE
from fedbandit.advice.model.fitted import FittedModel, Rows
from fedbandit.advice.model.worlds import LogWorld, drawn_world
from fedbandit.algorithms.linear.pooled_linucb import RawObservation
from fedbandit.core.algorithm import Algorithm, algorithms
from fedbandit.core.arrays import Floats
from fedbandit.core.interfaces import Outgoing
from fedbandit.protocol.ledger import Ledger
from fedbandit.simulation.in_process import simulate
from fedbandit.simulation.wire import Wire

Progress = Callable[[int, int], None]
FEW = 2


@dataclass(frozen=True)
class Candidate:
    """A setting to be tried."""

    name: str  # of its algorithm
    setting: str  # for people
    algorithm: Algorithm
    is_pooled: bool = False  # one client that has everyone's raw data: a baseline


@dataclass
class Tried:
    """What settings had of regret and bytes, world by world: (settings, worlds)."""

    candidates: list[Candidate]
    regret: Floats
    bytes: Floats

    def of(self, candidate: Candidate) -> tuple[Floats, Floats]:
        """Return the regret and the bytes of one setting in each world."""
        place = self.candidates.index(candidate)
        return self.regret[place], self.bytes[place]

    def means(self, candidate: Candidate) -> tuple[float, float]:
        """Return the mean regret and the mean bytes of one setting."""
        regret, spent = self.of(candidate)
        return float(regret.mean()), float(spent.mean())


def alone(noise: float) -> Candidate:
    """Return the setting in which every site learns by itself."""
    return Candidate(ALONE, "", algorithms[ALONE].from_values({"noise": noise}))


def exploring(candidate: Candidate, share: float) -> Candidate:
    """Return a setting in which a share of the choices is uniform."""
    return replace(candidate, algorithm=replace(candidate.algorithm, explore=share))


def telling_at_once(candidate: Candidate) -> Candidate:
    """Return a setting in which an upload may rest on a single observation."""
    algorithm = candidate.algorithm
    return replace(candidate, algorithm=type(algorithm).from_values({**algorithm.values(), "smallest_upload": 1}))


def pooled(noise: float) -> Candidate:
    """Return the setting in which all raw data are in one place.

    It chooses as one client that has all turns: the same choices as `pooled-linucb`, in less time.
    """
    return Candidate("pooled-linucb", "", algorithms[ALONE].from_values({"noise": noise}), is_pooled=True)


@dataclass
class Worlds:
    """The worlds that a model draws, and what was run in them: each setting once in each world."""

    rows: Rows
    model: FittedModel
    progress: Progress
    to_run: int = 0  # runs that are planned in all, for the progress
    done: int = 0
    known: dict[tuple[Candidate, int], tuple[float, float]] = field(default_factory=dict)

    def try_all(self, candidates: Iterable[Candidate], count: int) -> Tried:
        """Run the settings in the first `count` worlds, except where that was done before."""
        candidates = list(candidates)
        for number in range(count):
            missing = [each for each in candidates if (each, number) not in self.known]
            if missing:
                world = drawn_world(self.rows, self.model, number)
                found = [_tried(each, world) for each in missing]
                self.known |= {(one, number): result for one, result in zip(missing, found, strict=True)}
                self.advance(len(missing))
        both = np.array([[self.known[each, number] for number in range(count)] for each in candidates])
        return Tried(candidates, both[:, :, 0], both[:, :, 1])

    @cached_property
    def few(self) -> list[LogWorld]:
        """Return the worlds in which thresholds are fitted to a budget."""
        return [drawn_world(self.rows, self.model, number) for number in range(FEW)]

    def bytes_in(self, some: Sequence[LogWorld], algorithm: Algorithm) -> float:
        """Return what an algorithm sends in worlds, on average."""
        spent = [simulate(algorithm, world, len(world.whole))[0].ledger.bytes for world in some]
        self.advance(len(some))
        return float(np.mean(spent))

    def go_on(self, begun: Sequence[tuple[Algorithm, Wire]], count: int) -> tuple[Floats, Floats]:
        """Return regret and bytes (settings, worlds), in the first `count` worlds, of federations that have a past."""
        found = []
        for number in range(count):
            world = drawn_world(self.rows, self.model, number)
            traces = [simulate(algorithm, world, len(world.whole), begun=wire)[0] for algorithm, wire in begun]
            found.append([(float(trace.regret.sum()), float(trace.ledger.bytes)) for trace in traces])
            self.advance(len(begun))
        both = np.array(found)
        return both[:, :, 0].T, both[:, :, 1].T

    def advance(self, runs: int) -> None:
        """Note that so many runs were made."""
        self.done += runs
        self.progress(self.done, max(self.to_run, self.done))


def _tried(candidate: Candidate, world: LogWorld) -> tuple[float, float]:
    """Return the regret and the bytes of a setting in a world."""
    turns = len(world.whole)
    if candidate.is_pooled:
        trace, _ = simulate(candidate.algorithm, world.as_one_client(), turns)
        return float(trace.regret.sum()), raw_bytes(turns, world.setting().dimension)
    trace, _ = simulate(candidate.algorithm, world, turns)
    return float(trace.regret.sum()), float(trace.ledger.bytes)


def raw_bytes(turns: int, dimension: int) -> float:
    """Return what it takes to send raw data: a vector and a reward for each turn.

    >>> raw_bytes(100, dimension=4)
    8500.0
    """
    ledger = Ledger()
    one = RawObservation(np.zeros((1, dimension)), np.zeros(1))
    ledger.record(Outgoing(np.zeros(1, dtype=np.int64), one), turns)
    return float(ledger.bytes)
