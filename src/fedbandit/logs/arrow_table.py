"""Tables in Parquet, and data frames, by pyarrow."""

from __future__ import annotations

import json
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np

from fedbandit.core.errors import InvalidInput
from fedbandit.features.checks import shown
from fedbandit.features.columns import Column
from fedbandit.logs.table import Lists, Numbers, lists_of_texts

PACKED = "fedbandit.log"  # what a packed log of decisions says of its columns
_EXACT = 2**53  # whole numbers beyond it are no floats


def pyarrow(module: str = "pyarrow") -> ModuleType:
    """Return pyarrow or one of its modules, or say how to install it."""
    try:
        return import_module(module)
    except ModuleNotFoundError:
        raise InvalidInput(
            "pyarrow is not installed, which Parquet and data frames need: pip install pyarrow, or install fedbandit "
            "with its extra logs, or give CSV"
        ) from None


class ArrowTable:
    """The columns of an Arrow table."""

    def __init__(self, source: str, table: Any) -> None:
        """Take a table of pyarrow."""
        self.source = source
        said = json.loads((table.schema.metadata or {}).get(PACKED.encode(), b"{}"))
        self.roles: dict[str, str] = said.get("roles", {})
        self._hidden: list[str] = said.get("hidden", [])
        self.names: list[str] = [name for name in table.column_names if name not in self._hidden]
        self.rows: int = table.num_rows
        self._table = table
        for name in self.names:
            if self.names.count(name) > 1:
                raise InvalidInput(f"{source}: the column {name!r} is there twice: give one of them another name")

    @classmethod
    def read(cls, path: Path) -> ArrowTable:
        """Read a Parquet file."""
        parquet, arrow = pyarrow("pyarrow.parquet"), pyarrow()
        try:
            return cls(str(path), parquet.ParquetFile(path).read())
        except OSError as error:
            raise InvalidInput(
                f"cannot read {path} as Parquet ({' '.join(str(error).split())[:100]}): give the path of a log"
            ) from None
        except arrow.ArrowException as error:
            raise InvalidInput(
                f"{path} is not a Parquet file ({' '.join(str(error).split())[:100]}): write it again, or give CSV"
            ) from None

    @classmethod
    def of(cls, frame: Any) -> ArrowTable:
        """Take a data frame that speaks Arrow."""
        return cls("the log", pyarrow().table(frame))

    def vectors(self) -> list[Any] | None:
        """Return the vectors of the arms of each row, where a site logged them."""
        own = next((name for name in self._hidden if name.endswith("vectors")), None)
        return None if own is None else list(self._table.column(own).to_pylist())

    def explored(self) -> float | None:
        """Return the least share of uniform choices, where a site wrote the log."""
        own = next((name for name in self._hidden if name.endswith("explore")), None)
        if own is None:
            return None
        return min((float(each) for each in self._table.column(own).to_pylist() if each is not None), default=0.0)

    def column(self, name: str) -> Column:
        """Return a column of values."""
        return column_of(self._one(name))

    def numbers(self, name: str) -> Numbers:
        """Return a column as numbers."""
        found, types, compute = self._one(name), pyarrow("pyarrow.types"), pyarrow("pyarrow.compute")
        kind = found.type
        if types.is_null(kind):
            return Numbers(np.full(len(found), np.nan), np.ones(len(found), dtype=np.bool_))
        if not (types.is_integer(kind) or types.is_floating(kind) or types.is_boolean(kind) or types.is_decimal(kind)):
            row = int(np.argmax(np.asarray(compute.is_valid(found)))) if len(found) else 0
            value = found[row].as_py() if len(found) else None
            raise InvalidInput(f"{self.source}: row {row + 1}: {name} is {shown(value)}: give a number, or nothing")
        return Numbers(_floats(found), np.array(found.is_null().to_numpy(zero_copy_only=False), dtype=np.bool_))

    def lists(self, name: str) -> Lists:
        """Return a column of lists of values or of structs, or of lists that are written as JSON."""
        found, types, compute = self._one(name), pyarrow("pyarrow.types"), pyarrow("pyarrow.compute")
        kind = found.type
        if types.is_string(kind) or types.is_large_string(kind) or types.is_dictionary(kind):
            return lists_of_texts(column_of(found), name, self.source)
        if not (types.is_list(kind) or types.is_large_list(kind) or types.is_fixed_size_list(kind)):
            value = found[0].as_py() if len(found) else None
            raise InvalidInput(
                f"{self.source}: row 1: {name} is {shown(value)}: give a list of ids, of structs, or JSON text"
            )
        counts = compute.fill_null(compute.list_value_length(found), 0)
        items = compute.list_flatten(found)
        sizes = np.asarray(counts.to_numpy(zero_copy_only=False), dtype=np.int64)
        if not types.is_struct(items.type):
            return Lists(sizes, column_of(items), {})
        fields = [items.type.field(place).name for place in range(items.type.num_fields)]
        values = items.flatten()
        return Lists(sizes, None, {each: column_of(part) for each, part in zip(fields, values, strict=True)})

    def _one(self, name: str) -> Any:
        """Return a column in one piece."""
        found = self._table.column(name).combine_chunks()
        return found.combine_chunks() if hasattr(found, "chunks") else found


def column_of(values: Any) -> Column:
    """Return an Arrow array as a column."""
    types, compute = pyarrow("pyarrow.types"), pyarrow("pyarrow.compute")
    kind = values.type
    if types.is_floating(kind) or types.is_decimal(kind):
        return Column(_floats(values))
    if types.is_integer(kind):
        ends = compute.min_max(values).as_py()
        if ends["min"] is None or max(-ends["min"], ends["max"]) <= _EXACT:
            return Column(_floats(values))
    if types.is_nested(kind) or types.is_binary(kind) or types.is_temporal(kind):
        return Column.of(values.to_pylist())
    coded = values if types.is_dictionary(kind) else values.dictionary_encode()
    places = coded.indices.fill_null(-1).cast("int64").to_numpy(zero_copy_only=False)
    return Column(None, coded.dictionary.to_pylist(), np.array(places, dtype=np.int64))


def _floats(values: Any) -> Any:
    """Return numbers as floats, NaN where there is none."""
    return np.array(values.cast("float64").to_numpy(zero_copy_only=False), dtype=np.float64)
