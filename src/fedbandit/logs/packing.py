"""The decision logs of sites in one Parquet file, which `fb.Log` reads as it reads their folders."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from fedbandit.core.errors import InvalidInput
from fedbandit.features.values import text_of
from fedbandit.logs.arrow_table import PACKED, pyarrow
from fedbandit.logs.site_table import SiteTable


def pack(folders: list[Path], path: Path) -> SiteTable:
    """Write the logs of one site or of several to a Parquet file; return what was written."""
    arrow, parquet = pyarrow(), pyarrow("pyarrow.parquet")
    table = SiteTable.read(*folders)
    own = table.roles.get("id")
    columns = {}
    for name, values in table.values.items():
        if name == table.roles["choice"]:
            values = [text_of(each) for each in values]
        elif name == table.roles["arms"]:
            values = [[_with_text(arm, own) for arm in row] for row in values]
        try:
            columns[name] = arrow.array(values)
        except (arrow.ArrowException, TypeError, ValueError) as error:
            raise InvalidInput(
                f"{table.source}: {name} has values of several kinds ({str(error)[:80]}): give it one kind of value "
                "where decisions are made"
            ) from None
    said = {PACKED: json.dumps({"roles": table.roles, "hidden": table.hidden})}
    try:
        parquet.write_table(arrow.table(columns).replace_schema_metadata(said), path)
    except OSError as error:
        raise InvalidInput(f"cannot write {path}: {error.strerror or error}: give another path") from None
    return table


def _with_text(arm: Any, own: str | None) -> Any:
    """Return an arm with its id as a text, so that ids of any kind stand in one column."""
    if isinstance(arm, Mapping) and own is not None:
        return {**arm, own: text_of(arm[own])}
    return text_of(arm)
