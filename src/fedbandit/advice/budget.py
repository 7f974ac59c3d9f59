"""How many bytes a day a federation may take, as people write it."""

from __future__ import annotations

import re

from fedbandit.core.errors import InvalidInput
from fedbandit.files.amounts import SIZES

DAYS = {"hour": 1 / 24, "day": 1.0, "week": 7.0}
_FORM = re.compile(r"\s*(\d+(?:\.\d*)?|\.\d+)\s*([kMG]?)B\s*/\s*(hour|day|week)\s*")


def bytes_a_day(text: str | float) -> float:
    """Return a budget in bytes a day; k, M and G are powers of 1000.

    >>> bytes_a_day("10 MB/day"), bytes_a_day("7kB/week"), bytes_a_day(5e6)
    (10000000.0, 1000.0, 5000000.0)
    """
    if isinstance(text, int | float) and not isinstance(text, bool):
        found = float(text)
    else:
        form = _FORM.fullmatch(text) if isinstance(text, str) else None
        if form is None:
            raise InvalidInput(
                f"budget {text!r} cannot be read: write a number with B, kB, MB or GB an hour, day or week, as in "
                "'10 MB/day'"
            )
        found = float(form[1]) * SIZES[form[2]] / DAYS[form[3]]
    if not 0 < found < float("inf"):
        raise InvalidInput(f"budget {text!r} is not greater than 0: give what may be sent, as in '10 MB/day'")
    return found
