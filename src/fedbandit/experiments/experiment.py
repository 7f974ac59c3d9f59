"""What an experiment is: a world, series of runs on it, how often, what to draw, and what the paper claims.

Experiment(
    id="paper/figure",
    title="what it shows",
    environment="linear",
    world={"clients": 1000},
    turns=30_000,
    seeds=10,
    series=(Series("Async", "async-linucb", grid(upload_threshold=[1.1, 2, 5])),),
    figures=(TradeOff(x="messages", y="regret"),),
    claims=(),
    quick=Quick(turns=3_000, seeds=2, world={"clients": 100}),
).register()
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import product
from pathlib import PurePath
from typing import Any

from fedbandit.core.algorithm import algorithms
from fedbandit.core.environment import environments
from fedbandit.core.errors import InvalidInput, unknown
from fedbandit.core.registry import Registry
from fedbandit.experiments.claims import Claim
from fedbandit.experiments.code import code_of
from fedbandit.experiments.consistency import check_points, check_shown
from fedbandit.experiments.figures import Figure
from fedbandit.files.amounts import counted


@dataclass(frozen=True)
class Point:
    """One setting of a series: the algorithm's parameters, what differs in the world, and its label."""

    parameters: Mapping[str, Any] = field(default_factory=dict)
    world: Mapping[str, Any] = field(default_factory=dict)
    label: str = ""

    def value(self, name: str) -> Any:
        """Return the value of a parameter or of a size of the world, as this point sets it.

        >>> Point({"ridge": 2}, {"clients": 5}).value("clients")
        5
        """
        return self.parameters.get(name, self.world.get(name))


def grid(label: str = "", /, **values: Sequence[Any]) -> tuple[Point, ...]:
    """Return a point for every combination of the parameters' values.

    `label` is a format string over the names, as in "D={sync_threshold:g}"; without it the values are listed.

    >>> [point.label for point in grid(ridge=[1, 2], delta=[0.1])]
    ['1, 0.1', '2, 0.1']
    """
    points = []
    for combination in product(*values.values()):
        named = dict(zip(values, combination, strict=True))
        text = label.format(**named) if label else ", ".join(map(_short, combination))
        points.append(Point(parameters=named, label=text))
    return tuple(points)


def _short(value: Any) -> str:
    return f"{value:g}" if isinstance(value, int | float) else str(value)


def along(points: Sequence[Point], /, **world: Sequence[Any]) -> tuple[Point, ...]:
    """Return every point in every combination of the world's sizes.

    >>> [point.world["clients"] for point in along(grid(ridge=[1]), clients=[10, 20])]
    [10, 20]
    """
    return tuple(
        replace(
            point,
            world={**point.world, **dict(zip(world, sizes, strict=True))},
            label=", ".join(filter(None, [point.label, *(f"{n}={v}" for n, v in zip(world, sizes, strict=True))])),
        )
        for sizes in product(*world.values())
        for point in points
    )


@dataclass(frozen=True)
class Series:
    """Runs of one algorithm under one label: a line or a set of dots in the figures."""

    label: str
    algorithm: str
    points: tuple[Point, ...] = (Point(),)


@dataclass(frozen=True)
class Quick:
    """What `--quick` changes: a smaller world that shows the same in seconds."""

    seeds: int = 2
    turns: int | None = None
    rounds: int | None = None
    world: Mapping[str, Any] = field(default_factory=dict)
    every: int = 1  # take every n-th point of a series


@dataclass(frozen=True)
class Cell:
    """One run of an experiment: everything that determines its numbers."""

    environment: str
    world: Mapping[str, Any]
    algorithm: str
    parameters: Mapping[str, Any]
    turns: int
    seed: int
    fingerprint: str = ""  # of the files behind the world

    def key(self) -> str:
        """Return a name that changes with anything that changes the numbers, the code that makes them included."""
        content = {**vars(self), "world": dict(self.world), "parameters": dict(self.parameters)}
        if not self.fingerprint:
            del content["fingerprint"]
        text = json.dumps([code_of(self.algorithm, self.environment), content], sort_keys=True, default=str)
        return hashlib.sha256(text.encode()).hexdigest()[:20]


