"""A log of past decisions: who decided what, when, between what, how likely it was, and what it earned."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from fedbandit.core.arrays import Floats, Ints
from fedbandit.core.errors import InvalidInput
from fedbandit.features.columns import Column
from fedbandit.features.features import Features
from fedbandit.files.checked_arrays import array_of, numbers_of, refuse_where
from fedbandit.logs.decisions import Decisions
from fedbandit.logs.reading import read_decisions, table_of
from fedbandit.logs.table import Columns


@dataclass(frozen=True)
class Log(Decisions):
    """Decisions in the order of their times. Rows without a reward are left out, and counted in `unrewarded`.

    >>> log = Log.from_arrays(site=[0, 1], arms=[[[1, 0], [0, 1]]] * 2, choice=[0, 1], reward=[1.0, 0.5])
    >>> len(log), log.sites, log.offered.shape
    (2, ('0', '1'), (2, 2))
    """

    vectors: Floats | None = None  # (T, K, d), where the log was made of arrays

    @classmethod
    def read(
        cls,
        source: Any,
        columns: Mapping[str, str] | None = None,
        *,
        sites: Sequence[Any] | None = None,
        arms: Any = None,
    ) -> Log:
        """Read a log, and check every row: a CSV or Parquet file, or a data frame (pandas, polars, DuckDB, Arrow).

        The folder in which a site logs its decisions is one, too, and so is what it was packed to.

        `columns` says which column plays which role where it has not the role's own name: `time`, `site`, `choice`,
        `reward`, and perhaps `propensity` and `arms`; or `decision` and `chosen` where each candidate has a row of its
        own. `sites` numbers the sites, which are sorted otherwise. `arms` is a catalogue with the values of arms, a
        file or a frame, whose ids the log names; if the log has no column of candidates, all of it was on offer.
        """
        table = table_of(source)
        found = read_decisions(table, columns or {}, sites, None if arms is None else table_of(arms))
        vectors = table.vectors()
        return cls(**vars(found), vectors=None if vectors is None else _padded(vectors, found.row, table.source))

    @classmethod
    def from_arrays(
        cls, *, site: Any, arms: Any, choice: Any, reward: Any, propensity: Any = None, time: Any = None
    ) -> Log:
        """Make a log of arrays: site (T,), the vectors of arms (T, K, d), choice (T,), reward (T,) and so on."""
        given = {"site": site, "arms": arms, "choice": choice, "reward": reward}
        given |= {name: each for name, each in (("propensity", propensity), ("time", time)) if each is not None}
        arrays = {name: np.asarray(each) for name, each in given.items()}
        vectors = numbers_of(arrays, "arms", (None, None, None), "the log")
        count, offered = vectors.shape[:2]
        if not count:
            raise InvalidInput("arms is empty: a log needs at least one decision")
        whole = {name: _whole(arrays, name, count) for name in ("site", "choice")}
        refuse_where((whole["choice"] < 0) | (whole["choice"] >= offered), whole["choice"], "choice",
                     f"arms are numbered 0 to {offered - 1}")  # fmt: skip
        refuse_where(whole["site"] < 0, whole["site"], "site", "sites are numbered from 0")
        numbers = {
            name: numbers_of(arrays, name, (count,), "the log") for name in arrays if name not in (*whole, "arms")
        }
        if propensity is not None:
            chance = numbers["propensity"]
            refuse_where((chance <= 0) | (chance > 1), chance, "propensity", "it must be in (0, 1]")
        log = cls(
            site=whole["site"], sites=tuple(str(each) for each in range(int(whole["site"].max()) + 1)),
            time=numbers.get("time", np.full(count, np.nan)), choice=whole["choice"],
            reward=numbers["reward"], propensity=numbers.get("propensity"), row=np.arange(1, count + 1),
            context=Columns(_no_column, []), arms={}, candidates=np.arange(count * offered).reshape(count, offered),
            vectors=vectors,
        )  # fmt: skip
        return log.take(np.argsort(log.time, kind="stable"))

    def take(self, places: Ints) -> Log:
        """Return some of the decisions."""
        return replace(super().take(places), vectors=None if self.vectors is None else self.vectors[places])

    @property
    def offered(self) -> Ints:
        """Return what each decision could choose from, shape (T, K): the numbers of rows of `arms`.

        A decision with fewer arms than others has -1 in the places that are left. If the log does not say what was on
        offer, this raises InvalidInput.
        """
        if self.candidates is None:
            raise InvalidInput(
                "what else was on offer is not in the log: name a column of candidates, or give a catalogue of arms, "
                "if all of it was on offer"
            )
        return self.candidates

    def encode(self, features: Features | None = None) -> Floats:
        """Return the vectors of all that was on offer (T, K, d), by features, or as they were given.

        Where fewer arms were on offer than elsewhere, copies of the first one follow, which no algorithm chooses.
        """
        if (features is None) != (self.vectors is not None):
            raise InvalidInput(
                "features were given for a log of vectors: leave them out"
                if features is not None
                else "features are missing: give them, as in fb.Features.read('features.toml')"
            )
        return features.encode_log(self) if features is not None else np.asarray(self.vectors)

    def record(self, path: str | Path, features: Features | None = None) -> None:
        """Write a recorded file in which each turn offers one arm: the one that was chosen in the log.

        An algorithm that runs on this file repeats the choices of the log. In the linear family the chosen arms alone
        decide when messages are sent, not the rewards. So the run tells exactly which messages and bytes these choices
        cost, with any threshold.
        """
        vectors = self.encode(features)
        chosen = vectors[np.arange(len(self)), self.choice][:, np.newaxis]
        _, client = np.unique(self.site, return_inverse=True)
        np.savez(path, client=client, arms=chosen, reward=self.reward[:, np.newaxis])


def _padded(vectors: list[Any], rows: Ints, source: str) -> Floats:
    """Return the vectors of some rows (T, K, d), with copies of its first where a row has fewer arms than others."""
    taken = [np.asarray(vectors[row - 1], dtype=np.float64) for row in rows.tolist()]
    dimensions = {arms.shape[-1] for arms in taken}
    if len(dimensions) > 1:
        raise InvalidInput(f"{source} has vectors of dimensions {sorted(dimensions)}: give logs of one federation")
    most = max(len(arms) for arms in taken)
    return np.array([np.concatenate([arms, np.repeat(arms[:1], most - len(arms), axis=0)]) for arms in taken])


def _no_column(name: str) -> Column:
    raise KeyError(name)


def _whole(arrays: Mapping[str, np.ndarray[Any, Any]], name: str, count: int) -> Ints:
    array = array_of(arrays, name, (count,), "the log")
    if array.dtype.kind not in "iu":
        raise InvalidInput(f"{name} must hold whole numbers, not {array.dtype}: store it as integers")
    return array.astype(np.int64)
