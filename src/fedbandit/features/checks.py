"""Checks of what a declaration says, each with its one sentence."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from fedbandit.core.errors import InvalidInput, unknown

MOST_SHOWN = 60  # characters of a value in an error


def shown(value: Any) -> str:
    """Return a value as an error shows it.

    >>> shown("x" * 100)[-6:]
    'xxx...'
    """
    text = repr(value)
    return text if len(text) <= MOST_SHOWN else f"{text[:MOST_SHOWN]}..."


def only(where: str, table: Mapping[str, Any], known: Iterable[str]) -> None:
    """Refuse a table that has a key which means nothing."""
    known = set(known)
    for key in table:
        if key not in known:
            raise unknown(f"key of {where}", str(key), known)


def is_number(value: Any) -> bool:
    """Tell whether a value is a finite number.

    >>> is_number(3), is_number(True), is_number(math.inf)
    (True, False, False)
    """
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)


def one_of(where: str, table: Mapping[str, Any], key: str, choices: Sequence[str]) -> str:
    """Return what a table says of a key, by default the first choice."""
    value = table.get(key, choices[0])
    if value not in choices:
        raise InvalidInput(f"{where}.{key} must be {' or '.join(choices)}, not {shown(value)}: give one of them")
    return str(value)


def checked_weight(where: str, table: Mapping[str, Any]) -> float:
    """Return the weight of a block, by default 1."""
    weight = table.get("weight", 1)
    if not is_number(weight) or not 1e-6 <= weight <= 1e6:
        raise InvalidInput(f"{where}.weight must be from 1e-6 to 1e6, not {shown(weight)}: 1 is the usual weight")
    return float(weight)


def checked_size(what: str, value: Any) -> int:
    """Return a number of coordinates."""
    if isinstance(value, bool) or not isinstance(value, int) or not 1 <= value <= 2**20:
        raise InvalidInput(f"{what} must be a whole number from 1 to {2**20}, not {shown(value)}: 16 is a usual size")
    return value


def names_in(what: str, value: Any, known: Iterable[str], kind: str) -> tuple[str, ...]:
    """Return a list of different names, all of them known."""
    if not isinstance(value, list | tuple) or not all(isinstance(each, str) for each in value):
        raise InvalidInput(f"{what} must be a list of names, not {shown(value)}: give one")
    known = list(known)
    for place, each in enumerate(value):
        if each not in known:
            raise unknown(f"{kind} in {what}", each, known)
        if each in value[:place]:
            raise InvalidInput(f"{what} names {each!r} twice: leave one out")
    return tuple(value)
