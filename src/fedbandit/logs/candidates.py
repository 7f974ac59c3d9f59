"""What was on offer at each decision of a log: arms with their values, and which of them was chosen."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from fedbandit.core.arrays import Bools, Ints
from fedbandit.core.errors import InvalidInput
from fedbandit.features.checks import shown
from fedbandit.features.columns import Column
from fedbandit.features.values import text_of
from fedbandit.logs.faults import Faults
from fedbandit.logs.roles import Roles
from fedbandit.logs.table import Columns, Table


class Candidates(NamedTuple):
    """The candidates of all decisions."""

    arms: Mapping[str, Column]  # their values
    offered: Ints  # (T, K): rows of `arms`; -1 beyond the last arm of a decision
    choice: Ints  # (T,): the place of the chosen arm


def texts_in(values: list[Any]) -> list[str | None]:
    """Return values as texts, None where one has none.

    >>> texts_in(["A-17", 2.0, 0.5])
    ['A-17', '2', None]
    """
    texts: list[str | None] = []
    for value in values:
        try:
            texts.append(text_of(value))
        except TypeError:
            texts.append(None)
    return texts


class Ids:
    """Numbers for ids, which are told apart by their texts."""

    def __init__(self) -> None:
        """Begin with none."""
        self._known: dict[str, int] = {}

    @property
    def texts(self) -> list[str]:
        """Return the ids by their numbers."""
        return list(self._known)

    def of(self, column: Column, faults: Faults, what: str, rows: Ints | None = None) -> Ints:
        """Return the number of each row's id; one that is missing or has no text is a fault."""
        different = column.as_values()
        texts = texts_in(different.values)
        numbers = [-1 if text is None else self._known.setdefault(text, len(self._known)) for text in texts]
        found = np.array([*numbers, -1], dtype=np.int64)[different.places]

        def words(place: int) -> str:
            value = different.values[different.places[place]] if different.places[place] >= 0 else None
            return f"{what} is {'missing' if value is None else shown(value)}: give a text or a whole number"

        faults.add(found < 0, words, rows)
        return found


def in_lists(table: Table, roles: Roles, catalogue: Table | None, faults: Faults) -> Candidates:
    """Return candidates that stand in a column of lists: ids of a catalogue, or tables of values."""
    lists = table.lists(roles["arms"])
    rows = np.repeat(np.arange(1, table.rows + 1), lists.counts)
    faults.add(lists.counts == 0, lambda _: "arms is empty: give what was on offer")
    ids, most = Ids(), int(lists.counts.max(initial=0))
    places = np.arange(most) < lists.counts[:, np.newaxis]  # where there is an arm
    offered = np.full((table.rows, most), -1, dtype=np.int64)
    arms: Mapping[str, Column]
    if lists.items is None:
        name = roles["id"]
        if name not in lists.fields:
            raise InvalidInput(
                f"{table.source}: the tables in {roles['arms']} have no {name!r} (they have "
                f"{', '.join(lists.fields)}): add it, or name the right one in columns as id"
            )
        numbers = ids.of(lists.fields[name], faults, f"{name} of an arm", rows)
        offered[places] = np.arange(len(numbers))
        arms = lists.fields
    elif catalogue is None:
        numbers = offered[places] = ids.of(lists.items, faults, "an id in arms", rows)
        arms = {roles["id"]: Column(None, ids.texts, np.arange(len(ids.texts)))}
    else:
        arms = Columns(catalogue.column, catalogue.names)
        listed = _listed(arms, roles["id"], catalogue, ids)
        numbers = ids.of(lists.items, faults, "an id in arms", rows)
        row_of = np.full(len(ids.texts) + 1, -1, dtype=np.int64)  # the last for what has no number
        row_of[listed] = np.arange(len(listed))
        is_strange = (row_of[numbers] < 0) & (numbers >= 0)
        faults.add(is_strange, lambda _: "an id in arms is not in the catalogue: add it there", rows)
        offered[places] = row_of[numbers]
    coded = np.full(places.shape, -1, dtype=np.int64)
    coded[places] = numbers
    return Candidates(arms, offered, _choices(table, roles, ids, coded, faults))


