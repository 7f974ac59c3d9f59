"""Times of a log: ISO 8601 or seconds, as seconds since 1970."""

from __future__ import annotations

from datetime import UTC, date, datetime, time
from typing import Any

import numpy as np

from fedbandit.core.arrays import Bools, Floats
from fedbandit.features.columns import Column


def seconds_of(column: Column) -> tuple[Floats, Bools]:
    """Return the times of a column, and where there is none that can be read; without a zone it is UTC.

    >>> seconds_of(Column.of(["1970-01-02", "1970-01-01T00:00:01Z", "soon"]))
    (array([8.64e+04, 1.00e+00,      nan]), array([False, False,  True]))
    """
    if column.numbers is not None:
        return column.numbers, ~np.isfinite(column.numbers)
    known = np.array([*(_seconds(value) for value in column.values), np.nan])
    found = known[column.places]
    return found, np.isnan(found)


def _seconds(value: Any) -> float:
    try:
        if isinstance(value, date) and not isinstance(value, datetime):
            value = datetime.combine(value, time())
        found = value if isinstance(value, datetime) else datetime.fromisoformat(value)
        return (found if found.tzinfo else found.replace(tzinfo=UTC)).timestamp()
    except (TypeError, ValueError, OverflowError):
        return np.nan
