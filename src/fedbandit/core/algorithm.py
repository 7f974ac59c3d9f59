"""An algorithm: named, with declared parameters, that makes its two sides for a setting."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Self

import numpy as np

from fedbandit.core.changes import Change
from fedbandit.core.errors import InvalidInput
from fedbandit.core.exploring import exploring
from fedbandit.core.forgetting import forgetting
from fedbandit.core.interfaces import Federation
from fedbandit.core.parameters import Described, Parameters, parameter
from fedbandit.core.registry import Registry


@dataclass(frozen=True, slots=True)
class Setting:
    """The sizes that an algorithm is told before it starts: how many clients, arms, features and turns there are.

    `dimension` is the number of features of an arm. `horizon` is the T of the formulas: the number of turns, or of
    rounds for algorithms that act in rounds.
    """

    clients: int
    arms: int
    dimension: int
    horizon: int

    def __post_init__(self) -> None:
        """Check the sizes.

        >>> Setting(clients=0, arms=2, dimension=2, horizon=1)
        Traceback (most recent call last):
        ...
        fedbandit.core.errors.InvalidInput: clients must be a whole number of at least 1, not 0: give how many there are
        """
        for name in ("clients", "arms", "dimension", "horizon"):
            value = getattr(self, name)
            if not isinstance(value, int | np.integer) or isinstance(value, bool) or value < 1:
                raise InvalidInput(
                    f"{name} must be a whole number of at least 1, not {value!r}: give how many there are"
                )


@dataclass(frozen=True)
class Algorithm(Parameters):
    """The parameters of one algorithm. A subclass with an `id` is known everywhere by that name.

    @dataclass(frozen=True)
    class Mine(Algorithm, id="mine", title="one line", paper="Author 2026"):
        ridge: float = parameter(1.0, "regularisation", symbol="lambda", above=0)

        def build(self, setting: Setting) -> Federation: ...
    """

    id: ClassVar[str] = ""
    title: ClassVar[str] = ""
    paper: ClassVar[str] = ""
    acts_in_rounds: ClassVar[bool] = False  # every client has one turn a round; the horizon counts rounds
    shares_context: ClassVar[bool] = False  # a turn offers one context (d,) for all arms, not features (K, d)
    duels: ClassVar[bool] = False  # a choice is a pair of arms, and who won is all that is learnt
    shares_raw_data: ClassVar[bool] = False  # true of centralised baselines alone
    hides_releases: ClassVar[bool] = False  # all that leaves a client is under noise: it is differentially private
    lighter: ClassVar[str] = "lower the dimension"  # what makes its messages smaller

    carries_over: ClassVar[Change] = Change.NEVER  # what it means that features are added, removed or weighed anew

    discount: ClassVar[float] = 1.0  # what an observation keeps of its weight when an epoch ends; a parameter of some
    smallest_upload: ClassVar[int] = 1  # observations that an upload rests on at least; a parameter of some
    restart_quorum: ClassVar[int] = 0  # clients whose alarms let all be forgotten; 0: none do; a parameter of some

    explore: float = parameter(
        0.0, "share of choices that are uniform, so that every arm has a known chance of at least explore / K",
        symbol="e", general=True, at_least=0, at_most=1, change=Change.AT_ONCE,
    )  # fmt: skip

    def __init_subclass__(cls, id: str = "", title: str = "", paper: str = "", **more: Any) -> None:
        """Register a named algorithm."""
        super().__init_subclass__(**more)
        if id:
            cls.id, cls.title, cls.paper = id, title, paper
            algorithms.add(id, cls)

    @classmethod
    def describe(cls) -> list[Described]:
        """List the parameters: names, defaults, meanings, limits, and when a running federation can change them.

        A change for which all that was learnt must be carried over is listed as `Change.NEVER` if this algorithm cannot
        do that.
        """
        told = super().describe()
        if cls.carries_over is Change.MIGRATION:
            return told
        return [replace(each, change=Change.NEVER) if each.change is Change.MIGRATION else each for each in told]

    def for_client(self, client: int) -> Self:
        """Return the algorithm as one client has it: a parameter with a value for each client has this client's."""
        own = {name: value[client] for name, value in vars(self).items() if isinstance(value, tuple)}
        return replace(self, **own) if own else self

    @abstractmethod
    def build(self, setting: Setting) -> Federation:
        """Make both sides for a setting."""
        raise TypeError(f"{type(self).__name__} does not say how to build its two sides")

    def federation(self, setting: Setting) -> Federation:
        """Return both sides as they run: those that `build` makes, with `discount`, and `explore` around choices."""
        if self.explore and self.duels:
            raise InvalidInput(
                f"explore={self.explore:g} is for algorithms that choose one arm, and {self.id} has two: leave it out"
            )
        sides = forgetting(self.build(setting), self.id, self.discount)
        return exploring(sides, self.explore, setting.arms)


algorithms: Registry[type[Algorithm]] = Registry("algorithm", "fedbandit.algorithms")
