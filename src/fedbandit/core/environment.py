"""An environment: named, with declared parameters, that shows turns and answers choices."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, ClassVar

from fedbandit.core.algorithm import Setting
from fedbandit.core.arrays import Floats
from fedbandit.core.parameters import Parameters, parameter
from fedbandit.core.registry import Registry
from fedbandit.core.turns import Turns


@dataclass(frozen=True)
class Environment(Parameters):
    """The parameters of one kind of world. A subclass with an `id` is known everywhere by that name."""

    id: ClassVar[str] = ""
    title: ClassVar[str] = ""

    epoch_length: int = parameter(
        0, "turns of the whole federation in an epoch, at whose end algorithms with a discount forget; 0: no epochs",
        general=True, at_least=0,
    )  # fmt: skip

    def __init_subclass__(cls, id: str = "", title: str = "", **more: Any) -> None:
        """Register a named environment."""
        super().__init_subclass__(**more)
        if id:
            cls.id, cls.title = id, title
            environments.add(id, cls)

    @abstractmethod
    def setting(self) -> Setting:
        """Return the sizes of the world; its horizon is the natural number of turns."""
        raise TypeError(f"{type(self).__name__} does not say its sizes")

    def acting(self, turns: int) -> int:
        """Return how many clients have a turn among so many, at most: what a run needs memory for."""
        return min(self.setting().clients, turns)

    def fingerprint(self) -> str:
        """Return a text that differs whenever the files behind this world differ; empty if there are none."""
        return ""

    def data_set(self) -> tuple[str, str] | None:
        """Return the data set behind the world, by its name, and the path given for it ("": the usual places)."""
        return None

    def release_noise(self) -> Floats | None:
        """Return the noise to add to each release, shape (clients, releases, numbers); None: drawn from the seed."""
        return None

    @abstractmethod
    def turns(self, count: int, seed: int, block: int) -> Iterator[Turns]:
        """Yield `count` turns in blocks of at most `block`; the same seed gives the same world."""
        raise TypeError(f"{type(self).__name__} does not make turns")


environments: Registry[type[Environment]] = Registry("environment", "fedbandit.environments")
