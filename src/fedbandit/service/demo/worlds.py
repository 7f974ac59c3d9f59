"""A federation for show: what `fedbandit up` runs on one machine, each part as a process of its own.

The folder holds everything: what the parts are told (`demo.json`, `coordinator.toml`), the broker's streams, the
coordinator's journals, the sites' stores and a log of each. A demo in a folder that was used before goes on from there.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from fedbandit.core.algorithm import Algorithm, Setting
from fedbandit.core.deadlines import MeetsDeadlines
from fedbandit.core.environment import Environment, environments
from fedbandit.core.errors import InvalidInput
from fedbandit.protocol.charter import Charter
from fedbandit.simulation.in_process import check_kind

NAME = "demo"  # of the federation
FILE = "demo.json"


@dataclass(frozen=True)
class Demo:
    """What all parts of a demo must know.

    >>> from fedbandit.algorithms.linear.async_linucb import AsyncLinUCB
    >>> from fedbandit.environments.linear import Linear
    >>> demo = Demo.of(AsyncLinUCB(), Linear(clients=3, arms=4, dimension=2))
    >>> demo.sites, Demo.from_text(demo.text) == demo
    (3, True)
    """

    charter: Charter
    world: Environment
    seed: int = 0
    rate: float = 2.0  # decisions a second, of each site
    delay: float = 2.0  # seconds until a reward is known, at most

    @classmethod
    def of(cls, algorithm: Algorithm, world: Environment, **more: Any) -> Demo:
        """Return the demo of an algorithm in a world, if they fit."""
        check_kind(algorithm, world, next(world.turns(world.setting().clients, 0, world.setting().clients)))
        size = world.setting()
        horizon = size.horizon // size.clients if algorithm.acts_in_rounds else size.horizon
        setting = Setting(size.clients, size.arms, size.dimension, horizon)
        demo = cls(Charter(algorithm, setting), world, **more)
        charter = Charter(algorithm, setting, demo._epoch_seconds())
        charter.require_deployable()
        return replace(demo, charter=charter)

    def _epoch_seconds(self) -> float | None:
        """Return how long the sites take for the turns of one epoch, where the algorithm forgets."""
        discount = self.charter.algorithm.discount
        if discount == 1.0:
            return None
        if not self.world.epoch_length:
            raise InvalidInput(
                f"discount={discount:g} forgets when epochs end, but this world has none: give it an epoch_length"
            )
        return self.world.epoch_length / (self.rate * self.sites)

    @property
    def sites(self) -> int:
        """Return how many sites there are."""
        return self.charter.setting.clients

    @property
    def text(self) -> str:
        """Return the demo as JSON."""
        values = {
            "charter": self.charter.text, "environment": self.world.id, "world": self.world.values(),
            "seed": self.seed, "rate": self.rate, "delay": self.delay,
        }  # fmt: skip
        return json.dumps(values, sort_keys=True)

    @classmethod
    def from_text(cls, text: str) -> Demo:
        """Return the demo that a text stands for."""
        values = json.loads(text)
        world = environments[values["environment"]].from_values(values["world"])
        charter = Charter.from_text(values["charter"])
        return cls(charter, world, values["seed"], values["rate"], values["delay"])

    def write(self, folder: Path, broker: str, http: str) -> None:
        """Write what the parts are told; refuse a folder in which another demo has begun."""
        file = folder / FILE
        if file.exists() and Demo.from_text(file.read_text(encoding="utf-8")).charter != self.charter:
            raise InvalidInput(f"{folder} holds another demo: give the same algorithm and world, or another folder")
        file.write_text(self.text, encoding="utf-8")
        size, algorithm = self.charter.setting, self.charter.algorithm
        parameters = {name: value for name, value in algorithm.values().items() if value is not None}
        waits = isinstance(self.charter.build().server, MeetsDeadlines)
        lines = [
            f"broker = {json.dumps(broker)}",
            'journal = "journals"',
            f"http = {json.dumps(http)}",
            f"[federations.{NAME}]",
            f"algorithm = {json.dumps(algorithm.id)}",
            *(f"{name} = {getattr(size, name)}" for name in ("clients", "arms", "dimension", "horizon")),
            *(["deadline = 10"] if waits else []),
            *([] if self.charter.epoch_seconds is None else [f"epoch_seconds = {self.charter.epoch_seconds!r}"]),
            f"[federations.{NAME}.set]",
            *(f"{name} = {_toml(value)}" for name, value in parameters.items()),
        ]
        (folder / "coordinator.toml").write_text("\n".join(lines) + "\n", encoding="utf-8")

    @classmethod
    def read(cls, folder: Path) -> Demo:
        """Return the demo of a folder."""
        return cls.from_text((folder / FILE).read_text(encoding="utf-8"))


def _toml(value: Any) -> str:
    return "inf" if value == "inf" else json.dumps(value)