@dataclass(frozen=True)
class Experiment:
    """A declared experiment. `turns` counts turns; `rounds`, if given instead, counts turns of each client."""

    id: str
    title: str
    environment: str
    series: tuple[Series, ...]
    world: Mapping[str, Any] = field(default_factory=dict)
    turns: int | None = None
    rounds: int | None = None
    seeds: int = 10
    figures: tuple[Figure, ...] = ()
    claims: tuple[Claim, ...] = ()
    quick: Quick = Quick()
    notes: str = ""
    # The label of a series whose reward in the same world, seed by seed, all rewards are divided by ("normalised").
    baseline: str = ""
    is_quick: bool = False  # whether this is what `--quick` makes of an experiment

    def register(self) -> Experiment:
        """Make the experiment known by its id."""
        experiments.add(self.id, self)
        return self

    def quickened(self) -> Experiment:
        """Return the experiment as `--quick` runs it."""
        quick = self.quick
        shorter = quick.turns is not None or quick.rounds is not None
        series = tuple(
            replace(
                each,
                points=tuple(
                    replace(point, world={name: quick.world.get(name, value) for name, value in point.world.items()})
                    for point in each.points[:: quick.every]
                ),
            )
            for each in self.series
        )
        return replace(
            self,
            series=series,
            world={**self.world, **quick.world},
            turns=quick.turns if shorter else self.turns,
            rounds=quick.rounds if shorter else self.rounds,
            seeds=min(self.seeds, quick.seeds),
            is_quick=True,
        )

    @property
    def length(self) -> str:
        """Return how long each run is, in words."""
        if self.rounds:
            return counted(self.rounds, "round")
        return counted(self.turns, "turn") if self.turns else "all turns"

    def cells(self) -> Iterator[tuple[Series, Point, Cell]]:
        """Yield every run: each series, each of its points, each seed."""
        known: dict[str, tuple[int, str]] = {}  # a world of files is read once
        for series in self.series:
            for point in series.points:
                world = {**self.world, **point.world}
                name = repr(sorted(world.items()))
                turns, fingerprint = known[name] = known.get(name) or self._length(world)
                for seed in range(self.seeds):
                    cell = Cell(self.environment, world, series.algorithm, point.parameters, turns, seed, fingerprint)
                    yield series, point, cell

    def check(self) -> None:
        """Refuse unknown names, bad values and points that cannot be told apart, before anything runs."""
        path = PurePath(self.id)
        if not path.parts or path.is_absolute() or ".." in path.parts:
            raise InvalidInput(
                f"id {self.id!r} cannot name a folder of results: give a plain name, as in my-experiment"
            )
        if self.baseline and self.baseline not in {series.label for series in self.series}:
            raise unknown("baseline", self.baseline, {series.label for series in self.series})
        if not self.series:
            raise InvalidInput(f"experiment {self.id!r} has no series: add at least one [[series]]")
        if self.seeds < 1:
            raise InvalidInput(f"seeds must be at least 1, not {self.seeds}: give the number of repetitions")
        if self.turns is not None and self.rounds is not None:
            raise InvalidInput(f"turns={self.turns} and rounds={self.rounds} are both given: keep one of them")
        for series in self.series:
            for point in series.points:
                algorithms[series.algorithm].from_values(point.parameters)
                environments[self.environment].from_values({**self.world, **point.world})
        check_points(self.series)
        check_shown(self.series, self.figures, self.claims, ("normalised",) if self.baseline else ())

    def _length(self, world: Mapping[str, Any]) -> tuple[int, str]:
        """Return the number of turns in a world, and the fingerprint of its files."""
        environment = environments[self.environment].from_values(world)
        setting = environment.setting()
        turns = setting.horizon if self.turns is None else self.turns
        return (turns if self.rounds is None else self.rounds * setting.clients), environment.fingerprint()


experiments: Registry[Experiment] = Registry("experiment", "fedbandit.experiments")
