"""The result of one run: arrays over turns, a summary, a plot, and files without pickles."""

from __future__ import annotations

import json
import math
from dataclasses import dataclass, field, fields
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from fedbandit.core.arrays import Floats, Ints
from fedbandit.core.errors import InvalidInput
from fedbandit.files.frames import frame_of
from fedbandit.files.npz import read_npz
from fedbandit.files.text_tables import html_table
from fedbandit.simulation.trace import Trace

TOTALS = ("turns", "clients", "regret", "reward", "messages", "bytes", "uploads", "downloads", "rounds", "seconds")


@dataclass(frozen=True)
class Result:
    """A finished run. `regret`, `reward`, messages, scalars and bytes are cumulative over turns.

    Regret is nan where the world does not know it (a recorded file without `mean`), reward where it pays none (duels),
    propensity where no exact one is known (a sample chose).
    """

    algorithm: str
    parameters: dict[str, Any]
    environment: str
    world: dict[str, Any]
    seed: int
    clients: int
    uploads: int
    downloads: int
    rounds: int
    seconds: float
    client: Ints = field(repr=False)
    choice: Ints = field(repr=False)  # (turns,), or (turns, 2) for duels
    turn_regret: Floats = field(repr=False)
    turn_reward: Floats = field(repr=False)
    propensity: Floats = field(repr=False)  # how likely each choice was, before its lot was drawn
    messages: Ints = field(repr=False)
    scalars: Ints = field(repr=False)
    bytes: Ints = field(repr=False)
    warnings: tuple[str, ...] = ()  # what the algorithm would have whoever runs it know, with a remedy

    @classmethod
    def of(cls, trace: Trace, seconds: float, **about: Any) -> Result:
        """Make the result of a trace."""
        ledger = trace.ledger
        sums: dict[str, Any] = {name: np.cumsum(getattr(trace, name)) for name in ("messages", "scalars", "bytes")}
        return cls(
            uploads=ledger.uploads, downloads=ledger.downloads, rounds=trace.rounds, seconds=seconds,
            client=trace.client, choice=trace.choice, turn_regret=trace.regret, turn_reward=trace.reward,
            propensity=trace.propensity, **sums, **about,
        )  # fmt: skip

    @cached_property
    def regret(self) -> Floats:
        """Return the regret of the run up to each turn."""
        return np.cumsum(self.turn_regret)

    @cached_property
    def reward(self) -> Floats:
        """Return the reward of the run up to each turn."""
        return np.cumsum(self.turn_reward)

    @property
    def turns(self) -> int:
        """Return the number of turns."""
        return len(self.client)

    def summary(self) -> dict[str, Any]:
        """Return the totals of the run, ready for JSON; what the world does not know is None."""
        return {
            "algorithm": self.algorithm,
            "parameters": self.parameters,
            "environment": self.environment,
            "world": self.world,
            "seed": self.seed,
            "turns": self.turns,
            "clients": self.clients,
            "regret": _known(self.regret[-1]),
            "reward": _known(self.reward[-1]),
            "messages": int(self.messages[-1]),
            "scalars": int(self.scalars[-1]),
            "bytes": int(self.bytes[-1]),
            "uploads": self.uploads,
            "downloads": self.downloads,
            "rounds": self.rounds,
            "seconds": round(self.seconds, 3),
            "warnings": list(self.warnings),
        }

    def plot(self, path: str | Path | None = None) -> Any:
        """Draw regret (or reward) and messages over turns; write the figure to `path` if one is given."""
        from fedbandit.simulation.drawing import plot_run  # matplotlib is imported only by those who draw

        return plot_run([self], path)

    def save(self, path: str | Path) -> None:
        """Write everything to one .npz file without pickles."""
        arrays = {each.name: getattr(self, each.name) for each in _arrays()}
        about = {each.name: getattr(self, each.name) for each in fields(self) if each.name not in arrays}
        with Path(path).open("wb") as file:
            np.savez_compressed(file, about=np.array(json.dumps(about)), **arrays)

    @classmethod
    def load(cls, path: str | Path) -> Result:
        """Read what `save` wrote."""
        data: dict[str, Any] = read_npz(path)
        try:
            about = {"warnings": (), **json.loads(str(data["about"]))}
            about["warnings"] = tuple(about["warnings"])
            data.setdefault("propensity", np.full(len(data["client"]), np.nan))  # before it was kept
            return cls(**about, **{each.name: data[each.name] for each in _arrays()})
        except (ValueError, KeyError, TypeError) as error:
            raise InvalidInput(f"{path} is not a saved result ({error}): give a file written by Result.save") from None

    def write_trace(self, path: str | Path) -> None:
        """Write one row a turn as CSV: reward and regret of the turn, communication cumulative over the run."""
        columns = self._columns()
        with Path(path).open("w", newline="\n") as file:
            file.write(",".join(columns) + "\n")
            for row in zip(*(column.tolist() for column in columns.values()), strict=True):
                file.write(",".join("" if value != value else repr(value) for value in row) + "\n")

    def to_frame(self, library: str = "pandas") -> Any:
        """Return one row a turn as a data frame of pandas, polars or pyarrow, with the columns of `write_trace`."""
        return frame_of(self._columns(), library)

    def _columns(self) -> dict[str, Any]:
        chosen: dict[str, Any]
        if self.choice.ndim == 2:
            chosen = {"arm": self.choice[:, 0], "rival": self.choice[:, 1]}
        else:
            chosen = {"arm": self.choice, "reward": self.turn_reward}
        return {
            "turn": np.arange(self.turns), "client": self.client, **chosen, "regret": self.turn_regret,
            "messages": self.messages, "scalars": self.scalars, "bytes": self.bytes, "propensity": self.propensity,
        }  # fmt: skip

    def _repr_html_(self) -> str:
        """Show the totals in a notebook."""
        summary = self.summary()
        unknown = [name for name in ("regret", "reward") if summary[name] is None]
        names = [name for name in TOTALS if name not in unknown]
        caption = f"{self.algorithm} in {self.environment}, seed {self.seed}"
        return html_table(names, [[f"{summary[name]:,.6g}" for name in names]], caption)


def _arrays() -> list[Any]:
    return [each for each in fields(Result) if not each.repr]


def _known(value: float) -> float | None:
    return None if math.isnan(value) else float(value)
