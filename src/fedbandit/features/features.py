"""Features: what is known of a case and of each candidate becomes vectors, by a declaration that all sites share."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from pathlib import Path
from threading import Lock
from typing import Any, TypeAlias

import numpy as np

from fedbandit.core.arrays import Floats, Ints
from fedbandit.core.errors import InvalidInput
from fedbandit.features.checks import shown
from fedbandit.features.coding import MOST_KEPT, Blocks, Coder
from fedbandit.features.columns import Column, Offers
from fedbandit.features.declaration import read_declaration
from fedbandit.features.layout import Layout
from fedbandit.features.writing import as_json, as_toml
from fedbandit.files.toml import read_toml
from fedbandit.kernels.features.encoding import CLIPPED, MISSING, UNKNOWN, encode_at_once

Values: TypeAlias = Mapping[str, Any]  # what is known, by the names of features

log = logging.getLogger("fedbandit.features")

_AT_A_TIME = 1 << 14  # turns of a log whose texts are kept at once
_NO_CONTEXT: dict[str, Any] = {}
_NO_ARMS: tuple[dict[str, Any], ...] = ({},)  # that have features of their own


class Features:
    """Declared features. Nothing is fitted: the vector of a row depends on the row alone, so all sites agree.

    >>> features = Features({
    ...     "context": {"segment": {"kind": "category", "levels": ["new", "gold"]}},
    ...     "arm": {"price": {"kind": "number", "range": [0, 500]}},
    ...     "cross": {"taste": {"of": ["segment", "price"]}},
    ... })
    >>> features.names
    ['1', 'price', 'segment=new*price', 'segment=gold*price', 'segment=?*price']
    >>> features.encode({"segment": "gold"}, [{"price": 100}, {"price": 500}]).round(3)
    array([[ 0.577, -0.346,  0.   , -0.346,  0.   ],
           [ 0.577,  0.577,  0.   ,  0.577,  0.   ]])
    """

    def __init__(self, tables: Mapping[str, Any]) -> None:
        """Take the tables of a file of features: `context`, `arm`, `cross` and `features`."""
        self.declaration = read_declaration(tables)
        layout = Layout(self.declaration)
        self.dimension = layout.dimension
        self.global_dimension = layout.global_dimension  # without the personal coordinates, which come last
        self.names = layout.names
        self.blocks = layout.blocks_of_names  # the feature or cross of each coordinate; "" of the constant
        self.shares_context = self.declaration.shares_context  # arms have no features of their own: one vector for all
        self.fingerprint = self.declaration.fingerprint
        self._is_unit = self.declaration.length == "unit"
        self._plan = layout.plan()
        self._scratch = np.zeros(layout.coordinates + len(self._plan.folded))
        self._each = np.arange(64)[np.newaxis]  # the rows of arms that are all on offer
        self._lock = Lock()
        self._forget()
        self._order = [*self._context.order, *self._arm.order]
        self._counts = np.zeros((len(self._order), 3), dtype=np.int64)
        self._new = np.zeros_like(self._counts)  # of the last call
        for name in self.declaration.left_out:
            log.warning(
                "%s is checked and left out, since by itself it adds the same to every arm: cross it with a feature of "
                "the arms, or name it in main",
                name,
            )

    @classmethod
    def read(cls, path: str | Path) -> Features:
        """Read a file of features (TOML)."""
        tables = read_toml(Path(path))
        try:
            return cls(tables)
        except InvalidInput as error:
            raise InvalidInput(f"{path}: {error}") from None

    def write(self, path: str | Path) -> None:
        """Write the declaration to a file, with every default written out."""
        Path(path).write_text(self.toml, encoding="utf-8")

    @property
    def toml(self) -> str:
        """Return the declaration as the text of a TOML file."""
        return as_toml(self.declaration)

    @property
    def json(self) -> str:
        """Return the declaration as JSON, by which a reader in another language makes the same vectors."""
        return as_json(self.declaration)

    @property
    def arm_names(self) -> tuple[str, ...] | None:
        """Return the names of arms that share one context, where they are declared."""
        return self.declaration.arms

    @property
    def unknown(self) -> dict[str, dict[str, int]]:
        """Return for each feature how many values were clipped to its range, unknown, and missing.

        Features that had none of these are left out.
        """
        return {
            name: {"clipped": int(each[CLIPPED]), "unknown": int(each[UNKNOWN]), "missing": int(each[MISSING])}
            for name, each in zip(self._order, self._counts, strict=True)
            if each.any()
        }

    def encode(self, context: Values | None = None, arms: Sequence[Values] | None = None) -> Floats:
        """Return the vectors (K, d) of arms in a context, or the one (d,) that arms without features share."""
        if (arms is None) != self.shares_context:
            raise _misfit(self.shares_context)
        rows = _NO_ARMS if arms is None else arms
        if not isinstance(rows, list | tuple) or not rows:
            raise InvalidInput(f"arms must be a list of at least one table, not {shown(arms)}: give one for each arm")
        count = len(rows)
        with self._lock:
            if self._blocks.used > MOST_KEPT:
                self._forget()
            contexts = self._context.rows((_NO_CONTEXT if context is None else context,), "context")
            coded = self._arm.rows(rows, "arms[{}]")
            out = np.empty((1, count, self.dimension))
            if self._each.shape[1] < count:
                self._each = np.arange(2 * count)[np.newaxis]
            turn, place, feature = self._fill(contexts, coded, self._each[:, :count], out)
            if turn >= 0:
                name = (self._context if place < 0 else self._arm).order[feature]
                given = (context or {}) if place < 0 else rows[place]
                raise _refused(f"arms[{place}]" if place >= 0 else "context", name, given.get(name))
        vectors: Floats = out[0, 0] if arms is None else out[0]
        return vectors

    def encode_log(self, log: Offers) -> Floats:
        """Return the vectors (T, K, d) of all that a log offered, or the contexts (T, d) that arms share."""
        out = np.empty((len(log.row), 1 if self.shares_context else log.offered.shape[1], self.dimension))
        for first in range(0, len(out), _AT_A_TIME):
            turns = np.arange(first, min(first + _AT_A_TIME, len(out)))
            self._encode_some(log, turns, out[first : first + _AT_A_TIME])
        return out[:, 0] if self.shares_context else out

    def _encode_some(self, log: Offers, turns: Ints, out: Floats) -> None:
        offered = np.zeros((len(turns), 1), dtype=np.int64) if self.shares_context else log.offered[turns]
        arms, inverse = np.unique(offered, return_inverse=True)
        arms, shift = (arms[1:], 1) if arms[0] < 0 else (arms, 0)
        offered = np.ascontiguousarray(inverse.reshape(offered.shape) - shift)

        def arm_row(row: int) -> int:
            return int(log.row[turns[np.argmax((offered == row).any(axis=1))]])

        with self._lock:
            if self._blocks.used > MOST_KEPT:
                self._forget()
            contexts = _coded(self._context, log.context, turns, lambda row: int(log.row[turns[row]]))
            coded = _coded(self._arm, log.arms, arms, arm_row)
            turn, place, feature = self._fill(contexts, coded, offered, out)
            if turn < 0:
                return
        name = (self._context if place < 0 else self._arm).order[feature]
        column, row = (log.context, turns[turn]) if place < 0 else (log.arms, arms[offered[turn, place]])
        raise _refused(f"row {log.row[turns[turn]]}", name, _value(column.get(name), int(row)))

    def _fill(self, contexts: Floats, coded: Floats, offered: Ints, out: Floats) -> tuple[int, int, int]:
        found = encode_at_once(
            self._plan, self._is_unit, self._blocks.table, contexts, coded, offered, self._scratch, out, self._new
        )
        if found[0] < 0:
            self._counts += self._new
        return found

    def _forget(self) -> None:
        """Begin anew to keep the blocks of texts."""
        self._blocks = Blocks()
        self._context = Coder(self.declaration.context, self._blocks)
        self._arm = Coder(self.declaration.arm, self._blocks)


def _coded(coder: Coder, columns: Mapping[str, Column], rows: Ints, row_of: Any) -> Floats:
    coded = np.full((len(rows), len(coder.order)), np.nan)
    for place, name in enumerate(coder.order):
        if name in columns:
            coded[:, place] = coder.column(name, columns[name].take(rows), lambda row: f"row {row_of(row)}")
    return coded


def _value(column: Column | None, row: int) -> Any:
    if column is None:
        return None
    one = column.take(np.array([row])).as_values()
    return one.values[one.places[0]] if one.places[0] >= 0 else None


def _misfit(shares_context: bool) -> InvalidInput:
    if shares_context:
        return InvalidInput("arms were given, but these features have no [arm]: leave arms out, or declare them")
    return InvalidInput("arms were not given, but these features have an [arm]: give a list with a table for each arm")


def _refused(place: str, name: str, value: Any) -> InvalidInput:
    if value is None or value != value:  # NaN
        return InvalidInput(f"{place}: {name} is missing: give it, or declare what is to stand for it")
    if isinstance(value, float) and np.isinf(value):
        return InvalidInput(f"{place}: {name} is {value}: give a finite number")
    return InvalidInput(f"{place}: {name} is {shown(value)}, which is none of its levels: add it, or allow others")
