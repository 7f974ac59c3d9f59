"""The decision log of a site as a table, which is read like any other log."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from fedbandit.core.errors import InvalidInput
from fedbandit.features.checks import shown
from fedbandit.features.columns import Column
from fedbandit.logs.site_rows import rows_of
from fedbandit.logs.table import Lists, Numbers, lists_of

HIDDEN = (
    "id", "version", "charter", "explore", "predicted", "rewarded", "expired", "control", "control_share", "vectors",
)  # fmt: skip


class SiteTable:
    """Rows of a site's log. Its contexts are columns; what else a site writes down of a decision is hidden."""

    def __init__(self, source: str, rows: Sequence[Mapping[str, Any]]) -> None:
        """Take the rows of one log or of several."""
        self.source = source
        self.rows = len(rows)
        context = dict.fromkeys(name for row in rows if isinstance(row["context"], dict) for name in row["context"])
        named = {name: f"decision {name}" if name in context else name for name in (*_ROLES, *HIDDEN)}
        self.roles: dict[str, str] = {}
        self.values: dict[str, list[Any]] = {}  # by column
        for name in ("time", "site", "choice", "reward", "propensity", *HIDDEN[:-1]):
            values = [row.get(name) for row in rows]
            if name not in _IF_ANY or any(each is not None for each in values):
                self.values[named[name]] = values
        self._take_arms(rows, named)
        for name in context:
            self.values[name] = [(row["context"] or {}).get(name) for row in rows]
        self.roles |= {role: named[role] for role in _ROLES if named[role] in self.values}
        self.hidden = [named[name] for name in HIDDEN if named[name] in self.values]
        self.names = [name for name in self.values if name not in self.hidden]

    @classmethod
    def read(cls, *folders: Path) -> SiteTable:
        """Read the logs of one site or of several."""
        return cls(", ".join(map(str, folders)), [row for folder in folders for row in rows_of(folder)])

    def _take_arms(self, rows: Sequence[Mapping[str, Any]], named: Mapping[str, str]) -> None:
        """See what was on offer: tables of values, vectors, or names of arms that share a context."""
        for number, row in enumerate(rows, start=1):
            if isinstance(row["choice"], list):
                raise InvalidInput(f"{self.source}: row {number} is a duel, which is not for logs: give other sites'")
            if isinstance(row["context"], list):
                raise InvalidInput(
                    f"{self.source}: row {number} has one vector for all its arms: give the site features, and log raw"
                )
        ids = [row["ids"] if row["ids"] is not None else list(range(len(row["arms"] or ()))) for row in rows]
        are_tables = [bool(row["arms"]) and isinstance(row["arms"][0], dict) for row in rows]
        if any(are_tables) and not all(are_tables):
            number = are_tables.index(False) + 1
            raise InvalidInput(f"{self.source}: row {number} has vectors, others have values: give logs of one kind")
        if any(are_tables):
            pairs = [pair for some, row in zip(ids, rows, strict=True) for pair in zip(some, row["arms"], strict=True)]
            is_free = all(arm.get("id", each) == each for each, arm in pairs)  # or has the very ids
            self.roles["id"] = own = "id" if is_free else "decision id"
            self.values[named["arms"]] = [
                [{own: each, **arm} for each, arm in zip(some, row["arms"], strict=True)]
                for some, row in zip(ids, rows, strict=True)
            ]
            return
        self.values[named["arms"]] = ids
        if any(row["arms"] for row in rows):
            self.values[named["vectors"]] = [row["arms"] for row in rows]

    def vectors(self) -> list[Any] | None:
        """Return the vectors of the arms of each row, where the site was given vectors or logged them."""
        return next((self.values[name] for name in self.hidden if name.endswith("vectors")), None)

    def explored(self) -> float | None:
        """Return the least share of uniform choices."""
        shares = next(self.values[name] for name in self.hidden if name.endswith("explore"))
        return min((float(each) for each in shares if each is not None), default=0.0)

    def column(self, name: str) -> Column:
        """Return a column of values."""
        return Column.of(self.values[name])

    def numbers(self, name: str) -> Numbers:
        """Return a column as numbers."""
        values = self.values[name]
        for row, each in enumerate(values, start=1):
            if each is not None and not isinstance(each, int | float):
                raise InvalidInput(f"{self.source}: row {row}: {name} is {shown(each)}: give a number, or nothing")
        is_empty = np.array([each is None for each in values], dtype=np.bool_)
        return Numbers(np.array([np.nan if each is None else each for each in values], dtype=np.float64), is_empty)

    def lists(self, name: str) -> Lists:
        """Return a column as lists."""
        return lists_of(self.values[name], name, self.source)


_IF_ANY = ("propensity", "control", "control_share")  # columns that are there if any row has a value
_ROLES = ("time", "site", "choice", "reward", "propensity", "arms")
