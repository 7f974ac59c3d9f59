"""A declaration as the text of a file: TOML for people, JSON for readers in other languages."""

from __future__ import annotations

import json
from typing import Any

from fedbandit.features.canonical import canonical
from fedbandit.features.declaration import LARGEST, Declaration
from fedbandit.features.layout import Layout


def as_toml(declared: Declaration) -> str:
    """Return the four tables, each feature on a line of its own, with every default written out."""
    tables = declared.tables
    if declared.largest != LARGEST:
        tables["features"]["largest"] = declared.largest
    lines = []
    for part, table in tables.items():
        if table:
            lines += [f"[{part}]", *(feature_line(name, value) for name, value in table.items()), ""]
    return "\n".join(lines)


def as_json(declared: Declaration) -> str:
    """Return the declaration with its fingerprint and what vectors are divided by, a root whose last bit may differ."""
    told = {"declaration": declared.ordered, "divisor": Layout(declared).divisor, "fingerprint": declared.fingerprint}
    return canonical(told) + "\n"


def feature_line(name: str, value: Any) -> str:
    """Return a line of a table.

    >>> feature_line("hour", {"kind": "bins", "edges": [6, 12, 18]})
    'hour = { kind = "bins", edges = [6, 12, 18] }'
    """
    return f"{_key(name)} = {_value(value)}"


def _key(name: str) -> str:
    return f'"{name}"' if "." in name else name


def _value(value: Any) -> str:
    """Return a value as TOML writes it.

    >>> _value({"kind": "number", "range": [0, 0.5], "weight": 2.0})
    '{ kind = "number", range = [0, 0.5], weight = 2.0 }'
    """
    if isinstance(value, dict):
        return "{ " + ", ".join(f"{_key(name)} = {_value(each)}" for name, each in value.items()) + " }"
    if isinstance(value, list | tuple):
        return "[" + ", ".join(map(_value, value)) + "]"
    if isinstance(value, str):
        return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
    return json.dumps(value) if isinstance(value, bool) else repr(value)
