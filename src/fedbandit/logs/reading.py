"""From a table to the decisions of a log: roles, checks of every row, and the order of time."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from fedbandit.core.arrays import Floats, Ints
from fedbandit.core.errors import InvalidInput
from fedbandit.features.checks import shown
from fedbandit.features.columns import Column
from fedbandit.features.values import different_texts
from fedbandit.logs.arrow_table import ArrowTable
from fedbandit.logs.candidates import Candidates, Ids, in_lists, in_rows, of_catalogue, texts_in
from fedbandit.logs.csv_table import CsvTable
from fedbandit.logs.decisions import Decisions
from fedbandit.logs.faults import Faults
from fedbandit.logs.instants import seconds_of
from fedbandit.logs.roles import Roles
from fedbandit.logs.site_table import SiteTable
from fedbandit.logs.table import Columns, Table

PARQUET = b"PAR1"  # how such a file begins


def table_of(source: Any) -> Table:
    """Return the table of a file, by what is in it, or of a data frame.

    >>> table_of(3)
    Traceback (most recent call last):
    ...
    fedbandit.core.errors.InvalidInput: 3 is no log: give the path of a CSV or Parquet file, or a data frame
    """
    if hasattr(source, "__arrow_c_stream__"):
        return ArrowTable.of(source)
    if not isinstance(source, str | Path):
        raise InvalidInput(f"{shown(source)} is no log: give the path of a CSV or Parquet file, or a data frame")
    path = Path(source)
    if path.is_dir():
        return SiteTable.read(path)
    try:
        with path.open("rb") as file:
            is_parquet = file.read(len(PARQUET)) == PARQUET
    except OSError as error:
        raise InvalidInput(f"cannot read {path}: {error.strerror}: give the path of a log") from None
    return ArrowTable.read(path) if is_parquet else CsvTable.read(path)


def read_decisions(
    table: Table, columns: Mapping[str, str], sites: Sequence[Any] | None, catalogue: Table | None
) -> Decisions:
    """Return the decisions of a table, in the order of their times; whatever is wrong is refused by row."""
    roles, faults = Roles(table, {**table.roles, **columns}), Faults()
    if table.rows < 2:
        raise InvalidInput(f"{table.source} has {'one row' if table.rows else 'no rows'}: a log needs at least two")
    rows = np.arange(table.rows)
    found: Candidates | None = None
    if roles.by_rows:
        found, rows = in_rows(table, roles, faults)
    elif "arms" in roles:
        found = in_lists(table, roles, catalogue, faults)
    elif catalogue is not None:
        found = of_catalogue(table, roles, catalogue, faults)
    choice = Ids().of(table.column(roles["choice"]), faults, "choice") if found is None else found.choice
    time, names, site = _times(table, roles, rows, faults), *_sites(table, roles, rows, sites, faults)
    reward, is_empty = _rewards(table, roles, rows, faults)
    propensity = _propensities(table, roles, rows, faults)
    faults.refuse(table.source)
    if found is not None and found.offered.shape[1] < 2:
        raise InvalidInput(f"{table.source}: no row offers more than one arm: there was nothing to decide")
    earlier = np.flatnonzero(np.diff(time) < 0) + 1
    everything = Decisions(
        site=site, sites=names, time=time, choice=choice, reward=reward, propensity=propensity, row=rows + 1,
        context=Columns(table.column, roles.others, rows), arms={} if found is None else found.arms,
        candidates=None if found is None else found.offered, unrewarded=int(is_empty.sum()),
        unordered=len(earlier), first_unordered=int(rows[earlier[0]]) + 1 if len(earlier) else 0,
        explored=table.explored(),
    )  # fmt: skip
    rewarded = np.flatnonzero(~is_empty)
    if len(rewarded) < 2:
        raise InvalidInput(
            f"{table.source} has {'one row' if len(rewarded) else 'no rows'} with a reward: a log needs at least two"
        )
    return everything.take(rewarded[np.argsort(time[rewarded], kind="stable")])


def _times(table: Table, roles: Roles, rows: Ints, faults: Faults) -> Floats:
    column = table.column(roles["time"]).take(rows)
    time, is_wrong = seconds_of(column)
    faults.add(is_wrong, lambda place: f"time is {_shown(column, place)}: give ISO 8601, or seconds", rows + 1)
    return time


def _sites(
    table: Table, roles: Roles, rows: Ints, given: Sequence[Any] | None, faults: Faults
) -> tuple[tuple[str, ...], Ints]:
    """Return the names of sites, and the number of each row's; they are sorted where they are not given."""
    column = table.column(roles["site"]).take(rows)
    different = column.as_values()
    texts = texts_in(different.values)
    if given is None:
        known = [text for text in texts if text is not None]  # numbers are in order
        names = tuple(dict.fromkeys(known if column.numbers is not None else sorted(known)))
    else:
        names = different_texts(list(given))
        if not names:
            raise InvalidInput(f"sites must be different names, not {shown(given)}: give each site once")
    numbers = {name: number for number, name in enumerate(names)}
    site = np.array([*(-1 if text is None else numbers.get(text, -1) for text in texts), -1])[different.places]
    remedy = "give a text or a whole number" if given is None else f"it is none of the {len(names)} that are given"
    faults.add(site < 0, lambda place: f"site is {_shown(column, place)}: {remedy}", rows + 1)
    return names, site.astype(np.int64)


def _rewards(table: Table, roles: Roles, rows: Ints, faults: Faults) -> tuple[Floats, Any]:
    found = table.numbers(roles["reward"])
    reward, is_empty = found.values[rows], found.is_empty[rows]
    faults.add(
        ~np.isfinite(reward) & ~is_empty,
        lambda place: f"reward is {reward[place]:g}: it must be finite, or empty where it is not known",
        rows + 1,
    )
    return reward, is_empty


def _propensities(table: Table, roles: Roles, rows: Ints, faults: Faults) -> Floats | None:
    if "propensity" not in roles:
        return None
    found = table.numbers(roles["propensity"])
    chance, is_empty = found.values[rows], found.is_empty[rows]
    faults.add(is_empty, lambda _: "propensity is missing: it must be in (0, 1]", rows + 1)
    is_wrong = ~((chance > 0) & (chance <= 1)) & ~is_empty
    faults.add(is_wrong, lambda place: f"propensity is {chance[place]:g}: it must be in (0, 1]", rows + 1)
    return chance


def _shown(column: Column, place: int) -> str:
    one = column.take(np.array([place])).as_values()
    return shown(one.values[one.places[0]]) if one.places[0] >= 0 else "missing"