def of_catalogue(table: Table, roles: Roles, catalogue: Table, faults: Faults) -> Candidates:
    """Return the candidates of decisions at which all of a catalogue was on offer."""
    arms, ids = Columns(catalogue.column, catalogue.names), Ids()
    listed = _listed(arms, roles["id"], catalogue, ids)
    offered = np.tile(np.arange(len(listed)), (table.rows, 1))
    coded = np.broadcast_to(listed, (table.rows, len(listed)))
    return Candidates(arms, offered, _choices(table, roles, ids, coded, faults))


def in_rows(table: Table, roles: Roles, faults: Faults) -> tuple[Candidates, Ints]:
    """Return candidates that stand in rows of their own, and the row of each decision that was chosen."""
    decision = Ids().of(table.column(roles["decision"]), faults, "decision")
    is_chosen = _marks(table.column(roles["chosen"]), faults)
    faults.refuse(table.source)
    _, first, group = np.unique(decision, return_index=True, return_inverse=True)
    count = np.bincount(group, weights=is_chosen, minlength=len(first))
    faults.add(count > 1, lambda _: "two or more rows of its decision are chosen: leave one", first + 1)
    faults.add(count == 0, lambda _: "no row of its decision is chosen: mark one, or leave the decision out", first + 1)
    faults.refuse(table.source)
    order = np.argsort(group, kind="stable")
    counts = np.bincount(group)
    most = int(counts.max(initial=0))
    places = np.arange(most) < counts[:, np.newaxis]
    offered = np.full((len(first), most), -1, dtype=np.int64)
    offered[places] = order
    rows = np.flatnonzero(is_chosen)
    rows = rows[np.argsort(group[rows], kind="stable")]
    choice = np.argmax(offered == rows[:, np.newaxis], axis=1)
    return Candidates(Columns(table.column, roles.others), offered, choice), rows


def _marks(column: Column, faults: Faults) -> Bools:
    """Return where a column says yes."""
    different = column.as_values()
    meaning = {"1": 1, "true": 1, "0": 0, "false": 0}
    found = [meaning.get(str(text).lower(), -1) for text in texts_in(different.values)]
    marks = np.array([*found, -1])[different.places]
    faults.add(marks < 0, lambda _: "chosen is neither true nor false: give one of them, or 1 and 0")
    return np.asarray(marks == 1)


def _listed(arms: Mapping[str, Column], name: str, catalogue: Table, ids: Ids) -> Ints:
    """Return the ids of a catalogue."""
    if name not in arms:
        raise InvalidInput(f"{catalogue.source} has no column {name!r} (it has {', '.join(arms)}): add ids")
    faults = Faults()
    listed = ids.of(arms[name], faults, name)
    _, first = np.unique(listed, return_index=True)
    is_again = np.ones(len(listed), dtype=np.bool_)
    is_again[first] = False
    faults.add(is_again, lambda _: f"{name} is the id of an earlier row: give each arm an id of its own")
    faults.refuse(catalogue.source)
    return listed


def _choices(table: Table, roles: Roles, ids: Ids, coded: Ints, faults: Faults) -> Ints:
    """Return the places of the choices among the ids of each row; ids that are on offer twice are a fault."""
    choice = ids.of(table.column(roles["choice"]), faults, "choice")
    is_chosen = coded == choice[:, np.newaxis]
    faults.add(
        ~is_chosen.any(axis=1) & (choice >= 0),
        lambda place: f"choice is not among the {int((coded[place] >= 0).sum())} arms on offer: add it to them",
    )
    ordered = np.sort(coded, axis=1)
    is_twice = ((ordered[:, 1:] == ordered[:, :-1]) & (ordered[:, 1:] >= 0)).any(axis=1)
    faults.add(is_twice, lambda _: "an id is twice in arms: give each arm an id of its own")
    return np.asarray(np.argmax(is_chosen, axis=1))
