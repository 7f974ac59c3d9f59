"""Which column of a log plays which role."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from fedbandit.core.errors import InvalidInput, unknown
from fedbandit.features.checks import shown
from fedbandit.files.toml import read_toml
from fedbandit.logs.table import Table

ROLES = {
    "time": "when it was decided: ISO 8601, or seconds",
    "site": "where it was decided",
    "reward": "what was earned; empty where it is not known",
    "choice": "the id of the chosen arm",
    "propensity": "how likely the choice was, in (0, 1]",
    "arms": "the candidates: ids, tables, or either as JSON",
    "id": "of tables: which value is the id of an arm",
    "decision": "in place of arms: which rows are candidates of one decision",
    "chosen": "in place of choice: whether this candidate was chosen",
}


class Roles:
    """The names of columns by their roles; a role that is not given is played by the column of its own name.

    >>> from fedbandit.logs.csv_table import CsvTable
    >>> table = CsvTable("log.csv", ["time", "site", "clicked", "choice"], [])
    >>> Roles(table, {"reward": "clicked"})["reward"]
    'clicked'
    """

    def __init__(self, table: Table, given: Mapping[str, str]) -> None:
        """Find the columns; one that is given, or needed, and is not there is refused."""
        self._table = table
        self._given = dict(given)
        for role, name in self._given.items():
            if role not in ROLES:
                raise unknown("role of a column", str(role), ROLES)
            if role != "id" and name not in table.names:
                raise self._absent(f"column {name!r} for {role}")
        self.by_rows = "decision" in self  # a row is a candidate, not a decision
        needed = ["time", "site", "reward", *(["chosen"] if self.by_rows else ["choice"])]
        for role in needed:
            if role not in self:
                raise self._absent(f"column {role!r}")

    def __contains__(self, role: str) -> bool:
        """Tell whether a column plays a role."""
        return self[role] in self._table.names

    def __getitem__(self, role: str) -> str:
        """Return the name of the column that plays a role."""
        return self._given.get(role, role)

    @property
    def others(self) -> list[str]:
        """Return the columns that play no role: what is known of the case, or of the arms."""
        played = {self[role] for role in ROLES if role != "id"}
        return [name for name in self._table.names if name not in played]

    def _absent(self, what: str) -> InvalidInput:
        return InvalidInput(
            f"{self._table.source} has no {what} (it has {', '.join(self._table.names) or 'none'}): add it, or name "
            "the right one in columns"
        )


def read_roles(path: Path) -> dict[str, str]:
    """Read a file that says which columns play which roles: lines such as reward = "clicked"."""
    found: dict[str, Any] = read_toml(path)
    for role, name in found.items():
        if role not in ROLES:
            raise InvalidInput(f"{path}: {unknown('role of a column', role, ROLES)}")
        if not isinstance(name, str):
            raise InvalidInput(f"{path}: {role} must be the name of a column, not {shown(name)}: write it as a text")
    return found
